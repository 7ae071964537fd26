//! A rule's explanation of a call, of its own state, or of a whole session: words and data made from its facts on
//! demand. Code that shows an explanation knows no rule and no dialect.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::evidence::{CheckedValue, EarlierCall, Effect};
use super::rule::{Rule, RuleName, RulePlace};
use rulestep_base::diagnostic::Code;
use rulestep_base::session::{CallRef, Session, refusal};
use rulestep_base::wording::Sentence;

/// A dialect's facts beyond the code of a finding. Each kind of rule has its own type, and so has each thing that is
/// explained: a check, the state at the start of a turn, the outcome of a session rule.
pub trait Explain: Any + Debug + Send + Sync + SameFacts {
    /// In words.
    fn explain(&self, about: &About<'_>) -> Explanation;

    /// Members that the JSON of a check (mostly one, `detail`) or of a state gets.
    fn data(&self) -> Map<String, Value> {
        Map::new()
    }

    /// The cause of a halt, for a rule that halts because of earlier calls.
    fn halt(&self) -> Option<HaltCause<'_>> {
        None
    }
}

/// The members of a check whose facts are one object, `detail`.
#[must_use]
pub fn detail(facts: &impl Serialize) -> Map<String, Value> {
    [("detail".to_owned(), serde_json::to_value(facts).unwrap_or_default())].into_iter().collect()
}

/// The members of a state: its kind, then its facts.
#[must_use]
pub fn state(kind: &str, facts: &impl Serialize) -> Map<String, Value> {
    let kind = [("kind".to_owned(), kind.into())];
    let facts = match serde_json::to_value(facts) {
        Ok(Value::Object(facts)) => facts,
        _ => Map::new(),
    };
    kind.into_iter().chain(facts).collect()
}

/// The cause of a halt.
#[derive(Debug, Clone)]
pub struct HaltCause<'a> {
    /// The name of the policy that halts.
    pub policy: &'a str,
    /// Every call that was dispatched before, in call order, each with its tool.
    pub dispatched: Vec<(CallRef, &'a str)>,
}

impl dyn Explain {
    /// The facts as their own type, for code that knows the dialect.
    #[must_use]
    pub fn downcast_ref<T: Explain>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}

/// Equality of facts. Every type with `PartialEq` has it.
pub trait SameFacts {
    /// Whether both have one type and are equal.
    fn same(&self, other: &dyn Explain) -> bool;
}

impl<T: Explain + PartialEq> SameFacts for T {
    fn same(&self, other: &dyn Explain) -> bool {
        other.downcast_ref::<T>().is_some_and(|other| self == other)
    }
}

impl PartialEq for dyn Explain {
    fn eq(&self, other: &dyn Explain) -> bool {
        self.same(other)
    }
}

/// The context of an explanation.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// The session, for the tools and places of calls.
    pub session: &'a Session,
    /// Why the rule objects to the call or the session; `None`: it does not.
    pub code: Option<Code>,
    /// The checked value of the call.
    pub checked: Option<&'a CheckedValue>,
    /// The earlier calls it rests on.
    pub found: &'a [EarlierCall],
    /// For an outcome: the calls that ran, in order, if they are known.
    pub ran: Option<&'a [CallRef]>,
}

impl<'a> About<'a> {
    /// A rule and a session alone.
    #[must_use]
    pub fn new(rule: &'a Rule, session: &'a Session) -> About<'a> {
        About { rule, session, code: None, checked: None, found: &[], ran: None }
    }

    /// The earlier call that decides, if there is one.
    #[must_use]
    pub fn earlier(&self) -> Option<CallRef> {
        self.found.first().map(|found| found.call)
    }

    /// A caveat for evidence of absence, which proves little in a recording that begins after its session did.
    #[must_use]
    pub fn starts_in_the_middle(&self) -> &'static str {
        if self.session.facts.from_the_middle { " (the recording starts in the middle)" } else { "" }
    }
}

