//! A session reduced to what rules look at, so that it can be shown to others.
//!
//! Every text, number and boolean in arguments, results, messages, the context and the variables becomes [`MARK`],
//! unless some rule of the given versions may look at it; keys, tools, ids, times and tool definitions stay. What a
//! rule may look at is what the rule declares ([`Unit::reads`](rulestep_engine::monitor::Unit::reads)), never what it
//! happened to find. In doubt a value is blanked: then decisions may change, which [`alike`] reports, and nothing is
//! shown that should not be.
//!
//! If a rule has a question about what a command does, the words stay that its answer depends on, with all names of
//! programs and flags. Words that look like secrets are always blanked.

mod secrets;
mod words;

use std::cell::{Cell, RefCell};

use std::collections::{HashMap, HashSet};
use std::ptr;
use std::sync::Arc;

use serde_json::{Map, Value};

pub use self::words::MARK;
use self::words::Text;
use rulestep_base::session::{Body, Call, Facts, Form, LiveDecision, Message, MessageKind, Session};
use rulestep_engine::condition::path::Path;
use rulestep_engine::monitor::history::Speaker;
use rulestep_engine::monitor::{AskedCall, Learns, Read};
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;

/// A session without the values that no rule looks at, and remarks about it.
#[derive(Debug, Clone)]
pub struct Redacted {
    /// The session.
    pub session: Session,
    /// Number of calls whose text itself a rule reads besides a question about what they do: it stays as recorded.
    pub whole: usize,
    /// Number of calls in which a word was blanked that an answer depends on, because it looks like a secret.
    pub secrets: usize,
}

/// The session without the values that no rule of these versions looks at.
#[must_use]
pub fn redact(session: &Session, policies: &[&Policy]) -> Redacted {
    let kept = Needs::of(session, policies);
    let mut blank = session.clone();
    blank.change_proposed(|proposed, call| {
        let folder = call.and_then(|call| call.folder.as_deref());
        proposed.arguments = kept.arguments(&proposed.tool, &proposed.arguments, folder);
    });
    for call in &mut blank.calls {
        call.output = kept.output(call);
        call.live = call.live.as_deref().map(|live| Arc::new(without_values(live)));
    }
    let mut spoken: HashMap<Speaker, i64> = HashMap::new();
    for message in &mut blank.messages {
        if !matches!(message.kind, MessageKind::Operation(_)) {
            let is_read = kept.reads_message(message, &mut spoken);
            message.content = match &message.kind {
                _ if is_read => message.content.clone(),
                MessageKind::Result(Some(index), _) => {
                    session.calls.get(*index as usize).map(|call| kept.output(call)).unwrap_or_default()
                }
                _ => blanked(&message.content, &[]),
            };
        }
    }
    // A result is one text, whether it is looked at as the call's or as a message.
    for message in &blank.messages {
        if let MessageKind::Result(Some(index), _) = message.kind
            && let Some(call) = blank.calls.get_mut(index as usize)
        {
            call.output = message.content.clone();
        }
    }
    for alternative in &mut blank.alternatives {
        let message = &mut alternative.message;
        let of_assistant = |(speaker, _): &(Speaker, i64)| *speaker != Speaker::User;
        if !kept.conversation && !kept.messages.iter().any(of_assistant) {
            message.content = blanked(&message.content, &[]);
        }
    }
    blank.title = session.title.as_ref().map(|_| MARK.into());
    blank.facts = Arc::new(kept.facts(&session.facts));
    Redacted { session: blank, whole: kept.whole.get(), secrets: kept.secrets.get() }
}

/// Whether the versions decide two sessions of the same shape equally: the same verdict by the same rules for the same reasons.
#[must_use]
pub fn alike(one: &Arc<Session>, other: &Arc<Session>, policies: &[&Arc<Policy>], mode: Mode) -> bool {
    policies.iter().all(|policy| {
        let (one, other) = (Replay::new(one, policy, mode), Replay::new(other, policy, mode));
        let same = one.calls().iter().zip(other.calls()).all(|(one, other)| {
            let found = |judged: &rulestep_engine::replay::DecidedCall| {
                let findings = judged.decision.findings.iter();
                findings.map(|finding| (finding.rule, finding.code, finding.effect)).collect::<Vec<_>>()
            };
            one.decision.verdict == other.decision.verdict && found(one) == found(other)
        });
        let ended = |replay: &Replay| {
            let rules = replay.rules().iter();
            rules.map(|state| (state.rule, state.outcome, state.code, state.position)).collect::<Vec<_>>()
        };
        same && one.calls().len() == other.calls().len() && ended(&one) == ended(&other)
    })
}

