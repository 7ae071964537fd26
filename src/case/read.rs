//! From a text to its cases, and all their problems.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::spelling::Unread;
use super::{Aspect, Case, CaseSession, Expectation, Fact, Place, Reference, Subject, Want, inline};
use rulestep_base::diagnostic::{Diagnostic, PageKind, Severity, code};
use rulestep_base::session::AlternativeRef;
use rulestep_base::source::nearest::nearest;
use rulestep_base::source::{Field, Fields, Node, Problem, ProblemKind, Source, Span, parse, quoted};
use rulestep_engine::dialect;
use rulestep_engine::monitor::finding::RuleOutcome;
use rulestep_engine::policy::{PolicyFile, is_case, is_case_file};
use rulestep_engine::replay::{Counts, Status};
use rulestep_engine::run::{Mode, Verdict};
use rulestep_recording as recording;

/// The content of a text.
#[derive(Debug, Default)]
pub struct Cases {
    /// The cases that can be judged, in the order of the text.
    pub cases: Vec<Case>,
    /// Documents that are cases, broken ones included.
    pub found: usize,
    /// Their problems.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the cases of a text. Documents that are not cases are skipped, unless the text was `named` as one of cases, or
/// its name says that it is one.
pub fn read(source: &Source, named: bool) -> Cases {
    let named = named || is_case_file(source.name());
    let parsed = parse(source);
    let found = parsed.documents.iter().filter(|node| is_case(node)).count();
    let mut read = Cases { found, ..Cases::default() };
    if read.found > 0 || named {
        let problems = parsed.problems.into_iter();
        read.diagnostics.extend(problems.map(|problem| Diagnostic::from_problem(problem, source)));
    }
    // The part of a broken text after the break is missing.
    if read.diagnostics.iter().any(|told| told.code == code::SYNTAX) {
        return read;
    }
    if named && read.found == 0 && read.diagnostics.is_empty() {
        let told = Diagnostic::error(code::NOT_A_CASE, "the file holds no case").in_file(source.name());
        read.diagnostics.push(told.help("a case has `policy`, `session` and `expect`"));
    }
    let mut broken = !read.diagnostics.is_empty();
    for (index, node) in parsed.documents.iter().enumerate().filter(|(_, node)| is_case(node)) {
        let mut reading = Reading { source, problems: Vec::new(), told: Vec::new() };
        let case = reading.case(node, index);
        let Reading { problems, told, .. } = reading;
        broken |= !problems.is_empty() || told.iter().any(|told| told.severity == Severity::Error);
        read.diagnostics.extend(
            problems.into_iter().map(|problem| Diagnostic::from_problem(problem, source)).chain(told),
        );
        read.cases.extend(case);
    }
    // A file with a mistake in it is not judged in part.
    if broken {
        read.cases.clear();
    }
    read
}

/// Keys that only a call's expectation has.
const OF_CALLS: [&str; 5] = ["decision", "tool", "told", "reason", "findings"];

const MODES: [(&str, Mode); 2] = [("enforce", Mode::Enforce), ("shadow", Mode::Shadow)];

const VERDICTS: [Verdict; 5] =
    [Verdict::Allow, Verdict::Ask, Verdict::Deny, Verdict::Halt, Verdict::NotReached];

const STATUSES: [Status; 4] = [Status::Stopped, Status::Fail, Status::NotExercised, Status::Pass];

const OUTCOMES: [(&str, RuleOutcome); 3] = [
    ("held", RuleOutcome::Held),
    ("violated", RuleOutcome::Violated),
    ("not_exercised", RuleOutcome::NotExercised),
];

struct Reading<'s> {
    source: &'s Source,
    problems: Vec<Problem>,
    told: Vec<Diagnostic>,
}

