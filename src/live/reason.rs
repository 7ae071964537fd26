//! Why a call does not run, in words for the model.

use crate::engine::Verdict;
use crate::monitor::Explanation;
use crate::wording::line;

/// Why a call does not run: the rule's own words, else what it found, and what would change it, with the rule's place.
pub fn reason(verdict: Verdict, findings: &[Explanation]) -> String {
    let Some(deciding) = findings.first() else {
        return match verdict {
            Verdict::NotReached => "An earlier call ended this session, so no further call runs.".to_owned(),
            _ => "The policy does not allow this call.".to_owned(),
        };
    };
    let headline = sentence(&deciding.headline.whole());
    let mut text = match (&deciding.tell_llm, &deciding.rule.description) {
        (Some(own), _) => sentence(own),
        (None, Some(description)) => format!("{} {headline}", sentence(description)),
        (None, None) => headline,
    };
    if let Some(way) = &deciding.way_out {
        text = format!("{text} Way out: {}", sentence(&way.whole()));
    }
    if verdict == Verdict::Halt {
        text.push_str(" This ends the session.");
    }
    format!("{} ({})", line(&text), line(&deciding.rule.place()))
}

/// With a full stop at its end.
fn sentence(text: &str) -> String {
    let text = text.trim();
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{text}{end}")
}