/// A gate's decision, with its rules and reasons; the sentences in it have recorded values and are blanked.
fn without_values(live: &LiveDecision) -> LiveDecision {
    const KEPT: [&str; 10] = [
        "dialect",
        "rule",
        "rule_name",
        "test",
        "code",
        "effect",
        "would",
        "description",
        "source",
        "reason",
    ];
    let findings = live.findings.value().and_then(Value::as_array).into_iter().flatten();
    let findings = findings.filter_map(Value::as_object).map(|finding| {
        let kept = finding.iter().filter(|(key, _)| KEPT.contains(&key.as_str()));
        let kept = kept.map(|(key, value)| (key.clone(), value.clone()));
        Value::Object(kept.chain([("message".to_owned(), MARK.into())]).collect())
    });
    LiveDecision {
        findings: Body::json(&Value::Array(findings.collect()).to_string()),
        told: live.told.as_ref().map(|_| MARK.into()),
        policy_fault: live.policy_fault.as_ref().map(|_| MARK.into()),
        ..live.clone()
    }
}

/// Recorded arguments, with the tool, and their redacted form.
type Reductions = HashMap<(Arc<str>, Box<str>), Body>;

/// What rules may look at in one session.
struct Needs<'a> {
    session: &'a Session,
    policies: &'a [&'a Policy],
    by_tool: HashMap<Arc<str>, Paths>,
    /// Every message and every call, as templates see them.
    conversation: bool,
    /// Messages of a speaker: the one at an index from 0, or for an index from the end any of them.
    messages: Vec<(Speaker, i64)>,
    context: Vec<Arc<str>>,
    variables: Vec<Arc<str>>,
    files: bool,
    /// Arguments that were reduced to the words that answers rest on: a call and the message that makes it have the same.
    reduced: RefCell<Reductions>,
    whole: Cell<usize>,
    secrets: Cell<usize>,
}

#[derive(Default)]
struct Paths {
    arguments: Vec<Path>,
    /// The paths of the texts that say what a call does, and what is learned from them.
    does: Vec<Path>,
    learns: Vec<Learns>,
    runs_commands: bool,
    output: Vec<Path>,
}

