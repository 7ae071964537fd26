//! Probable mistakes in sequence rules that can be read.

use std::sync::Arc;

use super::asks::label;
use super::facts::{Order, ToolName};
use crate::dialect::pattern::truth;
use crate::dialect::sequence_rules::codes;
use rulestep_base::diagnostic::{Code, Diagnostic, Fix, code};
use rulestep_base::source::wildcard::is_quote;
use rulestep_base::source::{Node, NodeValue, Source, Span, quoted};

/// An id that says nothing, or none.
pub(super) fn test_id(id: Option<&str>) -> Option<Diagnostic> {
    let help = "say what it is about, as in `verify_before_delete`";
    let Some(id) = id else {
        return Some(Diagnostic::warning(codes::VAGUE_ID, "the test has no id").help(help));
    };
    let word = id.trim_end_matches(|c: char| c.is_ascii_digit());
    let numbered = word.len() < id.len();
    let word = word.trim_matches(['_', '-', '.', ' ', '#']).to_ascii_lowercase();
    let vague = matches!(word.as_str(), "" | "t" | "test" | "tests" | "case" | "rule" | "check" | "spec");
    (numbered && vague).then(|| {
        let message = format!("the id {} does not say what the test is about", quoted(id));
        Diagnostic::warning(codes::VAGUE_ID, message).help(help)
    })
}

/// The old form.
pub(super) fn old_sequences() -> Diagnostic {
    let message = "lists of names in `sequences` are the old form, read as `before` rules between neighbours";
    Diagnostic::notice(codes::OLD_SEQUENCES, message).help("`rulestep migrate` writes them out")
}

/// A list of the old form without a pair in it.
pub(super) fn short_sequence() -> Diagnostic {
    Diagnostic::warning(code::NEVER_MET, "a sequence of fewer than two names requires nothing")
}

/// A pattern that is meant as a glob, or that blocks everything.
pub(super) fn pattern(pattern: &str) -> Option<Diagnostic> {
    if pattern.is_empty() {
        let message = "an empty pattern is contained in every name, so every call breaks the rule";
        return Some(Diagnostic::warning(code::NEVER_MET, message));
    }
    let signs = |letter: char| matches!(letter, '*' | '?' | '^' | '$' | '|' | '[' | '{' | '(' | '\\');
    let trimmed = pattern.trim();
    let unquoted = trimmed.trim_matches(is_quote);
    let sign = pattern.find(signs).and_then(|at| pattern.get(at..=at));
    let what = match sign {
        Some("*" | "?") => "the star".to_owned(),
        Some(sign) => quoted(sign),
        None if trimmed != pattern => "the blanks at its ends".to_owned(),
        None if unquoted != pattern && !unquoted.is_empty() => "the quotation marks".to_owned(),
        None => return None,
    };
    let message = format!("{} is matched literally, including {what}", quoted(pattern));
    let help = match globs(trimmed) {
        _ if sign.is_none() => format!("write `pattern: {unquoted}`"),
        Some(globs) => format!("write `tools: [{}]` for names that match it", globs.join(", ")),
        None => "write in `tools` the names that are meant, where `*` matches any text".to_owned(),
    };
    Some(Diagnostic::warning(codes::STAR_IN_PATTERN, message).help(help))
}

/// An expression, or a glob that is searched in names, as globs over whole names.
fn globs(pattern: &str) -> Option<Vec<String>> {
    let plain = !pattern.contains(['^', '$', '|']);
    let one = |part: &str| {
        let (begins, rest) = part.strip_prefix('^').map_or((false, part), |rest| (true, rest));
        let (ends, rest) = rest.strip_suffix('$').map_or((false, rest), |rest| (true, rest));
        let text = rest.replace(".*", "*");
        // A star at an end means that the name may continue there, whatever anchors the ends have.
        let (begins, ends) = (begins && !text.starts_with('*'), ends && !text.ends_with('*'));
        let text = text.trim_matches(|letter| matches!(letter, '*') && !plain);
        let simple = |letter: char| !matches!(letter, '^' | '$' | '[' | '{' | '(' | ')' | '\\' | '+');
        let glob = match plain {
            true => text.to_owned(),
            false => format!("{}{text}{}", if begins { "" } else { "*" }, if ends { "" } else { "*" }),
        };
        (!text.is_empty() && text.chars().all(simple)).then(|| format!("\"{glob}\""))
    };
    pattern.split('|').map(one).collect()
}

