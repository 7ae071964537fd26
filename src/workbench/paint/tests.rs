use super::*;
use crate::workbench::theme::Depth;

fn theme(name: &str) -> Theme {
    Theme::builtin(name, Depth::Rgb).unwrap()
}

fn drawn(row: &Row<'_>, width: u16) -> String {
    let mut buf = Buffer::empty(Rect::new(0, 0, width, 1));
    row.draw(&mut buf, 0, 0);
    buf.content().iter().map(ratatui::buffer::Cell::symbol).collect()
}

#[test]
fn rows_are_cut_filled_and_safe() {
    let theme = theme("mono");
    let mut row = Row::new(&theme, 20);
    row.column(Role::Text, "ab\x1b[2J", 5).glyph(Role::VerdictDeny, Glyph::Deny).gap(1);
    row.put(Role::Text, "a long text that ends");
    assert_eq!(drawn(&row, 24), "ab␛[…✗ a long text …    ");
    assert_eq!(row.left(), 0);
}

#[test]
fn what_was_found_is_marked() {
    let theme = theme("mono");
    let mut row = Row::new(&theme, 20);
    row.put_found(Role::Text, "ORD-1 and ord-2", Some("ord"), false);
    let found = row.parts.iter().filter(|(_, style)| *style != Style::new());
    assert_eq!(found.map(|(text, _)| text.as_str()).collect::<Vec<_>>(), ["ORD", "ord"]);
    assert_eq!(drawn(&row, 20).trim_end(), "ORD-1 and ord-2");
}

#[test]
fn frames_fit_their_rectangle() {
    let theme = theme("mono");
    let mut buf = Buffer::empty(Rect::new(0, 0, 30, 4));
    frame(&mut buf, Rect::new(0, 0, 30, 4), &theme, true, "2 Transcript", "3/24");
    scroll_mark(&mut buf, Rect::new(0, 0, 30, 4), &theme, 5, 10);
    let lines: Vec<String> =
        buf.content().chunks(30).map(|row| row.iter().map(ratatui::buffer::Cell::symbol).collect()).collect();
    assert_eq!(lines[0], "╔═ 2 Transcript ══════ 3/24 ═╗");
    assert_eq!(lines[1], "║                            ┃");
    assert_eq!(lines[2], "║                            ║");
    for width in 0..8 {
        for height in 0..4 {
            frame(&mut buf, Rect::new(0, 0, width, height), &theme, false, "title", "note");
        }
    }
}
