//! A description of one decision for output outside the terminal: in words that are safe and of bounded length, without
//! markup. A page and a ticket only escape and arrange it.

use super::paint::Paint;
use super::text::trace;
use super::words::live::LiveWords;
use super::words::{self, ByTool, Sentence};
use rulestep_base::diagnostic::Code;
use rulestep_base::session::{Call, Outcome};
use rulestep_base::wording::clean::{self, Marks};
use rulestep_base::wording::glyph::Glyph;
use rulestep_engine::monitor::finding::RuleState;
use rulestep_engine::monitor::{Effect, Explanation, Rule, RuleId};
use rulestep_engine::replay::{DecidedCall, NotTaken, Replay};
use rulestep_engine::run::Mode;

const PLAIN: Paint = Paint { color: false };
/// Most columns of one value in a report.
const LONGEST: usize = 1200;
/// Lines that one list takes at the most.
const LINES: usize = 40;

/// A decision about a call, or a session rule that is violated.
#[derive(Debug, Clone)]
pub struct Account {
    /// The session's id.
    pub session: String,
    /// The file it was read from.
    pub file: String,
    /// Its place: `turn 4 call 2`, `at the end of the session`.
    pub place: String,
    /// `refund-124:4.2`, as `explain --at` takes it.
    pub at: String,
    /// The mark of the decision as a single character.
    pub glyph: Glyph,
    /// The decision, as a participle: `denied`, `would be denied`, `violated`.
    pub decision: &'static str,
    /// A remark on how to read the decision: `counterfactual`, `not chosen`.
    pub remark: Option<&'static str>,
    /// The call in one line; `None` for a rule about the whole session.
    pub call: Option<String>,
    /// Whether it is stopped although no rule could be asked about it.
    pub undecided: bool,
    /// The findings, the deciding one first.
    pub objections: Vec<Objection>,
    /// The recorded outcome of the call, with its interpretation; and the message to the model instead of a result.
    pub rows: Vec<Row>,
}

/// The finding of one rule.
#[derive(Debug, Clone)]
pub struct Objection {
    /// The rule.
    pub rule: RuleId,
    /// Its name.
    pub name: String,
    /// Its file and line.
    pub place: String,
    /// Its effect on the call.
    pub effect: Effect,
    /// Why, as a stable code.
    pub code: Option<Code>,
    /// The finding, in a sentence whose long values are cut; uncut it is the last of `rows`.
    pub headline: String,
    /// Its evidence, and what would change it.
    pub rows: Vec<Row>,
    /// The rule's own lines with their numbers.
    pub yaml: Vec<(u32, String)>,
    /// Whether the rule has more lines.
    pub yaml_goes_on: bool,
}

/// Lines under one label.
#[derive(Debug, Clone)]
pub struct Row {
    /// The label.
    pub label: &'static str,
    /// The lines, one below the other.
    pub lines: Vec<String>,
}

impl Account {
    /// For a call of the session. `by_tool` is of the same session.
    #[must_use]
    pub fn of_call(replay: &Replay, by_tool: &ByTool<'_>, call: &Call, decided: &DecidedCall) -> Account {
        let session = replay.session();
        let rules = replay.policy().rules();
        let objections = decided.decision.findings.iter().filter_map(|finding| {
            let explanation = finding.explain(rules, session)?;
            Some(Objection::of_call(finding.rule, &explanation, call, replay, by_tool))
        });
        let mut rows = Vec::new();
        if let Some(halt) = replay.halt().filter(|halt| halt.at == call.at) {
            let steps = halt.sequence().filter_map(|(at, _)| {
                let step = session.calls.get(at.index as usize)?;
                Some(format!("{}: {}", words::at(at, session), words::call::call(step)))
            });
            add(&mut rows, "Calls that led to the halt", steps.collect());
        }
        add(&mut rows, "Message to the model", decided.decision.told.iter().map(|told| cut(told)).collect());
        let live = LiveWords::of(call, decided, replay.policy());
        add(&mut rows, "Decided live", live.iter().map(LiveWords::sentence).collect());
        let recorded = recorded(call, decided, replay.mode());
        add(&mut rows, "In the recording", vec![recorded]);
        Account {
            session: words::name(&session.id).into_owned(),
            file: words::line(&session.origin.file),
            place: words::at(call.at, session),
            at: format!("{}:{}.{}", words::line(&session.id), call.at.turn, call.at.call),
            glyph: words::glyph(decided),
            decision: words::decided(decided.decision.verdict, replay.mode()),
            remark: match call.copied {
                true => Some(words::COPIED),
                false => decided.counterfactual.then_some("counterfactual"),
            },
            call: Some(words::call::call(call)),
            undecided: decided.decision.verdict.stops() && decided.decision.findings.is_empty(),
            objections: objections.collect(),
            rows,
        }
    }

    /// For a call in a choice of the model that was not taken.
    #[must_use]
    pub fn of_choice(replay: &Replay, other: &NotTaken<'_>) -> Option<Account> {
        let (taken, call) = replay.not_taken(other.at())?;
        let account = Account::of_call(&taken, &ByTool::of(taken.session()), &call, other.judged);
        let (at, session) = (other.at(), replay.session());
        Some(Account {
            place: words::at_choice(other),
            at: format!("{}:{}.{}.{}", words::line(&session.id), at.turn, at.choice, at.call),
            remark: Some("not chosen"),
            rows: account.rows.into_iter().filter(|row| row.label != "In the recording").collect(),
            ..account
        })
    }

