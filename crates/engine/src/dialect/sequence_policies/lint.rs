//! Probable mistakes in a sequence policy that can be used as it is.

use std::collections::{HashMap, HashSet};

use super::explain::NamePattern;
use super::leak;
use super::unit::{Forbidden, Limit, Response};
use crate::dialect::Text;
use crate::dialect::sequence_policies::codes;
use crate::monitor::{Rule, RuleId, Rules};
use rulestep_base::diagnostic::{Diagnostic, Fix, code};
use rulestep_base::source::{Entry, Node, Span, quoted};

/// Categories that are usual.
const CATEGORIES: [&str; 3] = ["security", "cost", "correctness"];

/// The warnings about a document, in the order of its rules.
pub(super) fn warnings(text: Text<'_>) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    let mut reasons: HashMap<&str, (&str, Span)> = HashMap::new();
    let categories = written(text.node).filter_map(|(_, rule)| rule.get("reason")?.as_str()?.split_once(':'));
    let known: HashSet<&str> = categories.map(|(category, _)| category).chain(CATEGORIES).collect();
    for (kind, rule) in written(text.node) {
        let reason = rule.entry("reason").and_then(told);
        let tell_llm = rule.entry("tellLLM").and_then(told);
        if let Some((reason, span)) = reason {
            if !has_category(reason) {
                let message = format!("the reason {} names no category", quoted(reason));
                let help = "begin it with `security:`, `cost:`, `correctness:` or a category of your own";
                out.push(
                    Diagnostic::warning(codes::REASON_WITHOUT_CATEGORY, message)
                        .at(text.source, span)
                        .help(help),
                );
            }
            if let Some((one, other)) = two_categories(reason, &known) {
                let message =
                    format!("the reason names two categories, {} and {}", quoted(one), quoted(other));
                let help = "reports count it under the first one: keep one, or split the rule";
                out.push(Diagnostic::warning(code::TWO_CATEGORIES, message).at(text.source, span).help(help));
            }
            match reasons.get(reason) {
                Some((first, place)) if *first != kind => {
                    let message = format!("a {first} rule gives the reason {} as well", quoted(reason));
                    out.push(
                        Diagnostic::warning(codes::REASON_SHARED, message).at(text.source, span).related(
                            text.source,
                            *place,
                            "it is given here first",
                        ),
                    );
                }
                Some(_) => {}
                None => {
                    reasons.insert(reason, (kind, span));
                }
            }
        }
        if let Some((said, span)) = tell_llm {
            if let Some((reason, _)) = reason
                && repeats(said, reason)
            {
                let message = format!("the text for the model repeats the reason {}", quoted(reason));
                out.push(
                    Diagnostic::warning(codes::TELL_LLM_REPEATS_REASON, message)
                        .at(text.source, span)
                        .help("say what the model should do instead, or remove `tellLLM`"),
                );
            }
            if let Some((what, part)) = leak::find(said) {
                let message = format!("the text for the model holds {}: {what}", quoted(part));
                out.push(Diagnostic::notice(codes::TELL_LLM_LEAKS, message).at(text.source, span));
            }
        }
    }
    out
}

/// The warnings about rules that can be read. `own`: the document's rules, by their local numbers.
pub(super) fn rules(
    text: Text<'_>,
    forbidden: &[Forbidden],
    limits: &[Limit],
    rules: &Rules,
    own: &[RuleId],
) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    let rule = |number: usize| own.get(number).and_then(|id| rules.get(*id));
    let head = |rule: &Rule| rule.span.first_line(text.source.text());
    for (at, later) in forbidden.iter().enumerate() {
        let Some(written) = rule(later.rule) else { continue };
        let list = text.node.at(&written.pointer).and_then(|node| node.get("sequence"));
        if later.sequence.is_empty() {
            let message = "a sequence without steps is complete at once, so every call completes it";
            let span = list.map_or(written.span, |list| list.span);
            out.push(Diagnostic::warning(code::EMPTY_SEQUENCE, message).at(text.source, span));
        }
        let items = list.and_then(Node::as_seq).unwrap_or_default();
        for (step, item) in later.sequence.iter().zip(items) {
            if matches!(step, NamePattern::Prefix(prefix) if prefix.is_empty()) {
                let message = "every tool's name begins with the empty prefix";
                // After a narrower step, a wildcard for any call may well be intended.
                let any =
                    |step: &NamePattern| matches!(step, NamePattern::Prefix(prefix) if prefix.is_empty());
                let told = match later.sequence.iter().all(any) {
                    true => Diagnostic::warning(code::EMPTY_PREFIX, message),
                    false => Diagnostic::notice(code::EMPTY_PREFIX, message),
                };
                out.push(told.at(text.source, item.span));
            }
        }
        // A rule that stops nothing never decides before another.
        let twice = |earlier: &Forbidden, first: &Rule| {
            earlier.sequence == later.sequence
                && alike(&earlier.said, &later.said)
                && first.options == written.options
        };
        let mut before = forbidden.iter().take(at).filter_map(|earlier| Some((earlier, rule(earlier.rule)?)));
        let first = before.find(|(earlier, first)| {
            twice(earlier, first) || first.options.stops() && covers(&earlier.sequence, &later.sequence)
        });
        let Some((earlier, first)) = first else { continue };
        let same = twice(earlier, first);
        let (code, message, title) = match same {
            true => (code::DUPLICATE_RULE, "the document says this twice", "remove the second one"),
            false => (
                code::SHADOWED_RULE,
                "this sequence never decides: every call that completes it completes an earlier one",
                "remove the rule",
            ),
        };
        // A rule that never decides can be removed; whether it was meant to decide is up to its author.
        let fix = Fix::remove(text.source, written.span, title);
        let told = Diagnostic::warning(code, message).at(text.source, head(written));
        out.push(told.related(text.source, head(first), "this one decides first").fix(fix));
    }
    for limit in limits.iter().filter(|limit| limit.allowed == 0) {
        let Some(written) = rule(limit.rule) else { continue };
        let bound = text.node.at(&written.pointer).and_then(|node| node.get("maxPerSession"));
        let tool = quoted(&limit.tool);
        let help = format!("write `sequence: [{}]` under `forbidden`, or a limit of 1", limit.tool);
        out.push(
            Diagnostic::warning(code::ZERO_LIMIT, format!("every call to {tool} reaches a limit of 0"))
                .at(text.source, bound.map_or(head(written), |bound| bound.span))
                .help(help),
        );
    }
    out
}

