//! Rules that recordings suggest: a document, JSON, and as the comments of the documents they are written in.

use std::io::{self, Write};
use std::sync::Arc;

use serde::Serialize;

use super::counts::incomplete;
use super::coverage::extent;
use super::doc::{Body, Doc, List, Section, Span};
use super::formats::Report;
use super::json::line;
use super::{Completeness, RunCounts, words};
use crate::explore::occurrence::Extent;
use crate::suggest::action::{self, Action, ActionRule, ActionSuggestion, Suggested};
use crate::suggest::{Claim, Side, Suggestion};

/// The shape of the JSON.
pub const SCHEMA: &str = "rulestep.suggestions/1";

/// Tools that a sentence names.
const TOOLS: usize = 3;

/// What is written, and how.
pub struct View<'a> {
    /// The suggestions, the best first.
    pub suggestions: &'a [Suggested],
    /// The documents that hold them.
    pub documents: &'a [WrittenDocument],
    /// How completely the recordings were read.
    pub read: &'a RunCounts,
    /// The fewest sessions, or different values that calls share, for a rule to be suggested.
    pub support: u64,
    /// Whether text may be coloured.
    pub color: bool,
}

/// A document of suggested rules.
pub struct WrittenDocument {
    /// The file's name.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The name of its dialect.
    pub dialect: &'static str,
}

impl Report for View<'_> {
    const JSON: &'static str = "One JSON object, which contains the policy files as text";

    fn doc(&self) -> Doc {
        let items = self.suggestions.iter().map(|suggested| {
            let (sentence, tools, support) = match suggested {
                Suggested::Tools(of) => (sentence(of), &*of.tools, support(of)),
                Suggested::Action(of) => (action_sentence(&of.rule), &[] as &[_], counted(of)),
            };
            let named = || tools.iter().map(|tool| words::name(tool)).collect::<Vec<_>>().join(", ");
            let named = (tools.len() > TOOLS).then(|| vec![Span::name(named())]);
            let lines = named.into_iter().chain([vec![Span::detail(support)]]).collect();
            (vec![Span::subject(sentence)], lines)
        });
        let items: Vec<_> = items.collect();
        let none = items.is_empty().then(|| {
            let none =
                "No rule has enough support; `--min-support` and `--max-violations` change what is enough.";
            (false, none.to_owned())
        });
        let list = Section { body: Body::List(List { numbered: true, items }), ..Section::default() };
        Doc {
            title: Some(sums(self)),
            notes: none.iter().cloned().chain(incomplete(self.read, "looked at")).collect(),
            sections: if none.is_some() { Vec::new() } else { vec![list] },
        }
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        json(self, out)
    }

    fn color(&self) -> bool {
        self.color
    }
}

/// What a suggestion says of its tools: `issue_refund needs an earlier check_eligibility with the same order_id`.
pub fn sentence(suggestion: &Suggestion) -> String {
    let several = suggestion.tools.len() > 1;
    let tools = named(&suggestion.tools);
    match &suggestion.claim {
        Claim::Needs(need) => {
            let verb = if several { "need" } else { "needs" };
            let prior = words::name(&need.prior);
            let same = need.shared.as_ref().map(|shared| {
                let (own, theirs) = (member(&shared.path), member(&shared.prior_path));
                match shared.side {
                    Side::Arguments if shared.path == shared.prior_path => format!(" with the same {own}"),
                    Side::Arguments => format!(" whose {theirs} is this call's {own}"),
                    Side::Output if &*shared.prior_path == "$" => format!(" that returned this call's {own}"),
                    Side::Output => format!(" whose result has this call's {own} as {theirs}"),
                }
            });
            let same = same.unwrap_or_default();
            let result = need.result.as_ref().map(|(path, value)| {
                let value = words::line(value);
                format!(", and a result with {} = {value}", member(path))
            });
            format!("{tools} {verb} an earlier {prior}{same}{}", result.unwrap_or_default())
        }
        Claim::Once => format!("{tools} {} at most once per session", if several { "run" } else { "runs" }),
        Claim::NeverAfter(earlier) => {
            format!("{tools} never {} after {}", if several { "run" } else { "runs" }, words::name(earlier))
        }
    }
}