    /// For a violated session rule.
    #[must_use]
    pub fn of_rule(replay: &Replay, state: &RuleState) -> Option<Account> {
        let session = replay.session();
        let rule = replay.policy().rules().get(state.rule)?;
        let fault = state.position.and_then(|index| session.calls.get(index as usize));
        let violation = words::violation(state, replay);
        let mut rows = Vec::new();
        let headline = match &violation {
            Some(violation) => violation.headline.clone(),
            None => Sentence::new("the session violates this rule"),
        };
        if let Some(violation) = violation {
            add(&mut rows, "Expected", violation.expected.iter().map(sentence).collect());
            add(
                &mut rows,
                "Calls that ran",
                trace::of_rule(&replay.ran(), fault.map(|call| call.at)).lines(replay, PLAIN),
            );
            add(&mut rows, "What would change it", violation.way_out.iter().map(sentence).collect());
        }
        let objection = Objection::new(state.rule, rule, Effect::None, state.code, &headline, rows);
        Some(Account {
            session: words::name(&session.id).into_owned(),
            file: words::line(&session.origin.file),
            place: fault.map_or("at the end".to_owned(), |call| words::at(call.at, session)),
            at: match fault {
                Some(call) => format!("{}:{}.{}", words::line(&session.id), call.at.turn, call.at.call),
                None => words::line(&session.id),
            },
            glyph: Glyph::Deny,
            decision: words::ended(state.outcome),
            remark: None,
            call: None,
            undecided: false,
            objections: vec![objection],
            rows: Vec::new(),
        })
    }

    /// The objection that decides, or the first one that is only reported.
    #[must_use]
    pub fn deciding(&self) -> Option<&Objection> {
        self.objections.first()
    }
}

impl Objection {
    fn new(
        id: RuleId,
        rule: &Rule,
        effect: Effect,
        code: Option<Code>,
        headline: &Sentence,
        mut rows: Vec<Row>,
    ) -> Objection {
        let (yaml, yaml_goes_on) = words::lines(rule);
        let (whole, headline) = (sentence(headline), cut(&headline.to_string()));
        if whole != headline {
            rows.push(Row { label: "Why, in full", lines: vec![whole] });
        }
        let (name, place) = (words::rule_name(rule), rule.place());
        Objection { rule: id, name, place, effect, code, headline, rows, yaml, yaml_goes_on }
    }

    fn of_call(
        id: RuleId,
        explanation: &Explanation,
        call: &Call,
        replay: &Replay,
        by_tool: &ByTool<'_>,
    ) -> Objection {
        let mut rows = Vec::new();
        add(&mut rows, "Expected", explanation.expected.iter().map(sentence).collect());
        add(
            &mut rows,
            "Value checked",
            explanation.checked.iter().map(|checked| sentence(&words::checked(checked))).collect(),
        );
        let earlier = words::earlier(explanation, call, replay, by_tool);
        add(&mut rows, "Earlier calls", earlier.iter().map(sentence).collect());
        add(
            &mut rows,
            "What the rule looked at",
            words::details(&explanation.lines).iter().map(|line| cut(line)).collect(),
        );
        if explanation.expected.is_some() {
            let ran = trace::of_call(by_tool.ran(replay), call.at, explanation.effect, replay.mode());
            add(&mut rows, "Calls that ran", ran.lines(replay, PLAIN));
        }
        add(&mut rows, "What would change it", explanation.way_out.iter().map(sentence).collect());
        add(
            &mut rows,
            "The rule's own reason",
            explanation.reason.iter().map(|reason| cut(reason)).collect(),
        );
        let test = explanation.rule.test.iter().map(|test| words::name(test).into_owned());
        add(&mut rows, "Test", test.collect());
        Objection::new(
            id,
            &explanation.rule,
            explanation.effect,
            explanation.code,
            &explanation.headline,
            rows,
        )
    }
}

/// Adds lines under a label, if there are any; at most the first few.
fn add(rows: &mut Vec<Row>, label: &'static str, mut lines: Vec<String>) {
    let more = lines.len().saturating_sub(LINES) as u64;
    if more > 0 {
        lines.truncate(LINES);
        lines.push(format!("and {}", words::count(more, "more line")));
    }
    if !lines.is_empty() {
        rows.push(Row { label, lines });
    }
}

/// A sentence with its values in full, unless they are very long.
fn sentence(sentence: &Sentence) -> String {
    let whole = sentence.whole();
    if clean::width(&whole, Marks::Unicode, LONGEST + 1) <= LONGEST {
        whole
    } else {
        cut(&sentence.to_string())
    }
}

fn cut(text: &str) -> String {
    clean::ends(text, LONGEST, Marks::Unicode).text()
}

/// What the recording did with the call, and whether the policy decides the same.
fn recorded(call: &Call, decided: &DecidedCall, mode: Mode) -> String {
    let became = words::became(call.outcome);
    let stops = decided.decision.verdict.stops();
    match (decided.agrees, stops) {
        (false, true) if mode == Mode::Enforce => format!("{became}; this policy stops it"),
        (false, true) => format!("{became}; this policy would stop it"),
        (false, false) => format!("{became}; this policy allows it"),
        (true, true) if call.outcome == Outcome::Refused => format!("{became} as well"),
        _ => became.to_owned(),
    }
}
