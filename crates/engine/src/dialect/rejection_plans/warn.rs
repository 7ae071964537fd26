//! Traps in a plan's text that change no meaning: the text is kept as written, and its effect is reported.

use std::cell::Cell;
use std::sync::Arc;

use super::facts::{ConditionKind, Join};
use super::plan::Node;
use super::template;
use crate::dialect::rejection_plans::codes;
use crate::monitor::history::Speaker;
use rulestep_base::diagnostic::{Diagnostic, code};
use rulestep_base::source::{Source, Span, quoted};
use rulestep_template::liquid::{Scope, Template, Value};

/// A pattern that must be found and must not be found in one message.
pub(super) fn contradiction(
    join: Join,
    conditions: &[Node],
    spans: &[Span],
    source: &Source,
) -> Option<Diagnostic> {
    let regex = |node: &Node| match &node.kind {
        ConditionKind::Regex { pattern, negate, speaker, position, .. } => {
            Some((Arc::clone(pattern), *speaker, *position, *negate))
        }
        _ => None,
    };
    let all: Vec<_> = conditions.iter().map(regex).zip(spans).collect();
    let opposite = all.iter().enumerate().find_map(|(at, (own, span))| {
        let (pattern, speaker, position, negate) = own.as_ref()?;
        let is_opposite = |other: &(Arc<str>, Speaker, i64, bool)| {
            (&other.0, other.1, other.2, other.3) == (pattern, *speaker, *position, !*negate)
        };
        let other = all.iter().take(at).find(|(other, _)| other.as_ref().is_some_and(is_opposite))?;
        Some((**span, *other.1))
    });
    let (span, other) = opposite?;
    let message = match join {
        Join::And => "the pattern must be found and not be found in the same message, so this never matches",
        Join::Or => "the pattern is found in the message or it is not, so this always matches",
    };
    let told = Diagnostic::warning(code::CONTRADICTORY_CONDITIONS, message).at(source, span);
    Some(told.related(source, other, "the opposite condition is here"))
}

/// A guard on the model's newest message meets the message that makes the call.
pub(super) fn own_message(source: &Source, span: Span) -> Diagnostic {
    let message = "this looks at the message that makes the call if it has text, not at the one before it";
    Diagnostic::warning(codes::GUARD_MEETS_OWN_MESSAGE, message)
        .at(source, span)
        .help("if the model announces its calls, look at a message of the user or use `position: -2`")
}

/// Which message is meant depends on how the voice platform counts.
pub(super) fn pending_call(source: &Source, span: Span) -> Diagnostic {
    let message =
        "which message this is depends on whether a call without text counts as the model's newest message";
    Diagnostic::warning(codes::PENDING_CALL_UNSETTLED, message).at(source, span).help(
        "write `pending_call: counts` in the plan if the call is message -1 where the plan runs, else `pending_call: left_out`",
    )
}

/// The problem of a template without anything to fill in, unless it is `true` or `false`.
pub(super) fn plain(text: &str, made: &Template) -> Option<String> {
    if text.contains("{{") || text.contains("{%") {
        return None;
    }
    let printed = dry(made, &|_| None).ok()?;
    (!is_answer(&printed))
        .then(|| format!("the template prints {}, which is neither `true` nor `false`", quoted(&printed)))
}

/// Effects of a template that its author hardly intended.
pub(super) fn template(text: &str, made: &Template, source: &Source, span: Span) -> Vec<Diagnostic> {
    let mut said = Vec::new();
    if dates_now(text) {
        let message =
            "`now | date` reads the milliseconds of `now` as seconds, about 56,000 years in the future";
        said.push(
            Diagnostic::warning(codes::MILLISECONDS_AS_SECONDS, message)
                .at(source, span)
                .help("write `'now' | date: …`, or `now | divided_by: 1000 | date: …`"),
        );
    }
    if let Some(printed) = without_messages(made) {
        let message =
            format!("in a session without messages the template prints {printed}, which counts as matched");
        said.push(
            Diagnostic::warning(codes::TEMPLATE_WITHOUT_ANSWER, message)
                .at(source, span)
                .help("print `true` or `false` on every path: give each `if` an `else`"),
        );
    }
    said
}

/// The output of a template before any message, if it is not a boolean. Unknown for one that reads variables.
fn without_messages(made: &Template) -> Option<String> {
    let reads_variables = Cell::new(false);
    let printed = dry(made, &|name| {
        match name {
            "messages" => return Value::list(Vec::new()).ok(),
            "now" => return Some(Value::Number(0.0)),
            _ => reads_variables.set(true),
        }
        None
    });
    match printed {
        _ if reads_variables.get() => None,
        Ok(printed) if is_answer(&printed) => None,
        Ok(printed) if printed.is_empty() => Some("nothing".to_owned()),
        Ok(printed) => Some(quoted(&printed)),
        Err(()) => None,
    }
}

fn dry(made: &Template, globals: &dyn Fn(&str) -> Option<Value>) -> Result<String, ()> {
    let printed = made.render(&Scope { globals, now: Some(0) }, template::BUDGET).map_err(drop)?;
    Ok(template::trim(&printed).to_owned())
}

fn is_answer(printed: &str) -> bool {
    matches!(printed, "true" | "false")
}

/// Whether the variable `now`, and not the text `'now'`, goes directly into `date`.
fn dates_now(text: &str) -> bool {
    text.match_indices("now").any(|(at, word)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let alone = !before.is_some_and(|letter| letter.is_alphanumeric() || "_-.'\"".contains(letter));
        let after = text.get(at + word.len()..).unwrap_or_default().trim_start();
        let filter = after.strip_prefix('|').map(str::trim_start);
        alone && filter.is_some_and(|filter| filter.starts_with("date"))
    })
}
