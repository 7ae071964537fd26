//! `# rulestep: allow(CODE)`: findings that the author of a line accepts.

use std::collections::{BTreeMap, BTreeSet};

use super::levels::{Levels, is_lint, unknown};
use rulestep_base::diagnostic::{Diagnostic, Fix, Place, Severity, code};
use rulestep_base::source::edit::leaves;
use rulestep_base::source::{Source, Span, parse, quoted};

/// What is reported about the comments themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report {
    /// Nothing, because another caller reports it.
    Nothing,
    /// Unreadable comments.
    Broken,
    /// Those, and comments that allow nothing.
    Unused,
}

/// Codes of findings that depend on recordings or on other documents: without those it is unknown whether such a
/// comment allows anything, and if several documents are at fault, only one of them has the finding.
const ELSEWHERE: [&str; 16] = [
    "bindings_never_meet",
    "contradictory_rules",
    "dependency_cycle",
    "duplicate_rule",
    "misspelt_tool",
    "prerequisite_bans_dependant",
    "required_tool_denied",
    "self_dependency",
    "shadowed_rule",
    "unknown_tool",
    "path_not_recorded",
    "condition_never_passes",
    "condition_always_passes",
    "fires_on_every_call",
    "rule_never_exercised",
    "rule_never_fired",
];

/// A comment.
struct Comment {
    /// From its `#` to the end of the line.
    span: Span,
    /// The line that it is about, from 1.
    line: u32,
    /// The codes it allows, each with its place and whether something was allowed; `None` if it cannot be read.
    codes: Option<Vec<(String, Span, bool)>>,
}

/// The findings that are left, at their levels, and diagnostics about comments in these texts.
pub fn apply(
    found: Vec<Diagnostic>,
    texts: impl Iterator<Item = Source>,
    levels: &Levels,
    report: Report,
) -> Vec<Diagnostic> {
    let mut comments: BTreeMap<String, (Source, Vec<Comment>)> = BTreeMap::new();
    // Rules of one text name it once each.
    let mut seen = BTreeSet::new();
    let texts = texts.filter(|source| seen.insert(source.shared_name()));
    for source in texts.filter(|source| source.text().contains("rulestep:")) {
        comments.entry(source.name().to_owned()).or_insert_with(|| {
            let all = read(&source);
            (source, all)
        });
    }
    let mut left = Vec::new();
    for told in found {
        let allowed = match told.place() {
            Some(Place::Text { source, span }) => {
                let line = source.position(span.start).line;
                let own = comments.get_mut(source.name()).into_iter().flat_map(|(_, all)| all);
                let codes =
                    own.filter(|comment| comment.line == line).filter_map(|comment| comment.codes.as_mut());
                // An error cannot be allowed, even if its code was a warning: the comment stays unused.
                let mut allowed = false;
                if told.severity != Severity::Error {
                    for (_, _, used) in codes.flatten().filter(|(name, ..)| *name == told.code.as_str()) {
                        *used = true;
                        allowed = true;
                    }
                }
                allowed
            }
            _ => false,
        };
        if !allowed {
            left.extend(levels.apply(told));
        }
    }
    if report != Report::Nothing {
        for (source, all) in comments.values() {
            let told = all.iter().flat_map(|comment| complaints(source, comment, report == Report::Unused));
            left.extend(told.filter_map(|told| levels.apply(told)));
        }
    }
    left
}

fn complaints(source: &Source, comment: &Comment, unused: bool) -> Vec<Diagnostic> {
    let Some(codes) = &comment.codes else {
        let message = "the comment is meant for rulestep, and cannot be read";
        let told = Diagnostic::warning(code::BAD_ALLOW, message).at(source, comment.span);
        return vec![told.help("write `# rulestep: allow(CODE)`")];
    };
    let mut out = Vec::new();
    for (at, (name, span, used)) in codes.iter().enumerate() {
        if !is_lint(name) {
            out.push(unknown(name).at(source, *span));
        } else if unused && !used && !ELSEWHERE.contains(&name.as_str()) {
            let message = format!("nothing on line {} is reported as {}", comment.line, quoted(name));
            let fix = Fix::raw(source, removal(source, comment, codes, at), "remove it from the comment");
            let told = Diagnostic::warning(code::UNUSED_ALLOW, message).at(source, *span).fix(Some(fix));
            out.push(told.help("remove it; an error cannot be allowed"));
        }
    }
    out
}

