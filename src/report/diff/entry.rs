//! One change in words, without any output's own signs. Text from a recording is safe for a terminal here.

use similar::ChangeTag;

use crate::compare::{
    Answer, Base, Change, ChangePlace, Comparison, Kind, Origin, RuleAt, SessionDiff, Side, Stand,
};
use crate::report::ci::Spot;
use crate::report::words;
use rulestep_base::diagnostic::Code;
use rulestep_base::session::live::LiveFinding;
use rulestep_base::session::{AlternativeRef, Call, CallRef, LiveDecision, Outcome, Session};
use rulestep_engine::monitor::{Finding, Rule};
use rulestep_engine::run::{Decision, Mode, Verdict};

use super::View;

/// A change, or the same change of narrowing in consecutive turns.
pub struct Entry {
    /// The number of changes that it represents.
    pub changes: u64,
    /// The session's id.
    pub session: String,
    /// Its file.
    pub file: String,
    /// `turn 2 call 1`, `turns 1 to 3`, `at the end`.
    pub at: String,
    /// Where it is recorded.
    pub recording: Spot,
    /// The tool.
    pub tool: Option<String>,
    /// The call with its arguments, where it is one.
    pub call: Option<String>,
    /// The verdict of the base.
    pub base: VersionVerdict,
    /// The verdict of the new version.
    pub new: VersionVerdict,
    /// The recorded outcome of the call.
    pub became: Option<&'static str>,
    /// Whether the histories had parted.
    pub origin: Origin,
    /// Whether the recording is no evidence for it.
    pub counterfactual: bool,
    /// Whether the recording neither lists nor calls the tool.
    pub inferred: bool,
}

impl Entry {
    /// The call, else the tool.
    pub fn subject(&self) -> Option<&str> {
        self.call.as_deref().or(self.tool.as_deref())
    }
}

/// The verdict of one version.
pub struct VersionVerdict {
    /// `denied`, `visible`, `stopped`, `not in this version`.
    pub word: String,
    /// The deciding rule's code.
    pub code: Option<Code>,
    /// Why, in a sentence: for calls.
    pub why: Option<String>,
    /// The deciding rule's name and place, if it is not the one that the changes are grouped by.
    pub rule: Option<(String, String)>,
}

/// A line of a rule.
pub struct Line {
    /// `-` only in the base, `+` only in the new version, else a blank.
    pub sign: char,
    /// Its number: in the new version, for a removed line in the base.
    pub number: u32,
    /// Its text.
    pub text: String,
}

/// A rule that changes are about, in the version that it is of and in the other.
pub struct About<'a> {
    /// The rule, and its version.
    pub rule: (Side, &'a Rule),
    /// The same rule in the other version, if that has it.
    pub other: Option<&'a Rule>,
    /// Whether both say the same.
    pub same: bool,
    /// Whether the base is no version but the recording.
    pub recorded: bool,
}

/// The changes of a group in words, no more than `most` of each origin.
pub fn entries(changes: &[&Change], compared: &SessionDiff, view: &View<'_>, most: usize) -> Vec<Entry> {
    let mut entries = Vec::new();
    for origin in [Origin::Primary, Origin::Downstream] {
        let changes: Vec<&Change> =
            changes.iter().copied().filter(|change| change.origin == origin).collect();
        let runs = runs(changes);
        entries.extend(runs.into_iter().take(most).filter_map(|run| entry(&run, compared, view)));
    }
    entries
}

/// The kind as people say it.
pub fn title(kind: Kind) -> &'static str {
    match kind {
        Kind::NewlyAllowed => "newly allowed",
        Kind::NoLongerAsked => "no longer asked",
        Kind::RuleRemoved => "rule removed",
        Kind::RuleWeakened => "rule weakened",
        Kind::RuleEdited => "rule edited",
        Kind::NewlyBlocked => "newly blocked",
        Kind::NewlyAsked => "newly asked",
        Kind::Harder => "harder (halt, not deny; or deny, not ask)",
        Kind::Softer => "softer (deny, not halt; or ask, not deny)",
        Kind::OtherReason => "other reason",
        Kind::NowReached => "now reached",
        Kind::NowUnreached => "no longer reached",
        Kind::NewlyVisible => "newly visible",
        Kind::NewlyHidden => "newly hidden",
        Kind::OutcomeChanged => "outcome changed",
        Kind::RuleTightened => "rule tightened",
        Kind::RuleAdded => "rule added",
        Kind::NewlyReported => "newly reported",
        Kind::NoLongerReported => "no longer reported",
    }
}

