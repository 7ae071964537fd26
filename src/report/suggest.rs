//! Rules that recordings suggest: as text, Markdown, JSON, and as the comments of the documents they are written in.

use std::io::{self, Write};
use std::sync::Arc;

use serde::Serialize;

use super::coverage::{ExtentLine, extent};
use super::json::line;
use super::paint::Paint;
use super::totals::{ReadingLine, incomplete_markdown, incomplete_text};
use super::{Total, words};
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
    pub read: &'a Total,
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

/// One output.
pub struct Output {
    /// What `--format` calls it.
    pub name: &'static str,
    /// What it is, in a line.
    pub title: &'static str,
    /// Writes it.
    pub write: fn(&View<'_>, &mut dyn Write) -> io::Result<()>,
}

/// Every output; the first is the default.
pub static OUTPUTS: &[Output] = &[
    Output { name: "text", title: "Text for people", write: text },
    Output { name: "json", title: "One JSON object, which contains the policy files as text", write: json },
    Output { name: "markdown", title: "Markdown for a pull request", write: markdown },
];

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

fn text(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let paint = Paint { color: view.color };
    for (at, suggested) in view.suggestions.iter().enumerate() {
        let (sentence, support) = match suggested {
            Suggested::Tools(suggestion) => (sentence(suggestion), support(suggestion)),
            Suggested::Action(suggestion) => (action_sentence(&suggestion.rule), counted(suggestion)),
        };
        writeln!(out, "{:>2}  {}", at + 1, paint.bold(&sentence))?;
        if let Suggested::Tools(Suggestion { tools, .. }) = suggested
            && tools.len() > TOOLS
        {
            let tools: Vec<_> = tools.iter().map(|tool| words::name(tool)).collect();
            writeln!(out, "    {}", tools.join(", "))?;
        }
        writeln!(out, "    {}", paint.dim(&support))?;
    }
    match view.suggestions {
        [] => writeln!(
            out,
            "No rule has enough support; `--min-support` and `--max-violations` change what is enough."
        )?,
        _ => writeln!(out)?,
    }
    for line in incomplete_text(view.read, "looked at", paint) {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "{}", sums(view))
}

fn sums(view: &View<'_>) -> String {
    let suggestions = words::count(view.suggestions.len() as u64, "suggestion");
    let sessions = words::count(view.read.sessions, "session");
    format!(
        "{suggestions} from {sessions}; a rule is suggested if {support} sessions follow it, or calls with {support} different values (`--min-support`)",
        support = view.support
    )
}

fn markdown(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "### {}\n", sums(view))?;
    for line in incomplete_markdown(view.read, "looked at") {
        writeln!(out, "{line}\n")?;
    }
    writeln!(out, "| rule | calls | sessions | against |\n|---|--:|--:|--:|")?;
    for suggested in view.suggestions {
        let (sentence, calls, sessions, against) = match suggested {
            Suggested::Tools(of) => (sentence(of), of.calls, of.sessions, of.against),
            Suggested::Action(of) => {
                (action_sentence(&of.rule), of.calls, of.sessions, of.against + of.unsure)
            }
        };
        let sentence = super::diff::markdown::code(&sentence.replace('`', ""));
        writeln!(out, "| {sentence} | {calls} | {sessions} | {against} |")?;
    }
    Ok(())
}

#[derive(Serialize)]
struct SuggestionsLine<'a> {
    schema: &'static str,
    sessions: u64,
    #[serde(flatten)]
    reading: ReadingLine,
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
    extent: ExtentLine,
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
            extent: ExtentLine::of(extent),
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
            extent: ExtentLine::of(extent),
        }
    }
}

fn json(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let suggestions = view.suggestions.iter().map(SuggestionLine::of).collect();
    let documents = view.documents.iter().map(|of| DocumentLine { file: &of.name, text: &of.text }).collect();
    let reading = ReadingLine::of(view.read);
    line(
        &SuggestionsLine { schema: SCHEMA, sessions: view.read.sessions, reading, suggestions, documents },
        out,
    )
}