impl Reading<'_> {
    fn case(&mut self, node: &Node, index: usize) -> Option<Case> {
        let out = &mut self.problems;
        let mut fields = Field::document(node).fields(out)?;
        let name = fields.optional("name").and_then(|name| name.name(out)).map(Arc::from);
        let description = fields.text("description", out).map(Arc::from);
        let policy = fields.required("policy", out).and_then(|policy| policies(&policy, self.source, out));
        let without = fields.list("without", out, |rule, out| {
            Some(Reference { path: rule.name(out)?.into(), span: rule.span() })
        });
        let mode = fields.optional("mode").map(|mode| mode.one_of(&MODES, out));
        let session = fields.required("session", out);
        let expect = fields.required("expect", out).and_then(|expect| expectations(&expect, out));
        fields.finish(out);
        let session = session.and_then(|session| self.session(&session));
        let (policy, documents) = policy?;
        Some(Case {
            source: self.source.clone(),
            index,
            span: node.span,
            name,
            description,
            policy,
            documents,
            without: without.unwrap_or_default(),
            session: session?,
            mode: mode.unwrap_or(Some(Mode::default()))?,
            expect: expect?,
        })
    }

    fn session(&mut self, field: &Field<'_>) -> Option<CaseSession> {
        let out = &mut self.problems;
        if field.node.as_str().is_some() {
            return Some(CaseSession::InFile { file: reference(field, out)?, id: None });
        }
        let mut unread = Unread::default();
        let mut messages = Some(field.clone());
        if field.node.as_seq().is_none() {
            let mut fields = field.fields(out)?;
            if let Some(file) = fields.optional("file") {
                let id = fields.optional("id").map(|id| id.name(out));
                fields.finish(out);
                let id = id.map_or(Some(None), |id| id.map(|id| Some(id.into())))?;
                return Some(CaseSession::InFile { file: reference(&file, out)?, id });
            }
            messages = fields.required("messages", out);
            // `messages` was taken already.
            for key in recording::SESSION_MEMBERS.into_iter().filter(|key| *key != "messages") {
                fields.take(key);
            }
            unread.of(&fields);
        }
        messages.iter().for_each(|messages| unread.messages(messages));
        out.extend(unread.misspelt);
        let others = unread.others.into_iter().map(|problem| Diagnostic::from_problem(problem, self.source));
        self.told.extend(others.map(|told| told.severity(Severity::Warning)));
        let _ = messages?.items(out)?;
        let (session, told) = inline::session(field.node, self.source);
        self.told.extend(told);
        match session.filter(|session| !session.messages.is_empty()) {
            Some(session) => Some(CaseSession::Inline(Arc::new(session))),
            None => {
                field.refuse("the session has no message", out);
                None
            }
        }
    }
}

fn reference(field: &Field<'_>, out: &mut Vec<Problem>) -> Option<Reference> {
    let path = field.name(out)?;
    if path == "-" || path.starts_with("git:") {
        field.refuse(
            format!("a case refers to files and folders by their paths, not to {}", quoted(path)),
            out,
        );
        return None;
    }
    Some(Reference { path: path.into(), span: field.span() })
}

/// The parts of a policy: paths, and documents that are written here.
fn policies(
    field: &Field<'_>,
    source: &Source,
    out: &mut Vec<Problem>,
) -> Option<(Vec<Reference>, Vec<PolicyFile>)> {
    let (before, mut paths, mut documents) = (out.len(), Vec::new(), Vec::new());
    let mut one = |item: &Field<'_>, out: &mut Vec<Problem>| match item.node.as_map() {
        Some(_) => documents.push(inline::policy(item.node, source, documents.len())),
        None => paths.extend(reference(item, out)),
    };
    match field.node.as_seq() {
        None => one(field, out),
        Some([]) => field.refuse("no policy is named", out),
        Some(_) => field.items(out)?.for_each(|item| one(&item, out)),
    }
    (out.len() == before).then_some((paths, documents))
}

fn expectations(field: &Field<'_>, out: &mut Vec<Problem>) -> Option<Vec<Expectation>> {
    if field.node.as_seq().is_none() {
        return Some(vec![expectation(field, out)?]);
    }
    let before = out.len();
    let list = field.list(out, |item, out| expectation(&item, out))?;
    if list.is_empty() && out.len() == before {
        field.refuse("the case expects nothing, so it tests nothing", out);
    }
    (out.len() == before).then_some(list)
}