impl<'a> Needs<'a> {
    fn of(session: &'a Session, policies: &'a [&'a Policy]) -> Needs<'a> {
        let mut kept = Needs {
            session,
            policies,
            by_tool: HashMap::new(),
            conversation: false,
            messages: Vec::new(),
            context: Vec::new(),
            variables: Vec::new(),
            files: false,
            reduced: RefCell::default(),
            whole: Cell::default(),
            secrets: Cell::default(),
        };
        let mut reads = Vec::new();
        for unit in policies.iter().flat_map(|policy| policy.units()) {
            unit.reads(session, &mut reads);
        }
        for read in reads {
            match read {
                Read::Argument { tool, path } => kept.paths(tool).arguments.extend(Path::parse(&path)),
                Read::Does { tool, path, learns, runs_commands } => {
                    let paths = kept.paths(tool);
                    paths.runs_commands |= runs_commands;
                    paths.does.extend(Path::parse(&path));
                    if !paths.learns.contains(&learns) {
                        paths.learns.push(learns);
                    }
                }
                Read::Output { tool, path } => kept.paths(tool).output.extend(Path::parse(&path)),
                Read::Conversation => kept.conversation = true,
                Read::Message(speaker, place) => kept.messages.push((speaker, place)),
                Read::Context(key) => kept.context.push(key),
                Read::Variable(name) => kept.variables.push(name),
                Read::Files => kept.files = true,
            }
        }
        kept
    }

    fn paths(&mut self, tool: Arc<str>) -> &mut Paths {
        self.by_tool.entry(tool).or_default()
    }

    fn body(&self, body: &Body, paths: &[Path]) -> Body {
        if self.conversation { body.clone() } else { blanked(body, paths) }
    }

    fn arguments(&self, tool: &Arc<str>, given: &Body, folder: Option<&str>) -> Body {
        let Some(paths) = self.by_tool.get(tool) else { return self.body(given, &[]) };
        if paths.does.is_empty() || given.is_missing() {
            return self.body(given, &paths.arguments);
        }
        let key = (Arc::clone(tool), given.raw().into());
        if let Some(reduced) = self.reduced.borrow().get(&key) {
            return reduced.clone();
        }
        let reduced = self.reduce(tool, given, folder, paths);
        self.reduced.borrow_mut().insert(key, reduced.clone());
        reduced
    }

    /// The arguments of a call for questions about what it does, with the words that the answers depend on.
    fn reduce(&self, tool: &str, given: &Body, folder: Option<&str>, paths: &Paths) -> Body {
        let both: Vec<Path> = paths.arguments.iter().chain(&paths.does).cloned().collect();
        let shown = self.body(given, &both);
        // Arguments that are not JSON are one text.
        let text = || Value::String(shown.raw().to_owned());
        let value = shown.value().cloned().unwrap_or_else(text);
        let mut texts = Texts {
            read: nodes(&value, paths.arguments.iter()),
            asked: nodes(&value, paths.does.iter()),
            ..Texts::default()
        };
        texts.collect(&value, false, self.conversation);
        if texts.found.is_empty() {
            return shown;
        }
        let written = |texts: &[(usize, Text<'_>)], words: &[String]| {
            let (mut value, mut number) = (value.clone(), 0);
            let mut words = texts.iter().map(|(number, _)| *number).zip(words).peekable();
            fill(&mut value, &mut number, &mut words);
            rewritten(&shown, &value)
        };
        let found: Vec<Text<'_>> = texts.found.iter().map(|(_, text)| *text).collect();
        let reduced = words::reduced(&found, |words| {
            let arguments = written(&texts.found, words);
            let call = AskedCall { tool, arguments: &arguments, folder, facts: &self.session.facts };
            paths.learns.iter().map(|learns| learns.of(&call)).collect::<Vec<_>>()
        });
        count(&self.whole, paths.runs_commands && found.iter().any(|text| text.whole));
        count(&self.secrets, reduced.secret);
        written(&texts.found, &reduced.texts)
    }

    fn output(&self, call: &Call) -> Body {
        // A text of the policy itself is not a secret, and shows that the call may have been refused.
        if self.policies.iter().any(|policy| policy.tells(&call.output, &call.tool).is_some()) {
            return call.output.clone();
        }
        self.body(&call.output, self.by_tool.get(&call.tool).map_or(&[], |paths| &paths.output))
    }

    /// Whether some rule looks at the whole message. `spoken` counts the messages of each speaker.
    fn reads_message(&self, message: &Message, spoken: &mut HashMap<Speaker, i64>) -> bool {
        let mut is_read = self.conversation;
        for speaker in [Speaker::Anyone, Speaker::User, Speaker::Assistant] {
            if !speaker.says(message) {
                continue;
            }
            let place = spoken.entry(speaker).or_default();
            is_read |=
                self.messages.iter().any(|(wanted, at)| *wanted == speaker && (*at < 0 || at == place));
            *place += 1;
        }
        is_read
    }

    fn facts(&self, facts: &Facts) -> Facts {
        // Templates see the context if there are no variables.
        let of_templates = facts.variables.is_none();
        let context = facts.context.as_ref().map(|context| {
            let named = |name: &Arc<str>| of_templates && self.variables.contains(name);
            let members = |object: &Map<String, Value>| {
                let keep = |key: &String| {
                    let key: Arc<str> = key.as_str().into();
                    named(&key) || self.context.contains(&key)
                };
                let member = |(key, value): (&String, &Value)| {
                    let kept = if keep(key) { value.clone() } else { self.nested(key, value) };
                    (key.clone(), kept)
                };
                Value::Object(object.iter().map(member).collect())
            };
            match context {
                Value::Object(object) => members(object),
                other => without(other, &HashSet::new()),
            }
        });
        let variables = facts.variables.as_ref().map(|variables| {
            let member = |(name, value): (&String, &Value)| {
                let kept = self.variables.iter().any(|kept| **kept == **name);
                (name.clone(), if kept { value.clone() } else { without(value, &HashSet::new()) })
            };
            variables.iter().map(member).collect()
        });
        let files = facts.files.as_ref().map(|files| match self.files {
            true => files.clone(),
            false => files.iter().map(|_| MARK.to_owned()).collect(),
        });
        Facts { context, variables, files, ..facts.clone() }
    }

    /// A member of the context below which a rule may name keys with dots.
    fn nested(&self, prefix: &str, value: &Value) -> Value {
        let Value::Object(object) = value else { return without(value, &HashSet::new()) };
        let member = |(key, value): (&String, &Value)| {
            let dotted = format!("{prefix}.{key}");
            let kept = self.context.iter().any(|kept| **kept == *dotted);
            (key.clone(), if kept { value.clone() } else { self.nested(&dotted, value) })
        };
        Value::Object(object.iter().map(member).collect())
    }
}

/// A body in which only the values at these paths are left. Text that is not JSON stays if a path takes all of it.
fn blanked(body: &Body, paths: &[Path]) -> Body {
    // There is no text here, and rules distinguish a message without text from one with some.
    if body.is_missing() || body.raw().trim().is_empty() {
        return body.clone();
    }
    let Some(value) = body.value() else { return Body::text(MARK) };
    // A filter looks at more than it takes.
    if paths.iter().any(|path| path.text().contains('?')) {
        return body.clone();
    }
    let taken: HashSet<*const Value> =
        paths.iter().flat_map(|path| path.nodes(value)).map(ptr::from_ref).collect();
    match value {
        value if taken.contains(&ptr::from_ref(value)) => body.clone(),
        Value::Object(_) | Value::Array(_) => rewritten(body, &without(value, &taken)),
        _ => Body::text(MARK),
    }
}

/// A body of the same form with another value.
fn rewritten(body: &Body, value: &Value) -> Body {
    match value {
        Value::String(text) if body.value().is_none() => Body::text(text.as_str()),
        value => {
            let text = value.to_string();
            // The text parts of a list are one text, which is JSON here.
            let in_place = body.form() == Some(Form::Json) && body.shown() == body.raw();
            if in_place { Body::json(&text) } else { Body::text(text) }
        }
    }
}

fn count(count: &Cell<usize>, one_more: bool) {
    count.set(count.get() + usize::from(one_more));
}

/// The parts of a value that paths take.
fn nodes<'p>(value: &Value, paths: impl Iterator<Item = &'p Path>) -> HashSet<*const Value> {
    paths.flat_map(|path| path.nodes(value)).map(ptr::from_ref).collect()
}

/// The texts of a value that rules read, each with its number among all texts of the value.
#[derive(Default)]
struct Texts<'v> {
    asked: HashSet<*const Value>,
    read: HashSet<*const Value>,
    number: usize,
    found: Vec<(usize, Text<'v>)>,
}

impl<'v> Texts<'v> {
    fn collect(&mut self, value: &'v Value, asked: bool, whole: bool) {
        let place = ptr::from_ref(value);
        let (asked, whole) = (asked || self.asked.contains(&place), whole || self.read.contains(&place));
        match value {
            Value::String(text) => {
                if asked {
                    self.found.push((self.number, Text { text, whole }));
                }
                self.number += 1;
            }
            Value::Array(items) => items.iter().for_each(|item| self.collect(item, asked, whole)),
            Value::Object(members) => members.values().for_each(|member| self.collect(member, asked, whole)),
            _ => {}
        }
    }
}

/// Puts other texts in their places, which count all texts of the value.
fn fill<'t>(
    value: &mut Value,
    number: &mut usize,
    with: &mut std::iter::Peekable<impl Iterator<Item = (usize, &'t String)>>,
) {
    match value {
        Value::String(text) => {
            if let Some((_, other)) = with.next_if(|(place, _)| place == number) {
                text.clone_from(other);
            }
            *number += 1;
        }
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, number, with)),
        Value::Object(members) => members.values_mut().for_each(|member| fill(member, number, with)),
        _ => {}
    }
}

/// A value in which only the taken parts are left.
fn without(value: &Value, taken: &HashSet<*const Value>) -> Value {
    if taken.contains(&ptr::from_ref(value)) {
        return value.clone();
    }
    match value {
        Value::Array(items) => items.iter().map(|item| without(item, taken)).collect(),
        Value::Object(members) => {
            let members = members.iter().map(|(key, value)| (key.clone(), without(value, taken)));
            Value::Object(members.collect())
        }
        _ => Value::String(MARK.to_owned()),
    }
}