/// The same after a number: `newly allowed`, `weakened`.
pub fn adjective(kind: Kind) -> &'static str {
    if kind == Kind::OtherReason {
        return "stopped for another reason";
    }
    let title = title(kind).split(" (").next().unwrap_or_default();
    title.strip_prefix(noun(kind)).map_or(title, str::trim_start)
}

/// `2 calls newly allowed`.
pub fn counted(kind: Kind, count: u64) -> String {
    format!("{} {}", words::count(count, noun(kind)), adjective(kind))
}

/// The noun that a kind counts: tools are counted once a turn.
pub fn noun(kind: Kind) -> &'static str {
    match kind {
        Kind::NewlyVisible | Kind::NewlyHidden => "time",
        Kind::OutcomeChanged => "outcome",
        Kind::NewlyReported | Kind::NoLongerReported => "report",
        kind if kind.is_of_rules() => "rule",
        _ => "call",
    }
}

/// `2 primary, 1 downstream (1 counterfactual)`.
pub fn origins(count: crate::compare::Count) -> String {
    let parts = [(count.primary, "primary"), (count.downstream, "downstream")].into_iter();
    let parts = parts.filter(|(number, _)| *number > 0);
    let parts: Vec<String> =
        parts.map(|(number, word)| format!("{} {word}", words::thousands(number))).collect();
    match count.counterfactual {
        0 => parts.join(", "),
        beyond => format!("{} ({} counterfactual)", parts.join(", "), words::thousands(beyond)),
    }
}

/// Changes that are counted separately; `None` if there are none.
pub fn inferred(count: crate::compare::Count) -> Option<String> {
    let times = words::count(count.inferred, "time");
    (count.inferred > 0)
        .then(|| format!("{times} for tools that the recording neither lists nor calls (inferred)"))
}

/// Why a session is not compared.
pub const UNDECIDED: &str = "no gate decided a call of this session";

/// Calls without a decision in the base; `None` if there are none.
pub fn uncompared(calls: u64) -> Option<String> {
    (calls > 0).then(|| format!("not compared: {} that no gate decided", words::count(calls, "call")))
}

/// The heading of changes about no rule of a version.
pub fn without_rule(view: &View<'_>) -> &'static str {
    match view.comparison.base() {
        Base::Live => "by rules that decided live",
        _ => "refused in the recording",
    }
}

/// Details of a group's rule.
pub fn about(rule: RuleAt, comparison: &Comparison) -> Option<About<'_>> {
    let get = |side: Side, id| comparison.side(side)?.rules().get(id);
    let pairs = comparison.rules();
    let (other, edited) = match rule.side {
        Side::Base => (pairs.in_new(rule.rule), pairs.is_edited(rule.rule)),
        Side::New => {
            let other = pairs.in_base(rule.rule);
            (other, other.is_some_and(|base| pairs.is_edited(base)))
        }
    };
    Some(About {
        rule: (rule.side, get(rule.side, rule.rule)?),
        other: other.and_then(|other| get(rule.side.other(), other)),
        same: !edited,
        recorded: comparison.side(Side::Base).is_none(),
    })
}

impl About<'_> {
    /// A remark on the rule besides its place.
    pub fn fate(&self) -> Option<&'static str> {
        match (self.rule.0, self.other) {
            (Side::Base, None) => Some("not in the new version"),
            (Side::New, None) => Some("not in the base").filter(|_| !self.recorded),
            _ if self.same => None,
            _ => Some("edited"),
        }
    }

    /// The rule's lines, a few; where it was edited, those of both versions. And whether there are more.
    pub fn lines(&self) -> (Vec<Line>, bool) {
        let (side, rule) = self.rule;
        let (lines, cut) = words::lines(rule);
        let Some(other) = self.other.filter(|_| !self.same) else {
            let lines = lines.into_iter().map(|(number, text)| Line { sign: ' ', number, text });
            return (lines.collect(), cut);
        };
        let (others, cut_too) = words::lines(other);
        let (base, new) = if side == Side::Base { (lines, others) } else { (others, lines) };
        (compared(&base, &new), cut || cut_too)
    }
}