/// The edits that take a code out of a comment, or the comment out of the text.
fn removal(
    source: &Source,
    comment: &Comment,
    codes: &[(String, Span, bool)],
    at: usize,
) -> Vec<(Span, String)> {
    let Some((_, own, _)) = codes.get(at) else { return Vec::new() };
    if let Some((_, next, _)) = codes.get(at + 1) {
        return vec![(Span::new(own.start, next.start), String::new())];
    }
    if let Some((_, before, _)) = at.checked_sub(1).and_then(|before| codes.get(before)) {
        return vec![(Span::new(before.end, own.end), String::new())];
    }
    let text = source.text();
    let before = text.get(..comment.span.start).unwrap_or_default();
    let kept = before.trim_end_matches([' ', '\t']).len();
    // Alone on its line, the line is removed with it.
    let alone = kept == 0 || before.as_bytes().get(kept - 1) == Some(&b'\n');
    let rest = text.get(comment.span.end..).unwrap_or_default();
    let line_end = if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with('\n')) };
    let end = if alone { comment.span.end + line_end } else { comment.span.end };
    vec![(Span::new(kept, end), String::new())]
}

/// The comments for us in a text.
fn read(source: &Source) -> Vec<Comment> {
    let text = source.text();
    let mut values = Vec::new();
    parse(source).documents.iter().for_each(|document| leaves(document, &mut values));
    values.sort_unstable_by_key(|value| value.start);
    let mut values = values.into_iter().peekable();
    let mut comments = Vec::new();
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('#')).map(|found| at + found) {
        while values.next_if(|value| value.end <= found).is_some() {}
        if let Some(value) = values.peek().filter(|value| value.start <= found) {
            at = value.end.max(found + 1);
            continue;
        }
        let before = text.get(..found).and_then(|text| text.chars().next_back());
        if before.is_some_and(|before| !before.is_whitespace()) {
            at = found + 1;
            continue;
        }
        let end =
            text.get(found..).and_then(|rest| rest.find(['\n', '\r'])).map_or(text.len(), |end| found + end);
        comments.extend(comment(source, Span::new(found, end)));
        at = end.max(found + 1);
    }
    comments
}

fn comment(source: &Source, span: Span) -> Option<Comment> {
    let text = source.slice(span);
    let said = text.trim_start_matches('#').trim_start().strip_prefix("rulestep:")?;
    let line = source.position(span.start).line;
    let head = source.line_span(line).map_or("", |line| source.slice(Span::new(line.start, span.start)));
    let line = if head.trim().is_empty() { next_line(source, line) } else { line };
    let codes = said.trim_start().strip_prefix("allow").map(str::trim_start).and_then(|rest| {
        let (listed, _) = rest.strip_prefix('(')?.split_once(')')?;
        let mut from = span.end - rest.len() + 1;
        let mut codes = Vec::new();
        for part in listed.split(',') {
            let name = part.trim();
            let start = from + (part.len() - part.trim_start().len());
            codes.push((name.to_owned(), Span::new(start, start + name.len()), false));
            from += part.len() + 1;
        }
        codes.iter().all(|(name, ..)| !name.is_empty()).then_some(codes)
    });
    Some(Comment { span, line, codes })
}

/// The first line after this one that has more than a comment.
fn next_line(source: &Source, line: u32) -> u32 {
    let mut next = line + 1;
    while let Some(span) = source.line_span(next) {
        let text = source.slice(span).trim();
        if !text.is_empty() && !text.starts_with('#') {
            break;
        }
        next += 1;
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_stays_whatever_else_of_its_code_is_allowed() {
        let source = Source::new("p.yaml", "rules: [] # rulestep: allow(zero_limit)\n");
        let at = |told: Diagnostic| told.at(&source, Span::new(0, 5));
        let warning = || at(Diagnostic::warning(code::ZERO_LIMIT, "looked at"));
        let error = || at(Diagnostic::error(code::ZERO_LIMIT, "does not load"));
        for found in [vec![warning(), error(), warning()], vec![error(), warning()], vec![warning(), error()]]
        {
            let left = apply(found, [source.clone()].into_iter(), &Levels::default(), Report::Unused);
            let left: Vec<&str> = left.iter().map(|told| told.message.as_str()).collect();
            assert_eq!(left, ["does not load"]);
        }
    }
}