/// Whether every call that completes one sequence completes the other one as well.
fn covers(sequence: &[NamePattern], other: &[NamePattern]) -> bool {
    sequence.len() <= other.len()
        && sequence.iter().rev().zip(other.iter().rev()).all(|(own, other)| own.covers(other))
}

fn alike(one: &Response, other: &Response) -> bool {
    (one.effect, &one.reason, &one.tell_llm) == (other.effect, &other.reason, &other.tell_llm)
}

/// Two categories in a reason: one after the other before the first colon, or each before a colon.
fn two_categories<'r>(reason: &'r str, known: &HashSet<&str>) -> Option<(&'r str, &'r str)> {
    let word = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let (head, _) = reason.split_once(':')?;
    let mut found: Vec<&str> = head.split(|c| !word(c)).filter(|part| known.contains(part)).collect();
    for (at, _) in reason.match_indices(':') {
        let before = reason.get(..at).unwrap_or_default();
        let last = before.rsplit(|c| !word(c)).next().unwrap_or_default();
        found.extend(Some(last).filter(|last| known.contains(last)));
    }
    let first = *found.first()?;
    found.into_iter().find(|other| *other != first).map(|other| (first, other))
}

/// Every rule with its kind, readable or not.
fn written(document: &Node) -> impl Iterator<Item = (&'static str, &Node)> {
    let forbidden = document.get("forbidden").and_then(Node::as_seq).unwrap_or_default().iter();
    let limits = document.get("limits").and_then(Node::as_map).unwrap_or_default().iter();
    forbidden.map(|rule| ("forbidden", rule)).chain(limits.map(|entry| ("limit", &entry.value)))
}

fn told(entry: &Entry) -> Option<(&str, Span)> {
    Some((entry.value.as_str()?, entry.value.span))
}

/// `security:exfiltration`: a word, a colon, and something more.
fn has_category(reason: &str) -> bool {
    reason.split_once(':').is_some_and(|(category, rest)| {
        let word = |char: char| char.is_alphanumeric() || char == '-' || char == '_';
        !category.is_empty() && category.chars().all(word) && !rest.trim().is_empty()
    })
}

/// Whether a text repeats the reason, or the part after its category.
fn repeats(said: &str, reason: &str) -> bool {
    let (said, reason) = (plain(said), plain(reason));
    let rest = reason.split_once(':').map_or("", |(_, rest)| rest.trim());
    // Short words occur in any sentence: `cost:api` may well have a message about an API.
    let telling = rest.chars().count() >= 12 || rest.contains(' ');
    !reason.is_empty() && said.contains(&reason) || telling && said.contains(rest)
}

/// Lower case, and blanks for the signs that join words.
fn plain(text: &str) -> String {
    text.to_lowercase().replace(['-', '_'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn categories() {
        for good in ["security:exfiltration", "cost: api", "data-loss:x", "pii_leak:a:b"] {
            assert!(has_category(good), "{good}");
        }
        for bad in ["", "too many refunds", "security:", ":x", "a b:c", "security: "] {
            assert!(!has_category(bad), "{bad}");
        }
    }

    #[test]
    fn reasons_with_two_categories() {
        let known = HashSet::from(["security", "cost", "correctness", "pii"]);
        for (reason, expected) in [
            ("security:exfiltration, cost:api", Some(("security", "cost"))),
            ("security/cost: both", Some(("security", "cost"))),
            ("security,cost:x", Some(("security", "cost"))),
            ("security:cost:runaway", Some(("security", "cost"))),
            ("pii:x; correctness: y", Some(("pii", "correctness"))),
            ("security:a:b", None),
            ("security:the cost of it", None),
            ("security:a security:b", None),
            ("cost", None),
            ("", None),
        ] {
            assert_eq!(two_categories(reason, &known), expected, "{reason}");
        }
    }

    #[test]
    fn repetitions() {
        assert!(repeats("blocked: security:exfiltration", "security:exfiltration"));
        assert!(repeats("That looks like a data exfiltration", "security:data-exfiltration"));
        assert!(!repeats("The API is busy.", "cost:api"));
        assert!(!repeats("This combination is restricted.", "security:exfiltration"));
        assert!(!repeats("anything", ""));
    }
}