/// The keys that are present determine the subject.
fn expectation(field: &Field<'_>, out: &mut Vec<Problem>) -> Option<Expectation> {
    let before = out.len();
    let mut fields = field.fields(out)?;
    let mut wants = Wishes::default();
    let any = |keys: &[&str]| keys.iter().any(|key| fields.has(key));
    let subject = if any(&["call", "index"]) || !fields.has("turn") && any(&OF_CALLS) {
        let place = place(&mut fields, out);
        of_call(&mut wants, &mut fields, out);
        place.map(Subject::Call)
    } else if any(&["turn", "visible", "hidden", "forbidden", "tools"]) {
        let turn = fields.required("turn", out).and_then(|turn| number(&turn, out));
        of_turn(&mut wants, &mut fields, out);
        turn.map(Subject::Turn)
    } else if fields.has("outcome") {
        let rule = fields.required("rule", out).and_then(|rule| rule.name(out));
        wants.one_of("outcome", Aspect::Outcome, &OUTCOMES.map(|(word, _)| word), &mut fields, out);
        wants.code("code", Aspect::Violation, &mut fields, out);
        rule.map(|rule| Subject::Rule(rule.into()))
    } else {
        of_session(&mut wants, &mut fields, out);
        Some(Subject::Session)
    };
    fields.finish(out);
    if wants.0.is_empty() && out.len() == before {
        let problem = field.problem(ProblemKind::MissingKey, "the expectation is empty");
        out.push(
            problem.help("say what, for example `{call: 2.1, decision: deny, code: resource_unmatched}`"),
        );
    }
    (out.len() == before).then_some(Expectation { subject: subject?, wants: wants.0 })
}

/// `call: 2.1`, `turn: 2, call: 1`, or `index: 4`.
fn place(fields: &mut Fields<'_>, out: &mut Vec<Problem>) -> Option<Place> {
    if let Some(index) = fields.optional("index") {
        let read = index.count(out)?;
        return match u32::try_from(read) {
            Ok(index) => Some(Place::Index(index)),
            Err(_) => {
                index.refuse("no session has this many calls", out);
                None
            }
        };
    }
    let turn = fields.optional("turn");
    let field = fields.required("call", out)?;
    if let Some(turn) = turn {
        return Some(Place::In { turn: number(&turn, out)?, call: number(&field, out)? });
    }
    // The digits as written: `2.10` is the tenth call.
    let text = field.node.as_number().map(|number| number.as_str()).or(field.node.as_str());
    let parts = text.map(|text| text.split('.').map(|part| part.parse().ok().filter(|number| *number > 0)));
    let parts: Option<Vec<u32>> = parts.and_then(Iterator::collect);
    let read = match parts.as_deref() {
        Some(&[turn, call]) => Some(Place::In { turn, call }),
        Some(&[turn, choice, call]) => Some(Place::NotTaken(AlternativeRef { turn, choice, call })),
        _ => None,
    };
    if read.is_none() {
        let problem = field
            .problem(ProblemKind::BadValue, "a call is named by its turn and its place in it, each from 1");
        out.push(
            problem.help("`call: 2.1` is the first call of turn 2; `index: 0` is the session's first call"),
        );
    }
    read
}

fn number(field: &Field<'_>, out: &mut Vec<Problem>) -> Option<u32> {
    let read = field.count(out)?;
    let number = u32::try_from(read).ok().filter(|number| *number > 0);
    if number.is_none() {
        field.refuse("turns and calls are counted from 1", out);
    }
    number
}

fn of_call<'a>(wants: &mut Wishes, fields: &mut Fields<'a>, out: &mut Vec<Problem>) {
    wants.text("tool", Aspect::Tool, fields, out);
    wants.one_of("decision", Aspect::Decision, &VERDICTS.map(Verdict::word), fields, out);
    wants.code("code", Aspect::Code, fields, out);
    wants.text("rule", Aspect::Rule, fields, out);
    wants.text("told", Aspect::Told, fields, out);
    wants.text("reason", Aspect::Reason, fields, out);
    wants.list("findings", Aspect::Findings, fields, out, known_code);
}

fn of_turn<'a>(wants: &mut Wishes, fields: &mut Fields<'a>, out: &mut Vec<Problem>) {
    wants.list("visible", Aspect::Visible, fields, out, |item, out| item.name(out));
    wants.list("hidden", Aspect::Hidden, fields, out, |item, out| item.name(out));
    wants.list("forbidden", Aspect::Forbidden, fields, out, |item, out| item.name(out));
    let tools = fields.optional("tools").and_then(|tools| tools.entries(out));
    for (tool, field) in tools.into_iter().flatten() {
        let word = match field.node.as_str() {
            Some(word @ ("visible" | "hidden")) => Some(word),
            _ => known_code(&field, out),
        };
        if let Some(word) = word {
            wants.push(Aspect::Offered(tool.into()), Fact::Word(word.into()), &field);
        }
    }
}