/// What a rule about what calls do says: `` `git push` needs an earlier success of `cargo test` ``.
pub fn action_sentence(rule: &ActionRule) -> String {
    let code = |action: &Action| format!("`{action}`");
    match rule {
        ActionRule::Needs { then, first } => {
            let one = if first.len() > 1 { "one of " } else { "" };
            format!("{} needs an earlier success of {one}{}", code(then), words::list(first.iter().map(code)))
        }
        ActionRule::KnownFiles(tool) => {
            format!("{} changes only files that were read or written before", words::name(tool))
        }
        ActionRule::DeletesInside => {
            "nothing is deleted outside the project and folders for temporary files".to_owned()
        }
        ActionRule::WritesInside => {
            "nothing is written outside the project and folders for temporary files".to_owned()
        }
        ActionRule::SecretsStay => "nothing reaches another machine after a secret was read".to_owned(),
        ActionRule::NeverAfter { trigger, forbidden } => {
            format!("{} never runs after {}", code(forbidden), code(trigger))
        }
        ActionRule::Once(action) => format!("{} succeeds at most once per session", code(action)),
    }
}

/// How many calls satisfy it, and which do not: `141 of 141 calls in 62 sessions`.
pub fn support(suggestion: &Suggestion) -> String {
    let Suggestion { calls, against, sessions, .. } = *suggestion;
    supported(calls, against, sessions, &suggestion.extent)
}

/// The same of a rule about what calls do.
pub fn counted(suggestion: &ActionSuggestion) -> String {
    let ActionSuggestion { calls, against, sessions, unsure, .. } = *suggestion;
    let none = Extent::default();
    let mut text = supported(calls, against, sessions, if against > 0 { &suggestion.extent } else { &none });
    if unsure > 0 {
        let calls = words::count(unsure, "more call");
        text.push_str(&format!("; {calls} would be stopped because it is not known what they do"));
        if unsure == 1 {
            text = text.replace("what they do", "what it does");
        }
    }
    text
}

fn supported(calls: u64, against: u64, sessions: u64, of: &Extent) -> String {
    let all = words::count(calls + against, "call");
    let mut text = format!("{} of {all} in {}", words::thousands(calls), words::count(sessions, "session"));
    if let Some(extent) = extent(of) {
        text.push_str(&format!("; against it: {extent}"));
    }
    text
}

fn named(tools: &[Arc<str>]) -> String {
    let names: Vec<String> = tools.iter().take(TOOLS).map(|tool| words::name(tool).into_owned()).collect();
    match (names.split_last(), tools.len().saturating_sub(TOOLS)) {
        (None, _) => String::new(),
        (Some((last, [])), 0) => last.clone(),
        (Some((last, others)), 0) => format!("{} and {last}", others.join(", ")),
        (Some(_), more) => format!("{} and {} more", names.join(", "), words::thousands(more as u64)),
    }
}

/// A path as people call it: `$.order_id` is `order_id`.
fn member(path: &str) -> String {
    words::line(path.strip_prefix("$.").unwrap_or(path))
}

fn sums(view: &View<'_>) -> String {
    let suggestions = words::count(view.suggestions.len() as u64, "suggestion");
    let sessions = words::count(view.read.counts.sessions, "session");
    format!(
        "{suggestions} from {sessions}; a rule is suggested if {support} sessions follow it, or calls with {support} different values (`--min-support`)",
        support = view.support
    )
}

#[derive(Serialize)]
struct SuggestionsLine<'a> {
    schema: &'static str,
    sessions: u64,
    #[serde(flatten)]
    reading: Completeness,
    suggestions: Vec<SuggestionLine<'a>>,
    documents: Vec<DocumentLine<'a>>,
}

