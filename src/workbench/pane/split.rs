//! A pane under two versions: side by side, row by row, with enough room; else one below the other where they differ.
//! Differences have a mark, whatever the colours.

use similar::{Algorithm, DiffTag, capture_diff_slices};

use crate::compare::{Answer, RuleAt, Side};
use crate::report::diff;
use crate::workbench::line::{Key, Line, Link, half, mark_of, paragraph};
use crate::workbench::model::seen::Seen;
use crate::workbench::model::{Model, Pair};
use crate::workbench::theme::{Glyph, Role};
use rulestep_engine::run::Verdict;

/// Columns from which two versions are side by side.
const BESIDE: usize = 60;
/// The heading of the names that were not recorded as offered.
pub const INFERRED: Key = Key::Part("inferred");
/// Columns before each row of versions below each other.
const GUTTER: usize = 2;

/// The lines of a pane under one version, at most this many columns wide.
type Of = fn(Seen<'_>, usize) -> Vec<Line>;
/// A part of a pane: its key, and its lines.
type Part = (Option<Key>, Vec<Line>);

/// The lines of a pane, at most `width` columns wide: those of one version; while two are compared, of both. With
/// `differing_first` the differing lines come first if there is little room.
pub fn lines(model: &Model, width: usize, of: Of, differing_first: bool) -> Vec<Line> {
    let new = |width| of(model.seen(Side::New), width);
    if !model.splits() || model.session().is_none() || model.seen(Side::New).replay().is_none() {
        return new(width);
    }
    let mut lines = Vec::new();
    if model.seen(Side::Base).replay().is_none() {
        lines.push(Line::dim("being compared"));
        lines.extend(new(width));
        return lines;
    }
    let beside = width >= BESIDE;
    let room = if beside { half(width) } else { width.saturating_sub(GUTTER) };
    let [base, new] = [Side::Base, Side::New].map(|side| parts(model.seen(side), of, room));
    let mut pairs = aligned(base, new);
    let same = pairs.iter().all(|(base, new)| look_alike(base, new));
    if !beside && differing_first {
        let heads = |lines: &[Line]| lines.first().is_some_and(|line| line.key == Some(INFERRED));
        pairs.sort_by_key(|(base, new)| look_alike(base, new) && !heads(new));
    }
    lines.push(legend(model, beside, same, room));
    for (base, new) in pairs {
        if beside {
            side_by_side(base, new, &mut lines);
        } else {
            one_below_the_other(&base, &new, &mut lines);
        }
    }
    lines
}

/// A note about the new version; if another one is compared and differs, from what to what.
pub fn note(model: &Model, note: fn(Seen<'_>) -> String) -> String {
    let new = note(model.seen(Side::New));
    if let Some(shown) = model.seen(Side::New).shows() {
        return shown;
    }
    if !model.splits() || model.seen(Side::Base).framed().is_none() {
        return new;
    }
    let base = note(model.seen(Side::Base));
    let none = |text: String| if text.is_empty() { "0".to_owned() } else { text };
    if base == new {
        return new;
    }
    // `8 of 12` and `7 of 12`: the total is shown once.
    let base = match (base.split_once(' '), new.split_once(' ')) {
        (Some((count, rest)), Some((_, other))) if rest == other => count.to_owned(),
        _ => none(base),
    };
    format!("{base} {} {}", model.theme.glyph(Glyph::Arrow), none(new))
}

/// The change of the selected call, in words.
pub fn change(lines: &mut Vec<Line>, model: &Model, width: usize) {
    let Some(change) = model.change_here() else { return };
    let role = match change.new.answer {
        Answer::Call(Verdict::Allow) | Answer::Report { reported: false } => Role::VerdictAllow,
        Answer::Call(Verdict::Ask) | Answer::Report { reported: true } => Role::VerdictReport,
        Answer::Call(Verdict::NotReached) => Role::VerdictNone,
        _ => Role::VerdictDeny,
    };
    let line = Line::new().glyph(Role::ChangeNew, Glyph::Changed).text(role, diff::title(change.kind));
    let origin = change.origin.word();
    if line.width() + origin.len() + 1 < width {
        lines.push(line.right(Role::TextDim, origin));
    } else {
        lines.push(line);
        paragraph(lines, &model.theme, Role::TextDim, origin, width, 2, Link::default());
    }
}

/// The headings of both.
fn legend(model: &Model, beside: bool, same: bool, room: usize) -> Line {
    let named = |side, name: &str| {
        let (role, glyph) = mark_of(side);
        Line::new().glyph(role, glyph).text(Role::TextDim, name.to_owned())
    };
    let base = model.basis.changes.since.as_str();
    match (beside, same) {
        (true, _) => Line::beside(named(Side::Base, &format!("base {base}")), named(Side::New, "new"), false),
        (false, true) => Line::dim("the same under both"),
        (false, false) => {
            let sign = model.theme.glyph(Glyph::New);
            let most = room.saturating_sub("  base , > new".len());
            let base = crate::workbench::text::fit(base, most, model.theme.marks()).text();
            named(Side::Base, &format!("base {base}"))
                .text(Role::ChangeNew, format!("  {sign}"))
                .text(Role::TextDim, " new")
        }
    }
}

/// The pane's lines of one version, in parts. Their links say which rule it is in either version.
fn parts(seen: Seen<'_>, of: Of, width: usize) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for mut line in of(seen, width) {
        if let Some(rule) = line.link.rule {
            let Pair { base, new } = seen.model.pair(RuleAt { side: seen.side, rule });
            (line.link.rule, line.link.base) = (new, base);
        }
        match parts.last_mut().filter(|_| line.key.is_none()) {
            Some((_, lines)) => lines.push(line),
            None => parts.push((line.key.clone(), vec![line])),
        }
    }
    parts
}

/// Parts of both side by side, in an order that both have as far as possible.
fn aligned(base: Vec<Part>, new: Vec<Part>) -> Vec<(Vec<Line>, Vec<Line>)> {
    let keys = |parts: &[Part]| parts.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>();
    let operations = capture_diff_slices(Algorithm::Myers, &keys(&base), &keys(&new));
    let (mut base, mut new) = (base.into_iter().map(|part| part.1), new.into_iter().map(|part| part.1));
    let mut pairs = Vec::new();
    for operation in operations {
        let (tag, olds, news) = operation.as_tag_tuple();
        if tag == DiffTag::Equal {
            pairs.extend(base.by_ref().take(olds.len()).zip(new.by_ref().take(news.len())));
        } else {
            pairs.extend(base.by_ref().take(olds.len()).map(|lines| (lines, Vec::new())));
            pairs.extend(new.by_ref().take(news.len()).map(|lines| (Vec::new(), lines)));
        }
    }
    pairs
}

fn look_alike(base: &[Line], new: &[Line]) -> bool {
    base.len() == new.len() && base.iter().zip(new).all(|(base, new)| base.look() == new.look())
}

fn side_by_side(base: Vec<Line>, new: Vec<Line>, lines: &mut Vec<Line>) {
    let rows = base.len().max(new.len());
    let (mut base, mut new) = (base.into_iter(), new.into_iter());
    for _ in 0..rows {
        let (base, new) = (base.next().unwrap_or_default(), new.next().unwrap_or_default());
        let differs = base.look() != new.look();
        lines.push(Line::beside(base, new, differs));
    }
}

/// Common lines once, the rest first as the base has it.
fn one_below_the_other(base: &[Line], new: &[Line], lines: &mut Vec<Line>) {
    let [olds, news] = [base, new].map(|lines| lines.iter().map(Line::look).collect::<Vec<_>>());
    for operation in capture_diff_slices(Algorithm::Myers, &olds, &news) {
        let (tag, olds, news) = operation.as_tag_tuple();
        let (olds, news) = (base.get(olds), new.get(news).unwrap_or_default());
        if tag == DiffTag::Equal {
            lines.extend(news.iter().map(|line| line.clone().indent(GUTTER)));
        } else {
            lines.extend(olds.unwrap_or_default().iter().map(|line| line.clone().of(Side::Base)));
            lines.extend(news.iter().map(|line| line.clone().of(Side::New)));
        }
    }
}