fn of_session<'a>(wants: &mut Wishes, fields: &mut Fields<'a>, out: &mut Vec<Problem>) {
    wants.one_of("status", Aspect::Status, &STATUSES.map(Status::word), fields, out);
    if wants.0.is_empty() && !fields.has("summary") {
        // Only places: the expectation is empty, and that is reported once.
        for key in ["call", "turn", "index", "rule"] {
            fields.take(key);
        }
        return;
    }
    if let Some(rule) = fields.optional("rule") {
        let problem =
            rule.problem(ProblemKind::BadValue, "`status` and `summary` are those of the whole session");
        out.push(problem.help("for one rule, write `{rule: NAME, outcome: violated}`"));
    }
    let Some(mut counts) = fields.mapping("summary", out) else { return };
    for counter in Counts::of_session() {
        if let Some(field) = counts.optional(counter.name)
            && let Some(number) = field.count(out)
        {
            wants.push(Aspect::Count(counter.name), Fact::Number(number), &field);
        }
    }
    counts.finish(out);
}

/// A code that a rule can have.
fn known_code<'a>(field: &Field<'a>, out: &mut Vec<Problem>) -> Option<&'a str> {
    let name = field.name(out)?;
    if dialect::page(name).is_some_and(|page| page.kind == PageKind::Finding) {
        return Some(name);
    }
    let mut problem =
        field.problem(ProblemKind::BadValue, format!("no rule gives the code {}", quoted(name)));
    let known = dialect::codes().filter(|page| page.kind == PageKind::Finding).map(|page| page.code.as_str());
    problem.help = Some(match nearest(name, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`rulestep explain` lists all codes".to_owned(),
    });
    out.push(problem);
    None
}

/// The wants of one expectation. A key whose value is null wants nothing to be there.
#[derive(Default)]
struct Wishes(Vec<Want>);

impl Wishes {
    fn push(&mut self, aspect: Aspect, expected: Fact, field: &Field<'_>) {
        let key_span = field.key_span.unwrap_or(Span::empty(field.span().start));
        self.0.push(Want { aspect, expected, key_span });
    }

    fn word<'a>(
        &mut self,
        key: &'a str,
        aspect: Aspect,
        fields: &mut Fields<'a>,
        out: &mut Vec<Problem>,
        read: impl FnOnce(&Field<'a>, &mut Vec<Problem>) -> Option<&'a str>,
    ) {
        let Some(field) = fields.optional(key) else { return };
        if field.node.is_null() {
            self.push(aspect, Fact::Nothing, &field);
        } else if let Some(word) = read(&field, out) {
            self.push(aspect, Fact::Word(word.into()), &field);
        }
    }

    fn text<'a>(&mut self, key: &'a str, aspect: Aspect, fields: &mut Fields<'a>, out: &mut Vec<Problem>) {
        self.word(key, aspect, fields, out, |field, out| field.text(out));
    }

    fn code<'a>(&mut self, key: &'a str, aspect: Aspect, fields: &mut Fields<'a>, out: &mut Vec<Problem>) {
        self.word(key, aspect, fields, out, known_code);
    }

    fn one_of<'a>(
        &mut self,
        key: &'a str,
        aspect: Aspect,
        words: &[&'static str],
        fields: &mut Fields<'a>,
        out: &mut Vec<Problem>,
    ) {
        let pairs: Vec<(&str, &str)> = words.iter().map(|word| (*word, *word)).collect();
        if let Some(field) = fields.optional(key)
            && let Some(word) = field.one_of(&pairs, out)
        {
            self.push(aspect, Fact::Word(word.into()), &field);
        }
    }

    fn list<'a>(
        &mut self,
        key: &'a str,
        aspect: Aspect,
        fields: &mut Fields<'a>,
        out: &mut Vec<Problem>,
        read: impl Fn(&Field<'a>, &mut Vec<Problem>) -> Option<&'a str>,
    ) {
        let Some(field) = fields.optional(key) else { return };
        let words = field.list(out, |item, out| read(&item, out).map(Arc::from));
        if let Some(words) = words {
            let words: BTreeSet<Arc<str>> = words.into_iter().collect();
            self.push(aspect, Fact::Words(words), &field);
        }
    }
}