/// An alias where aliases are not looked up.
pub(super) fn alias_in_list(name: &str) -> Diagnostic {
    let message = format!("{} is an alias, and these lists do not resolve aliases", quoted(name));
    Diagnostic::warning(codes::ALIAS_IN_LIST, message).help("list the alias's members")
}

/// The warning for a key about unknowns in a rule that has none.
pub(super) fn idle_key(key: &str) -> Diagnostic {
    let message = format!("`{key}` has no effect: the rule matches only tools and arguments");
    let help =
        "match what the call does with `runs`, `reads`, `writes`, `deletes` or `reaches`, or remove the key";
    Diagnostic::warning(codes::IDLE_KEY, message).help(help)
}

/// Rows of `facts` that no rule of the document uses.
pub(super) fn idle_facts() -> Diagnostic {
    let message = "`facts` has no effect: the rules of this document match only tools and arguments";
    let help = "match what calls do with `runs`, `reads`, `writes`, `deletes` or `reaches` in this document, or remove the key";
    Diagnostic::warning(codes::IDLE_KEY, message).help(help)
}

/// A doubt about which a person would be asked, in a rule that stops no call.
pub(super) fn nobody_asked(key: &str, like: &str) -> Diagnostic {
    let message = format!("`{key}: ask` is the same as `{like}` here: a rule of this type stops no call");
    Diagnostic::warning(codes::IDLE_KEY, message).help(format!("write `{key}: {like}`, or remove the key"))
}

/// The warning for a name that is nearly that of an alias, and so is the name of a tool.
pub(super) fn misspelt_alias(name: &str, alias: &str) -> Diagnostic {
    let message = format!(
        "{} is not an alias, so only a tool of this name is meant; an alias is called {}",
        quoted(name),
        quoted(alias)
    );
    Diagnostic::warning(code::MISSPELT_TOOL, message).help(format!("did you mean {}?", quoted(alias)))
}

/// A command line in place of a tool's name. `instead` is its form under `runs`.
pub(super) fn command_as_tool(name: &str, instead: &str) -> Diagnostic {
    let message = format!("{} is a command, and only a tool of this name is meant", quoted(name));
    let help = format!("agents run commands with a tool; to mean the command, write `runs` with {instead}");
    Diagnostic::warning(code::MISSPELT_TOOL, message).help(help)
}

/// An alias that no rule names.
pub(super) fn unused_alias(name: &str) -> Diagnostic {
    Diagnostic::warning(codes::UNUSED_ALIAS, format!("no rule names the alias {}", quoted(name)))
}

/// The warning for a value of the context that hardly any session has: the rule would not apply where it should.
pub(super) fn when(key: &str, value: &Node, written: &str) -> Option<Diagnostic> {
    let key = quoted(&format!("context.{key}"));
    let (message, help) = match &value.value {
        NodeValue::Seq(_) => (
            format!(
                "{key} is compared with the list as a whole, so the rule does not apply in sessions with only one of its values"
            ),
            "write the rule once for each value".to_owned(),
        ),
        NodeValue::Map(_) => (
            format!(
                "{key} is compared with the mapping as a whole, so the rule does not apply in sessions that have more keys in it"
            ),
            "write the key of each value with dots, as in `context.user.role`".to_owned(),
        ),
        NodeValue::String(text) if spells_another_type(text) => (
            format!(
                "the text \"{text}\" never equals the value {text}, so the rule is off in sessions with that"
            ),
            format!("write {text} without quotes"),
        ),
        NodeValue::String(text) if written == text => {
            let truth = truth(text)?;
            (
                format!(
                    "`{text}` is a text, which never equals the value {truth}, so the rule is off in sessions with that"
                ),
                format!("write `{truth}`, or \"{text}\" in quotes if sessions have this text"),
            )
        }
        NodeValue::Null => (
            format!("{key} is compared with null, so the rule is off in sessions that have a value there"),
            "write the value that the rule is for".to_owned(),
        ),
        _ => return None,
    };
    Some(Diagnostic::warning(code::WHEN_NEVER_EQUAL, message).help(help))
}