/// The lines of two texts: common lines once, and those that only one of them has.
pub fn compared(base: &[(u32, String)], new: &[(u32, String)]) -> Vec<Line> {
    let texts = |lines: &[(u32, String)]| lines.iter().map(|(_, text)| text.clone()).collect::<Vec<_>>();
    let (old, young) = (texts(base), texts(new));
    let changes = similar::capture_diff_slices(similar::Algorithm::Myers, &old, &young);
    let line = |change: similar::Change<String>| {
        let (sign, lines, place) = match change.tag() {
            ChangeTag::Delete => ('-', base, change.old_index()),
            ChangeTag::Insert => ('+', new, change.new_index()),
            ChangeTag::Equal => (' ', new, change.new_index()),
        };
        let (number, text) = lines.get(place?)?.clone();
        Some(Line { sign, number, text })
    };
    changes.iter().flat_map(|change| change.iter_changes(&old, &young)).filter_map(line).collect()
}

/// Narrowing that is the same in consecutive turns together; everything else alone.
fn runs(changes: Vec<&Change>) -> Vec<Vec<&Change>> {
    let mut runs: Vec<Vec<&Change>> = Vec::new();
    let mut sorted = changes;
    // In a group all are calls, all turns, or all at the end; only the turns have several tools each.
    sorted.sort_by_key(|change| match change.at {
        ChangePlace::Turn(turn) => (change.tool.clone(), turn),
        _ => (None, 0),
    });
    for change in sorted {
        let goes_on = |run: &Vec<&Change>| {
            run.last().is_some_and(|last| match (last.at, change.at) {
                (ChangePlace::Turn(before), ChangePlace::Turn(turn)) => {
                    turn == before + 1
                        && last.tool == change.tool
                        && last.counterfactual == change.counterfactual
                        && last.inferred == change.inferred
                }
                _ => false,
            })
        };
        match runs.last_mut().filter(|run| goes_on(run)) {
            Some(run) => run.push(change),
            None => runs.push(vec![change]),
        }
    }
    runs.sort_by_key(|run| run.first().map(|change| change.at));
    runs
}

fn entry(run: &[&Change], compared: &SessionDiff, view: &View<'_>) -> Option<Entry> {
    let (change, last) = (run.first()?, run.last()?);
    let session = compared.session();
    let at = match (change.at, last.at) {
        (ChangePlace::Call(call), _) => words::at(call, session),
        (ChangePlace::Alternative(call), _) => {
            format!("turn {} choice {} call {} (not chosen)", call.turn, call.choice, call.call)
        }
        (ChangePlace::Turn(first), ChangePlace::Turn(last)) if first < last => {
            format!("turns {first} to {last}")
        }
        (ChangePlace::Turn(turn), _) => format!("turn {turn}"),
        (ChangePlace::End, _) => "at the end".to_owned(),
    };
    let call = call_of(change, session);
    Some(Entry {
        changes: run.len() as u64,
        session: words::name(&session.id).into_owned(),
        file: words::name(&session.origin.file).into_owned(),
        at,
        recording: Spot::of_turn(session, change.at.turn()),
        tool: change.tool.as_deref().map(|tool| words::name(tool).into_owned()),
        call: call.map(words::call::call),
        base: said(change, Side::Base, compared, view),
        new: said(change, Side::New, compared, view),
        // With the recording as the base it is the base's word already.
        became: call
            .filter(|_| !matches!(view.comparison.base(), Base::Recorded))
            .map(|call| words::became(call.outcome)),
        origin: change.origin,
        counterfactual: change.counterfactual,
        inferred: change.inferred,
    })
}

