//! Reads a plan's text as conditions. Nothing here is an error: an unreadable condition rejects, with a message.

use std::sync::Arc;

use super::facts::{ConditionKind, Join};
use super::places::PENDING;
use super::plan::{Body, Node, Test};
use super::warn;
use crate::dialect::options::KEYS;
use crate::dialect::pattern::trap;
use crate::dialect::rejection_plans::codes;
use crate::monitor::history::Speaker;
use rulestep_base::diagnostic::{Diagnostic, Severity};
use rulestep_base::source::nearest::edits;
use rulestep_base::source::{self, Field, Fields, Problem, ProblemKind, Source, Span};
use rulestep_template::{js_regex, liquid};

/// The number of letters by which a misspelt key may differ from the known one.
const SLIP: usize = 2;
/// Deepest nesting of groups.
const DEEPEST: usize = 32;

/// Reads what is under `rejectionPlan`.
/// `settled`: the plan says whether the call counts as a message.
pub(super) fn plan(field: &Field<'_>, source: &Source, settled: bool, said: &mut Vec<Diagnostic>) -> Body {
    let mut reading = Reading { source, settled, said };
    let mut wrong = Vec::new();
    let conditions = read_plan(field, &mut wrong, &mut reading);
    reading.joined(Join::And, &conditions, field.node.get("conditions"));
    match reading.wrong(wrong) {
        Some(cause) => Body::Broken(cause),
        None => Body::Conditions(conditions.unwrap_or_default()),
    }
}

/// Reads a list of conditions that is without `rejectionPlan` around it.
pub(super) fn conditions(
    field: &Field<'_>,
    source: &Source,
    settled: bool,
    said: &mut Vec<Diagnostic>,
) -> Body {
    let mut reading = Reading { source, settled, said };
    let mut wrong = Vec::new();
    // As for `rejectionPlan`, null means that there is no list of conditions.
    let conditions = match field.node.is_null() {
        true => None,
        false => field.list(&mut wrong, |item, _| Some(reading.condition(&item, 0))),
    };
    reading.joined(Join::And, &conditions, Some(field.node));
    match reading.wrong(wrong) {
        Some(cause) => Body::Broken(cause),
        None => Body::Conditions(conditions.unwrap_or_default()),
    }
}

fn read_plan(field: &Field<'_>, wrong: &mut Vec<Problem>, reading: &mut Reading<'_>) -> Option<Vec<Node>> {
    let mut fields = field.fields(wrong)?.null_is_absent();
    let conditions = fields.list("conditions", wrong, |item, _| Some(reading.condition(&item, 0)));
    // The plan's reader has taken them.
    for key in KEYS.into_iter().chain([PENDING]) {
        fields.take(key);
    }
    reading.unread(&fields);
    conditions
}

struct Reading<'r> {
    source: &'r Source,
    settled: bool,
    said: &'r mut Vec<Diagnostic>,
}

/// A condition's kind, and its test unless the condition is broken.
type Read = (ConditionKind, Option<Test>);