fn spells_another_type(text: &str) -> bool {
    matches!(text, "true" | "false" | "null") || text.parse::<serde_json::Number>().is_ok()
}

/// An argument pattern that cannot be compiled.
pub(super) fn broken_pattern(pattern: &str, error: &regex::Error) -> Diagnostic {
    let told = error.to_string();
    let why = told.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let message = format!("{} is not a regular expression, so it never matches: {why}", quoted(pattern));
    Diagnostic::warning(codes::BROKEN_PATTERN, message)
}

/// The warning for a rule that always gives one answer, or that names one tool on both sides. `members`: the tools of
/// an alias.
pub(super) fn order<'m>(
    order: &Order,
    members: &dyn Fn(&str) -> Option<&'m [Arc<str>]>,
) -> Option<Diagnostic> {
    let equal = |left: &ToolName, right: &ToolName, what: &str| {
        (left == right).then(|| {
            let named = left.does.as_ref().filter(|_| left.tool.is_empty());
            let named = named.map_or_else(|| quoted(&left.tool), |question| label(question));
            let message = format!("both sides name {named}: {what}");
            Diagnostic::warning(codes::EQUAL_OPERANDS, message)
        })
    };
    let never = |what: &str| Some(Diagnostic::warning(code::NEVER_MET, what));
    if let Some(empty) =
        order.operands().iter().find(|named| members(&named.tool).is_some_and(<[_]>::is_empty))
    {
        return never(&format!("the alias {} names no tool, so no call is meant", quoted(&empty.tool)));
    }
    match order {
        Order::Before { first, or, then, same } if or.is_empty() && same.is_empty() => {
            then.iter().find_map(|then| {
                let own = "a call is its own `first`, so no call breaks the rule";
                equal(first, then, own).or_else(|| within(first, then, members, own))
            })
        }
        Order::ImmediatelyBefore { first, then } => {
            then.iter().find_map(|then| equal(first, then, "the first call of all breaks the rule"))
        }
        Order::NeverAfter { trigger, forbidden, until: Some(until) } => {
            equal(trigger, until, "the prohibition is never lifted")
                .or_else(|| equal(forbidden, until, "what would lift it is forbidden itself"))
        }
        Order::NeverAfter { trigger, forbidden, until: None } => {
            equal(trigger, forbidden, "the second call breaks the rule")
                .map(|d| d.help("write `max_calls` with `max: 1`, which means the same"))
        }
        Order::After { within: 0, .. } => {
            never("`within: 0` leaves no room for a call, so the rule is never met")
        }
        Order::After { trigger, then, .. } => equal(trigger, then, "every call needs another one after it"),
        Order::Eventually { within: 0, .. } => {
            never("`within: 0` leaves no room for a call, so the rule is never met")
        }
        Order::Sequence { tools, .. } if tools.is_empty() => {
            never("a sequence without steps requires nothing")
        }
        Order::Sequence { tools, .. } if tools.len() == 1 => {
            never("no call breaks a sequence with one step, and no session violates it")
                .map(|told| told.help("write `require` for a tool that a session must call"))
        }
        Order::Blocklist { pattern: None, tools } if tools.is_empty() => {
            never("no call breaks an empty blocklist")
        }
        Order::Allowlist { tools, .. } if tools.iter().any(|tool| matches!(&**tool, "*" | "**")) => {
            never("no call breaks an allowlist with `*`")
                .map(|told| told.help("list the tools that may be called, or write a `blocklist`"))
        }
        Order::Allowlist { tools, calls } if tools.is_empty() && calls.is_empty() => {
            never("every call breaks an empty allowlist")
        }
        // A blocklist knows neither arguments nor aliases.
        Order::MaxCalls { tool, max: 0 }
            if tool.args_match.is_empty() && tool.does.is_none() && members(&tool.tool).is_none() =>
        {
            let message = format!("every call to {} breaks a limit of 0", quoted(&tool.tool));
            let help = "write a `blocklist`, or a limit of 1";
            Some(Diagnostic::warning(code::ZERO_LIMIT, message).help(help))
        }
        _ => None,
    }
}

