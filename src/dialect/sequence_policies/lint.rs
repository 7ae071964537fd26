//! What is probably not meant in a sequence policy, though it can be used as it is.

use std::collections::HashMap;

use super::leak;
use crate::diagnostic::Diagnostic;
use crate::dialect::Text;
use crate::dialect::sequence_policies::codes;
use crate::source::{Entry, Node, Span, quoted};

/// The warnings about a document, in the order of its rules.
pub(super) fn warnings(text: Text<'_>) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    let mut reasons: HashMap<&str, (&str, Span)> = HashMap::new();
    for (kind, rule) in rules(text.node) {
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

/// Every rule with its kind, readable or not.
fn rules(document: &Node) -> impl Iterator<Item = (&'static str, &Node)> {
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

/// Whether a text says the reason, or what comes after its category in words of one's own spelling.
fn repeats(said: &str, reason: &str) -> bool {
    let (said, reason) = (plain(said), plain(reason));
    let rest = reason.split_once(':').map_or("", |(_, rest)| rest.trim());
    // Short words occur in any sentence: `cost:api` may well be told of an API.
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
    fn repetitions() {
        assert!(repeats("blocked: security:exfiltration", "security:exfiltration"));
        assert!(repeats("That looks like a data exfiltration", "security:data-exfiltration"));
        assert!(!repeats("The API is busy.", "cost:api"));
        assert!(!repeats("This combination is restricted.", "security:exfiltration"));
        assert!(!repeats("anything", ""));
    }
}