/// A rule's explanation in words, with the rule and all evidence: code that shows it needs nothing else.
///
/// It serialises as a member of `findings` in the JSON of `replay`.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// The rule, with its place.
    pub rule: Rule,
    /// Why it objects to the call or the session; `None`: it does not.
    pub code: Option<Code>,
    /// Its effect on the call.
    pub effect: Effect,
    /// What its effect would have been, for a rule that is not enforced.
    pub would: Option<Effect>,
    /// The finding, in a line.
    pub headline: Sentence,
    /// The rule's requirement in a word or two, if the rule has no name of its own: `check_eligibility`. As recorded,
    /// so it has to be cleaned where it is shown.
    pub label: Option<String>,
    /// The order of calls that the rule expects; the headline then says what happened instead.
    pub expected: Option<Sentence>,
    /// What it looked at.
    pub lines: Vec<Line>,
    /// What would change it; `None`: there is no way.
    pub way_out: Option<Sentence>,
    /// If the rule only doubts: the unknown of the call, and what to write instead. It is for the model, whom the
    /// author's words about a certain match would mislead.
    pub doubt: Option<String>,
    /// The tool whose earlier calls do not count: a finding that rests on absence.
    pub awaited: Option<Arc<str>>,
    /// Whether it is worth reading for a call that passed: it counts something, or rests on a file or an earlier call.
    pub telling: bool,
    /// The checked value of the call.
    pub checked: Option<CheckedValue>,
    /// The earlier calls it rests on, the decisive one first.
    pub found: Vec<EarlierCall>,
    /// The rule's own reason, for telemetry; never shown to the model.
    pub reason: Option<Arc<str>>,
    /// The rule's own text for the model. [`Explanation::message`] is what the model reads.
    pub tell_llm: Option<Arc<str>>,
}

/// One thing that a rule looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Line {
    /// Its state in words, for output without colours: `matched`.
    pub label: &'static str,
    /// Its text.
    pub text: Sentence,
    /// The actual value, or the progress.
    pub value: Option<Sentence>,
    /// The call it is about.
    pub call: Option<CallRef>,
    /// Its state.
    pub state: LineState,
    /// Its parts.
    pub lines: Vec<Line>,
}

/// The state of a line of an explanation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LineState {
    /// Not at all.
    Plain,
    /// It deserves attention.
    Note,
    /// As the rule requires it.
    Good,
    /// It counts against the call.
    Bad,
    /// Unknown, and it counts against the call.
    Doubtful,
    /// Under way: it matters whatever is called next.
    Pending,
}

impl Explanation {
    /// A headline about something.
    #[must_use]
    pub fn new(about: &About<'_>, headline: impl Into<String>) -> Explanation {
        Explanation {
            rule: about.rule.clone(),
            code: about.code,
            effect: Effect::None,
            would: None,
            headline: Sentence::new(headline),
            label: None,
            expected: None,
            lines: Vec::new(),
            way_out: None,
            doubt: None,
            awaited: None,
            telling: false,
            checked: about.checked.cloned(),
            found: about.found.iter().map(|found| found.seen_from(about.session)).collect(),
            reason: None,
            tell_llm: None,
        }
    }

    /// The message to the model if this rule decides; `None`: it stops nothing.
    #[must_use]
    pub fn message(&self) -> Option<Arc<str>> {
        let code = self.code.filter(|_| self.effect >= Effect::Deny)?;
        Some(told(self.tell_llm.as_ref(), code))
    }
}

/// The rule's own text, else the published one.
pub fn told(own: Option<&Arc<str>>, code: Code) -> Arc<str> {
    own.cloned().unwrap_or_else(|| refusal::permission_denied(code.as_str()).into())
}

impl Serialize for Explanation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Members<'a> {
            #[serde(flatten)]
            rule: RuleName<'a>,
            code: Option<Code>,
            effect: Effect,
            #[serde(skip_serializing_if = "Option::is_none")]
            would: Option<Effect>,
            message: &'a Sentence,
            description: Option<&'a str>,
            source: RulePlace,
            checked: Option<&'a CheckedValue>,
            found: &'a [EarlierCall],
            reason: Option<&'a str>,
            tell_llm: Option<&'a str>,
            #[serde(flatten)]
            order: Option<Order<'a>>,
        }
        /// For a rule about the order of calls: the expectation, what happened instead, and what would satisfy it.
        #[derive(Serialize)]
        struct Order<'a> {
            expected: &'a Sentence,
            actual: &'a Sentence,
            suggestion: Option<&'a Sentence>,
        }
        let order = self.expected.as_ref().map(|expected| Order {
            expected,
            actual: &self.headline,
            suggestion: self.way_out.as_ref(),
        });
        Members {
            rule: RuleName::of(&self.rule),
            code: self.code,
            effect: self.effect,
            would: self.would,
            message: &self.headline,
            description: self.rule.description.as_deref(),
            source: RulePlace::of(&self.rule),
            checked: self.checked.as_ref(),
            found: &self.found,
            reason: self.reason.as_deref(),
            tell_llm: self.tell_llm.as_deref(),
            order,
        }
        .serialize(serializer)
    }
}

impl Line {
    /// A text alone.
    pub fn new(text: impl Into<String>) -> Line {
        Line {
            label: "",
            text: Sentence::new(text),
            value: None,
            call: None,
            state: LineState::Plain,
            lines: Vec::new(),
        }
    }
}