impl Reading<'_> {
    /// A condition within this many groups. Where its own text is wrong it is kept as one that always matches.
    fn condition(&mut self, item: &Field<'_>, groups: usize) -> Node {
        let mut wrong = Vec::new();
        let read = self.typed(item, groups, &mut wrong);
        let (kind, test) = read.unwrap_or((ConditionKind::Unknown, None));
        let cause = self.wrong(wrong);
        let test = match (cause, test) {
            (None, Some(test)) => test,
            (cause, _) => Test::Broken(cause.unwrap_or_else(|| "it cannot be read".into())),
        };
        Node { pointer: item.pointer.as_str().into(), kind, test }
    }

    fn typed(&mut self, item: &Field<'_>, groups: usize, wrong: &mut Vec<Problem>) -> Option<Read> {
        type Reader<'r> = fn(&mut Reading<'r>, Fields<'_>, Span, usize, &mut Vec<Problem>) -> Read;
        let readers: [(&str, Reader<'_>); 3] =
            [("regex", Reading::regex), ("liquid", Reading::liquid), ("group", Reading::group)];
        let mut fields = item.fields(wrong)?.null_is_absent();
        let reader = fields.required("type", wrong)?.one_of(&readers, wrong)?;
        Some(reader(self, fields, item.span(), groups, wrong))
    }

    fn regex(&mut self, mut fields: Fields<'_>, _: Span, _: usize, wrong: &mut Vec<Problem>) -> Read {
        let field = fields.required("regex", wrong);
        let pattern = field.as_ref().and_then(|field| field.text(wrong));
        let (speaker, position) = self.target(&mut fields, wrong);
        let negate = fields.boolean("negate", wrong).unwrap_or_default();
        self.unread(&fields);
        let mut test = None;
        if let (Some(field), Some(pattern)) = (&field, pattern) {
            match js_regex::compile(pattern) {
                Ok(regex) => test = Some(Test::Regex(regex)),
                Err(error) => field.refuse(format!("the pattern cannot be used: {error}"), wrong),
            }
            self.said.extend(trap(pattern, self.source, field.span()));
        }
        let pattern = pattern.unwrap_or_default().into();
        (ConditionKind::Regex { pattern, negate, speaker, position, seen: None }, test)
    }

    /// The speaker, and the index among their messages: by default the newest message of anyone.
    fn target(&mut self, fields: &mut Fields<'_>, wrong: &mut Vec<Problem>) -> (Speaker, i64) {
        let default = (Speaker::Anyone, -1);
        let Some(field) = fields.optional("target") else { return default };
        let Some(target) = field.fields(wrong) else { return default };
        let mut target = target.null_is_absent();
        let speakers = [("user", Speaker::User), ("assistant", Speaker::Assistant)];
        let role = target.optional("role").and_then(|role| role.one_of(&speakers, wrong));
        let position = target.optional("position").and_then(|position| whole(&position, wrong));
        self.unread(&target);
        let (speaker, position) = (role.unwrap_or(default.0), position.unwrap_or(default.1));
        match (speaker, position) {
            (Speaker::Assistant, -1) => self.said.push(warn::own_message(self.source, field.span())),
            (Speaker::Assistant, ..-1) if !self.settled => {
                self.said.push(warn::pending_call(self.source, field.span()));
            }
            _ => {}
        }
        (speaker, position)
    }

    fn liquid(&mut self, mut fields: Fields<'_>, _: Span, _: usize, wrong: &mut Vec<Problem>) -> Read {
        let field = fields.required("liquid", wrong);
        let text = field.as_ref().and_then(|field| field.text(wrong));
        self.unread(&fields);
        let mut test = None;
        if let (Some(field), Some(text)) = (&field, text) {
            match liquid::parse(text) {
                Ok(template) => {
                    match warn::plain(text, &template) {
                        Some(problem) => field.refuse(problem, wrong),
                        None => self.said.extend(warn::template(text, &template, self.source, field.span())),
                    }
                    test = Some(Test::Liquid(template));
                }
                Err(error) => field.refuse(format!("the template cannot be used: {error}"), wrong),
            }
        }
        (ConditionKind::Liquid { template: text.unwrap_or_default().into(), printed: None }, test)
    }

    /// Reports contradictions between conditions of one list.
    fn joined(&mut self, join: Join, conditions: &Option<Vec<Node>>, list: Option<&source::Node>) {
        let spans = list.and_then(source::Node::as_seq).unwrap_or_default().iter().map(|item| item.span);
        let spans: Vec<Span> = spans.collect();
        let conditions = conditions.as_deref().unwrap_or_default();
        self.said.extend(warn::contradiction(join, conditions, &spans, self.source));
    }

    fn group(&mut self, mut fields: Fields<'_>, span: Span, groups: usize, wrong: &mut Vec<Problem>) -> Read {
        let join = fields
            .required("operator", wrong)
            .and_then(|field| field.one_of(&[("AND", Join::And), ("OR", Join::Or)], wrong));
        if groups >= DEEPEST {
            let message = format!("groups nest deeper than {DEEPEST}");
            wrong.push(Problem::new(ProblemKind::BadValue, fields.head(), message));
            return (ConditionKind::Group(join), None);
        }
        let list = fields.required("conditions", wrong);
        let conditions = list
            .as_ref()
            .and_then(|field| field.list(wrong, |item, _| Some(self.condition(&item, groups + 1))));
        if let (Some(join), Some(list)) = (join, &list) {
            self.joined(join, &conditions, Some(list.node));
        }
        self.unread(&fields);
        if conditions.as_ref().is_some_and(Vec::is_empty) {
            wrong.push(Problem::new(ProblemKind::BadValue, span, "the group has no conditions"));
        }
        let test = join.zip(conditions).map(|(join, conditions)| Test::Group(join, conditions));
        (ConditionKind::Group(join), test)
    }

    /// Reports the problems, and returns the first of them as the cause.
    fn wrong(&mut self, problems: Vec<Problem>) -> Option<Arc<str>> {
        let cause = problems.first().map(|problem| problem.message.as_str().into());
        for problem in problems {
            let message = format!("this always counts as matched: {}", problem.message);
            let mut diagnostic =
                Diagnostic::warning(codes::CONDITION_UNEVALUABLE, message).at(self.source, problem.span);
            diagnostic.help = problem.help;
            self.said.push(diagnostic);
        }
        cause
    }

    /// Reports unknown keys. The measured system ignores them; one that is nearly a known key is a slip, and ignoring
    /// it would change the plan.
    fn unread(&mut self, fields: &Fields<'_>) {
        for (key, problem) in fields.unknown_keys() {
            let slip = fields.known().any(|known| edits(key, known) <= SLIP);
            let severity = if slip { Severity::Error } else { Severity::Warning };
            let mut diagnostic = Diagnostic::from_problem(problem, self.source).severity(severity);
            if diagnostic.message == "unknown key `negate`" {
                diagnostic.help = Some(
                    "only a `regex` condition can be negated: let a template print the opposite, and \
                     negate the patterns within a group"
                        .to_owned(),
                );
            }
            self.said.push(diagnostic);
        }
    }
}

/// A whole number, as JavaScript sees it: `1.0` is one. Numbers too large for any history keep their sign.
fn whole(field: &Field<'_>, wrong: &mut Vec<Problem>) -> Option<i64> {
    let number = field.number(wrong)?;
    let read = number.as_i64().or_else(|| {
        let number: f64 = number.as_str().parse().ok()?;
        #[expect(clippy::cast_possible_truncation, reason = "a float beyond the range becomes its end")]
        (number.fract() == 0.0).then_some(number as i64)
    });
    if read.is_none() {
        field.refuse(format!("expected a whole number for `position`, found `{number}`"), wrong);
    }
    read
}