/// Whether every call that `then` means is one that `first` means too, by an alias.
fn within<'m>(
    first: &ToolName,
    then: &ToolName,
    members: &dyn Fn(&str) -> Option<&'m [Arc<str>]>,
    what: &str,
) -> Option<Diagnostic> {
    if !first.args_match.is_empty() && first.args_match != then.args_match {
        return None;
    }
    if first.does.is_some() && first.does != then.does {
        return None;
    }
    let (wide, narrow) = (members(&first.tool), members(&then.tool));
    let own = std::slice::from_ref(&then.tool);
    let covered = narrow.unwrap_or(own).iter().all(|tool| match wide {
        Some(wide) => wide.contains(tool),
        None => *tool == first.tool,
    });
    covered.then(|| {
        let message = format!("{} is also what {} means: {what}", quoted(&then.tool), quoted(&first.tool));
        Diagnostic::warning(codes::EQUAL_OPERANDS, message)
    })
}

/// The place of a rule, and how many calls it permits.
pub(super) type Bound = (Span, u64);

/// The same rule with a bound of 0, and its actual bound: of two rules with the same bounded part, the tighter one
/// decides.
pub(super) fn bound(order: &Order) -> Option<(Order, u64)> {
    let mut what = order.clone();
    let bound = match &mut what {
        Order::MaxCalls { max: bound, .. }
        | Order::Eventually { within: bound, .. }
        | Order::After { within: bound, .. } => std::mem::take(bound),
        _ => return None,
    };
    Some((what, bound))
}

/// A rule that another one of the list makes pointless: `loose` allows more than `tight` does.
pub(super) fn looser(source: &Source, (loose, bound): Bound, (tight, other): Bound) -> Diagnostic {
    let message = format!(
        "this rule never decides: {bound} is more than the {other} that another rule asks of the same calls"
    );
    Diagnostic::warning(code::SHADOWED_RULE, message)
        .at(source, loose.first_line(source.text()))
        .related(source, tight.first_line(source.text()), "this one decides first")
        .fix(Fix::remove(source, loose, "remove the rule"))
}

/// The fix for a warning of [`order`] with this code: a rule that requires nothing is removed, a limit of 0 becomes a
/// blocklist.
pub(super) fn fix(order: &Order, told: Code, rule: &Node, source: &Source) -> Option<Fix> {
    // A session without calls keeps a rule that requires nothing, and without any rule it exercises none: its status changes.
    let remove = || {
        let fix = Fix::remove(source, rule.span, "remove the rule, which requires nothing")?;
        Some(fix.changes_decisions())
    };
    match order {
        Order::Before { first, then, .. } if then.iter().all(|then| then == first) => remove(),
        Order::Sequence { tools, .. } if tools.is_empty() => remove(),
        Order::Blocklist { pattern: None, tools } if tools.is_empty() => remove(),
        Order::MaxCalls { tool, max: 0 } if told == code::ZERO_LIMIT => {
            let changes = vec![
                ("type", Some(("type", "blocklist".into()))),
                ("tool", Some(("tools", vec![&*tool.tool].into()))),
                ("max", None),
            ];
            Fix::entries(source, rule.span, changes, "write a blocklist")
        }
        _ => None,
    }
}

/// A rule that the same list has already.
pub(super) fn repeated(source: &Source, span: Span, first: Span) -> Diagnostic {
    Diagnostic::warning(code::DUPLICATE_RULE, "the list has this rule twice")
        .at(source, span.first_line(source.text()))
        .related(source, first.first_line(source.text()), "it is here first")
        .fix(Fix::remove(source, span, "remove the second one"))
}
