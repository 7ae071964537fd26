//! Why a call does not run, in words for the model.

use rulestep_base::session::refusal;
use rulestep_base::wording::{Sentence, line};
use rulestep_engine::monitor::{Effect, Explanation};
use rulestep_engine::run::Verdict;

/// The message to the model: fixed first words, by which the agent's log shows a denial or (if the agent `asks`) a question, then the
/// rule's reason.
pub fn reason(verdict: Verdict, findings: &[Explanation], asks: bool) -> String {
    let begins = if verdict == Verdict::Ask && asks { refusal::ASKED } else { refusal::STOPPED };
    format!("{begins}{}", why(verdict, findings))
}

/// The rule's `tell` alone, else its description, finding and way out, with the rule's place. A doubt has its own
/// sentence. Patterns are left out: a model takes one for an instruction to match it.
fn why(verdict: Verdict, findings: &[Explanation]) -> String {
    let Some(deciding) = findings.first() else {
        return match verdict {
            Verdict::NotReached => "An earlier call ended this session, so no further call runs.".to_owned(),
            _ => "The policy does not allow this call.".to_owned(),
        };
    };
    let place = || line(&deciding.rule.place());
    let halts = if verdict == Verdict::Halt { " This ends the session." } else { "" };
    // A description of the rule's purpose may be false for a line whose effects are unknown.
    if let Some(doubt) = &deciding.doubt {
        return format!("{}{halts} ({})", line(doubt), place());
    }
    let wanted = deciding.rule.options.tell.as_deref().filter(|tell| !tell.trim().is_empty());
    let own = wanted.or(deciding.rule.description.as_deref()).or(deciding.tell_llm.as_deref());
    let plain = |said: &Sentence| match said.has_pattern() {
        true if own.is_some() => None,
        true => Some(sentence(&said.to_string())),
        false => Some(sentence(&said.whole())),
    };
    let headline = plain(&deciding.headline).filter(|_| wanted.or(deciding.tell_llm.as_deref()).is_none());
    // The other rules stop the call as well, so meeting the first alone does not let it run.
    let speaks = |effect| effect >= Effect::Ask || effect == Effect::Also;
    let stops = |other: &&Explanation| speaks(other.effect) && other.rule.options.is_enforced();
    let stopping = findings.iter().take(1).chain(findings.iter().skip(1).filter(stops));
    let mut ways: Vec<String> = Vec::new();
    for way in stopping.filter(|_| wanted.is_none()).filter_map(|finding| plain(finding.way_out.as_ref()?)) {
        if !ways.contains(&way) && ways.len() < MOST_WAYS {
            ways.push(way);
        }
    }
    let way_out = (!ways.is_empty()).then(|| format!("Way out: {}", ways.join(" Also: ")));
    // The finding is a clause, and continues the author's words.
    let goes_on = headline.is_some() && own.is_some_and(|own| !own.trim_end().ends_with(ENDS));
    let own = own.map(|own| if goes_on { format!("{}:", own.trim()) } else { sentence(own) });
    let parts: Vec<String> = own.into_iter().chain(headline).chain(way_out).collect();
    format!("{}{halts} ({})", line(&parts.join(" ")), place())
}

/// Ways out in one message to the model.
const MOST_WAYS: usize = 3;

/// The characters that end a sentence.
const ENDS: [char; 4] = ['.', '!', '?', ':'];

/// With a full stop at its end.
fn sentence(text: &str) -> String {
    let text = text.trim();
    let end = if text.ends_with(ENDS) { "" } else { "." };
    format!("{text}{end}")
}