fn said(change: &Change, side: Side, compared: &SessionDiff, view: &View<'_>) -> VersionVerdict {
    let stand = change.stand(side);
    if side == Side::Base
        && matches!(view.comparison.base(), Base::Live)
        && let Some(live) = call_of(change, compared.session()).and_then(|call| call.live.as_deref())
    {
        return decided_live(live, stand);
    }
    let recorded = view.comparison.side(side).is_none();
    let word = match stand.answer {
        Answer::Call(_) if recorded => recorded_word(change, compared.session()).to_owned(),
        Answer::Call(verdict) => words::decided(verdict, view.mode).to_owned(),
        Answer::Report { reported: true } => "reported".to_owned(),
        Answer::Report { reported: false } => words::decided(Verdict::Allow, view.mode).to_owned(),
        Answer::Rule(Some(outcome)) => words::ended(outcome).to_owned(),
        Answer::Rule(None) => "not in this version".to_owned(),
        Answer::RuleReported => "violated (not enforced)".to_owned(),
        Answer::Tool { .. } | Answer::Session(_) => stand.answer.word().unwrap_or_default().replace('_', " "),
    };
    let rule = stand.rule.and_then(|rule| view.comparison.side(side)?.rules().get(rule));
    let pairs = view.comparison.rules();
    let grouped = change.rule.is_some_and(|at| {
        let own = match (at.side, side) {
            (Side::Base, Side::New) => pairs.in_new(at.rule),
            (Side::New, Side::Base) => pairs.in_base(at.rule),
            _ => Some(at.rule),
        };
        own == stand.rule
    });
    VersionVerdict {
        word,
        code: stand.code,
        why: match change.at {
            ChangePlace::Alternative(at) => why_not_taken(at, stand, side, compared, view.comparison),
            at => at.call().and_then(|at| why(at, stand, side, compared, view.comparison)),
        },
        rule: rule.filter(|_| !grouped).map(|rule| (words::rule_name(rule), rule.place())),
    }
}

fn call_of<'s>(change: &Change, session: &'s Session) -> Option<&'s Call> {
    change.at.call().and_then(|at| session.calls.get(at.index as usize))
}

/// A gate's live decision, in the words that it wrote.
fn decided_live(live: &LiveDecision, stand: Stand) -> VersionVerdict {
    let mode = if live.shadow { Mode::Shadow } else { Mode::Enforce };
    let reported = matches!(stand.answer, Answer::Report { reported: true });
    let said = |finding: &LiveFinding<'_>| stand.code.is_some_and(|code| code.as_str() == finding.code);
    let finding = live.findings().find(said).filter(|_| live.verdict.objects() || reported);
    let place = |(file, line): (&str, u64)| format!("{}:{line}", words::name(file));
    VersionVerdict {
        word: if reported { "reported".to_owned() } else { words::decided(live.verdict, mode).to_owned() },
        code: stand.code,
        why: finding.and_then(|finding| finding.message).map(words::line),
        rule: finding
            .map(|finding| (words::line(finding.name), finding.place.map(place).unwrap_or_default())),
    }
}

/// The recorded outcome of a call, in a word.
fn recorded_word(change: &Change, session: &Session) -> &'static str {
    match call_of(change, session).map(|call| call.outcome) {
        Some(Outcome::Refused) => "refused",
        Some(Outcome::Error) => "ran and failed",
        Some(Outcome::Unknown) => "no result",
        Some(Outcome::Ok) | None => "ran",
    }
}

/// The same for a call of a choice that was not taken, worded within the session that takes it.
fn why_not_taken(
    at: AlternativeRef,
    stand: Stand,
    side: Side,
    compared: &SessionDiff,
    comparison: &Comparison,
) -> Option<String> {
    let (taken, call) = compared.replay(side)?.not_taken(at)?;
    let finding = meant(&taken.call(call.at.index)?.decision, stand)?;
    Some(finding.explain(comparison.side(side)?.rules(), taken.session())?.headline.to_string())
}

/// The finding that decides, or that a change of reports is about.
fn meant(decision: &Decision, stand: Stand) -> Option<&Finding> {
    match stand.answer {
        Answer::Report { .. } => decision.findings.iter().find(|finding| Some(finding.rule) == stand.rule),
        _ => decision.deciding(),
    }
}

/// The finding's sentence; after a halt, where that was.
fn why(
    at: CallRef,
    stand: Stand,
    side: Side,
    compared: &SessionDiff,
    comparison: &Comparison,
) -> Option<String> {
    let (replay, policy) = (compared.replay(side)?, comparison.side(side)?);
    let decision = &replay.call(at.index)?.decision;
    if let Some(finding) = meant(decision, stand) {
        return Some(finding.explain(policy.rules(), compared.session())?.headline.to_string());
    }
    let halt = replay.halt().filter(|_| decision.verdict == Verdict::NotReached)?;
    let tool = words::name(&halt.tool);
    Some(format!("the session ended with {tool} in {}", words::at(halt.at, compared.session())))
}
