//! Frames: every pane and overlay, at the sizes people have, text and styles.

mod commands;
mod compare;
mod looks;
mod samples;
mod timeline;

use std::fmt::Write as _;
use std::sync::Arc;

use ratatui::layout::Size;
use ratatui::style::{Modifier, Style};

use crate::files::watch::{WatchEvent, Way};
use crate::workbench::message::Msg;
use crate::workbench::model::Model;
use crate::workbench::testing::*;
use rulestep_base::diagnostic::{Diagnostic, code};

const SIZES: [(u16, u16); 5] = [(120, 40), (100, 35), (80, 24), (58, 14), (40, 8)];

fn model(width: u16, height: u16, theme: &str) -> Model {
    opened(width, height, theme, vec![refunds(), clean()])
}

/// The screen as text, then a letter for the style of every cell, then what the letters mean.
fn dump(model: &Model) -> String {
    let buf = drawn(model);
    let mut known: Vec<Style> = Vec::new();
    let mut styles = String::new();
    for row in buf.content().chunks(usize::from(buf.area.width)) {
        let mut line = String::new();
        for cell in row {
            let style = cell.style();
            let at = known.iter().position(|other| *other == style).unwrap_or_else(|| {
                known.push(style);
                known.len() - 1
            });
            line.push(char::from(b".abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[at]));
        }
        let _ = writeln!(styles, "{}", line.trim_end_matches('.'));
    }
    let mut out = screen(model);
    out.push_str("\n\n");
    out.push_str(&styles);
    for (at, style) in known.iter().enumerate() {
        let letter = char::from(b".abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[at]);
        let _ = writeln!(out, "{letter} {}", spelt(*style));
    }
    out
}

fn spelt(style: Style) -> String {
    let color = |color: Option<ratatui::style::Color>| {
        color.map_or_else(|| "-".to_owned(), |color| color.to_string())
    };
    let mut text = format!("{} on {}", color(style.fg), color(style.bg));
    for (modifier, name) in [
        (Modifier::BOLD, "bold"),
        (Modifier::DIM, "dim"),
        (Modifier::ITALIC, "italic"),
        (Modifier::UNDERLINED, "underlined"),
        (Modifier::REVERSED, "reversed"),
        (Modifier::CROSSED_OUT, "crossed out"),
    ] {
        if style.add_modifier.contains(modifier) {
            text.push(' ');
            text.push_str(name);
        }
    }
    text
}

#[test]
fn panes() {
    for theme in ["mono", "harbor"] {
        for (width, height) in SIZES {
            let mut model = model(width, height, theme);
            press(&mut model, "]f");
            insta::assert_snapshot!(format!("panes_{width}x{height}_{theme}"), dump(&model));
        }
    }
}

#[test]
fn each_pane_alone() {
    for pane in 1..=8 {
        let mut model = model(58, 14, "mono");
        press(&mut model, "]f");
        if pane == 8 {
            edit(&mut model);
        }
        press(&mut model, &pane.to_string());
        insta::assert_snapshot!(format!("pane_{pane}_58x14"), screen(&model));
    }
}

/// The policy is edited so that a refund is allowed, and another tool is not.
fn edit(model: &mut Model) {
    let text = CONTRACT.replace("    resource: {bind_from: arguments, path: $.order_id}\n", "");
    let text = format!(
        "{text}---\ntool: lookup_order\npreconditions: [{{requires_prior_tool: check_eligibility}}]\n"
    );
    feed(model, Msg::Policy { loaded: Box::new(loaded(&text)), at: "12:04:31".to_owned() });
}

#[test]
fn what_an_edit_changed() {
    let mut model = model(120, 40, "mono");
    press(&mut model, "]f");
    feed(&mut model, Msg::Watch(WatchEvent::Begun(Way::System)));
    edit(&mut model);
    insta::assert_snapshot!("changes_120x40", dump(&model));
    press(&mut model, "8 z");
    insta::assert_snapshot!("changes_alone_120x40", screen(&model));
}

#[test]
fn an_allowed_call_is_explained_too() {
    let mut model = model(80, 24, "mono");
    press(&mut model, "j");
    insta::assert_snapshot!("allowed_80x24", screen(&model));
}

#[test]
fn overlays() {
    for (name, keys) in [
        ("body", "Down b j"),
        ("findings", "F"),
        ("help", "?"),
        ("palette", ": n e x t"),
        ("problems", "!"),
        ("tester", "Down T"),
        ("search", "/"),
        ("chord", "]"),
    ] {
        for (width, height) in [(80, 24), (40, 8)] {
            let mut model = model(width, height, "harbor");
            press(&mut model, keys);
            match name {
                "search" => typed(&mut model, "ord-1"),
                "tester" => typed(&mut model, "$[*]"),
                "chord" => {
                    feed(&mut model, Msg::ChordWaits);
                }
                _ => {}
            }
            let shown = if width == 80 { dump(&model) } else { screen(&model) };
            insta::assert_snapshot!(format!("{name}_{width}x{height}"), shown);
        }
    }
}

/// The description of a command is readable however narrow the screen is, and the one under the cursor is completely
/// visible.
#[test]
fn every_command_can_be_read_on_a_narrow_screen() {
    for (width, height) in [(57, 24), (40, 8)] {
        let mut model = model(width, height, "mono");
        press(&mut model, "?");
        for command in crate::workbench::keys::TABLE {
            let seen = screen(&model);
            let words = |text: &str| text.replace(['║', '│', '┃', '|'], " ");
            let seen: Vec<String> = words(&seen).split_whitespace().map(str::to_owned).collect();
            let doc: Vec<&str> = command.doc.split_whitespace().collect();
            let whole = doc.iter().all(|word| seen.iter().any(|seen| seen == word));
            assert!(whole, "{width}: {} in {}", command.doc, screen(&model));
            press(&mut model, "j");
        }
    }
}

#[test]
fn problems_stay_in_sight() {
    let mut model = model(80, 24, "mono");
    press(&mut model, "]f");
    let broken = CONTRACT.replace("requires_prior_tool", "requires_prior_tol");
    feed(&mut model, Msg::Policy { loaded: Box::new(loaded(&broken)), at: "12:05:00".to_owned() });
    let diagnostics = vec![Diagnostic::error(code::SYNTAX, "not JSON").on_line("broken.json", 41)];
    let file = "broken.json";
    read_part(&mut model, file, Vec::new(), diagnostics, (3, 3));
    read_all(&mut model);
    insta::assert_snapshot!("stale_80x24", dump(&model));
    feed(&mut model, Msg::Resize(Size::new(40, 8)));
    insta::assert_snapshot!("stale_40x8", screen(&model));
    feed(&mut model, Msg::Resize(Size::new(39, 5)));
    insta::assert_snapshot!("stale_39x5", screen(&model));
    feed(&mut model, Msg::Resize(Size::new(80, 24)));
    press(&mut model, "!");
    insta::assert_snapshot!("stale_problems_80x24", screen(&model));
}

/// Formats and counts of a folder of several formats, with a damaged file and names that begin alike.
#[test]
fn sessions_of_several_formats() {
    for (width, height) in [(120, 40), (80, 24), (58, 14)] {
        let mut model = model(width, height, "mono");
        let file: Arc<str> = "runs/nightly/agent.jsonl".into();
        let of = |name: &str| {
            let mut session = clean();
            session.id = name.into();
            session.origin.format = "claude-code";
            session.origin.file = Arc::clone(&file);
            Arc::new(session)
        };
        let names = [
            "banking/user_task_0/injection_task_3",
            "banking/user_task_0/injection_task_4",
            "注文の返金についての長い相談",
        ];
        let sessions = names.map(of).to_vec();
        let diagnostics = [3, 7]
            .map(|line| Diagnostic::error(code::DAMAGED_LINE, "not JSON").on_line(&*file, line))
            .to_vec();
        read_part(&mut model, &file, sessions, diagnostics, (3, 4));
        let diagnostics = vec![Diagnostic::error(code::SYNTAX, "not JSON").on_line("broken.json", 41)];
        let file = "broken.json";
        read_part(&mut model, file, Vec::new(), diagnostics, (4, 4));
        read_all(&mut model);
        press(&mut model, "1 j j");
        insta::assert_snapshot!(format!("formats_{width}x{height}"), screen(&model));
        press(&mut model, "z G");
        insta::assert_snapshot!(format!("formats_alone_{width}x{height}"), screen(&model));
        // If the list is not on screen, the header says that parts of the file are lost.
        press(&mut model, "k k 6 z 2");
        let seen = screen(&model);
        assert_eq!(seen.lines().next().unwrap().contains(" ?2"), width < 110, "{seen}");
    }
}

#[test]
fn ascii_screens_are_ascii() {
    let mut model = model(120, 40, "mono");
    model.theme.glyphs = crate::workbench::theme::GlyphSet::Ascii;
    for keys in ["]f", "b", "q F", "q ?", "q !", "q z", "7"] {
        press(&mut model, keys);
        assert!(screen(&model).is_ascii(), "{keys}: {}", screen(&model));
    }
    press(&mut model, "z 2");
    insta::assert_snapshot!("ascii_120x40", screen(&model));
}

#[test]
fn a_long_session_is_drawn_from_its_rows_on_screen() {
    use rulestep_base::session::build::{Builder, Mark};
    use rulestep_base::session::{Body, Origin};
    let origin = Origin { file: "long.json".into(), index: 0, format: "native", line: 1 };
    let mut made = Builder::new("long", origin);
    for _ in 0..20_000 {
        made.response(None, Body::text("next"), None);
        made.call(None, "lookup_order", Body::text(r#"{"order_id": "ORD-1"}"#), None);
        made.result(None, Body::text("{}"), Mark::default(), None);
    }
    let session = Arc::new(made.finish());
    let mut model = opened(120, 40, "mono", vec![Session::clone(&session)]);
    press(&mut model, "G k");
    let seen = screen(&model);
    assert!(seen.contains("turn 20000/20000") && seen.contains("call 20000/20000"), "{seen}");
}

use rulestep_base::session::Session;

/// What-ifs, on common screen sizes.
#[test]
fn what_if() {
    for (width, height) in [(120, 40), (80, 24), (40, 8)] {
        let mut model = model(width, height, "harbor");
        press(&mut model, "]f k k xo j j xx gg xn");
        typed(&mut model, r#"lookup_order {"order_id": "ORD-124"} => {"status": "shipped"}"#);
        press(&mut model, "Enter G k k k");
        press(&mut model, "]f");
        insta::assert_snapshot!(format!("what_if_{width}x{height}"), dump(&model));
        press(&mut model, "xa");
        insta::assert_snapshot!(format!("what_if_typing_{width}x{height}"), screen(&model));
        press(&mut model, "Ctrl-u Enter");
        insta::assert_snapshot!(format!("what_if_refused_{width}x{height}"), screen(&model));
    }
}

#[test]
fn witness() {
    for (width, height) in [(120, 40), (80, 24), (40, 8)] {
        let mut model = model(width, height, "mono");
        press(&mut model, "]f W");
        insta::assert_snapshot!(format!("witness_{width}x{height}"), dump(&model));
    }
}