#[derive(Serialize)]
struct SuggestionLine<'a> {
    sentence: String,
    claim: &'static str,
    tools: &'a [Arc<str>],
    #[serde(flatten)]
    detail: Option<DetailLine<'a>>,
    /// A rule about what calls do, as its document has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<serde_json::Value>,
    calls: u64,
    sessions: u64,
    against: u64,
    /// Calls that a rule about what calls do would stop because of a doubt.
    #[serde(skip_serializing_if = "Option::is_none")]
    unsure: Option<u64>,
    #[serde(flatten)]
    extent: &'a Extent,
}

#[derive(Serialize)]
struct DetailLine<'a> {
    prior: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prior_in: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prior_path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<ResultLine<'a>>,
}

#[derive(Serialize)]
struct ResultLine<'a> {
    path: &'a str,
    equals: Option<Box<serde_json::value::RawValue>>,
}

#[derive(Serialize)]
struct DocumentLine<'a> {
    file: &'a str,
    text: &'a str,
}

fn detail(claim: &Claim) -> Option<DetailLine<'_>> {
    let none = DetailLine { prior: "", path: None, prior_in: None, prior_path: None, result: None };
    match claim {
        Claim::Once => None,
        Claim::NeverAfter(earlier) => Some(DetailLine { prior: earlier, ..none }),
        Claim::Needs(need) => Some(DetailLine {
            prior: &need.prior,
            path: need.shared.as_ref().map(|shared| &*shared.path),
            prior_in: need.shared.as_ref().map(|shared| match shared.side {
                Side::Arguments => "arguments",
                Side::Output => "output",
            }),
            prior_path: need.shared.as_ref().map(|shared| &*shared.prior_path),
            result: need.result.as_ref().map(|(path, value)| ResultLine {
                path,
                equals: serde_json::value::RawValue::from_string(value.to_string()).ok(),
            }),
        }),
    }
}

impl<'a> SuggestionLine<'a> {
    fn of(suggested: &'a Suggested) -> SuggestionLine<'a> {
        let suggestion = match suggested {
            Suggested::Tools(suggestion) => suggestion,
            Suggested::Action(suggestion) => return SuggestionLine::of_action(suggestion),
        };
        let Suggestion { claim, tools, calls, sessions, against, extent } = suggestion;
        SuggestionLine {
            sentence: sentence(suggestion),
            claim: match claim {
                Claim::Needs(_) => "needs",
                Claim::Once => "once",
                Claim::NeverAfter(_) => "never_after",
            },
            tools,
            detail: detail(claim),
            rule: None,
            calls: *calls,
            sessions: *sessions,
            against: *against,
            unsure: None,
            extent,
        }
    }

    fn of_action(suggestion: &'a ActionSuggestion) -> SuggestionLine<'a> {
        let ActionSuggestion { rule, calls, sessions, against, unsure, extent } = suggestion;
        SuggestionLine {
            sentence: action_sentence(rule),
            claim: match rule {
                ActionRule::Needs { .. } => "needs",
                ActionRule::KnownFiles(_) => "known_files",
                ActionRule::DeletesInside | ActionRule::WritesInside => "never",
                ActionRule::SecretsStay | ActionRule::NeverAfter { .. } => "never_after",
                ActionRule::Once(_) => "once",
            },
            tools: match rule {
                ActionRule::KnownFiles(tool) => std::slice::from_ref(tool),
                _ => &[],
            },
            detail: None,
            rule: Some(action::rule(rule)),
            calls: *calls,
            sessions: *sessions,
            against: *against,
            unsure: Some(*unsure),
            extent,
        }
    }
}

fn json(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let suggestions = view.suggestions.iter().map(SuggestionLine::of).collect();
    let documents = view.documents.iter().map(|of| DocumentLine { file: &of.name, text: &of.text }).collect();
    let reading = view.read.reading.clone();
    line(
        &SuggestionsLine {
            schema: SCHEMA,
            sessions: view.read.counts.sessions,
            reading,
            suggestions,
            documents,
        },
        out,
    )
}
