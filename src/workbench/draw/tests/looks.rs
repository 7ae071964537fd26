//! Every pane alone and every overlay on common screen sizes: the text once, the styles in two themes.

use std::fmt::Write as _;

use ratatui::style::Style;

use super::*;

const SIZES: [(u16, u16); 4] = [(200, 60), (120, 40), (80, 24), (58, 14)];
const THEMES: [&str; 2] = ["mono", "harbor"];

/// The views: how each is reached from a stopped call.
const VIEWS: [(&str, &str); 25] = [
    ("all", ""),
    ("sessions", "1 z"),
    ("transcript", "2 z"),
    ("tools", "3 z"),
    ("forbidden", "4 z"),
    ("preconditions", "5 z"),
    ("decision", "6 z"),
    ("policy", "7 z"),
    ("changes", "8 z"),
    ("split", "5"),
    ("body", "b j"),
    ("findings", "F"),
    ("help", "?"),
    ("palette", ": n e x t"),
    ("problems", "!"),
    ("loads", "dl"),
    ("texts", "dt"),
    ("rules", "O"),
    ("inventory", "I"),
    ("hits", "g/ r e f u n d Enter"),
    ("cases", "C"),
    ("way-out", "w"),
    ("suggest", "a"),
    ("draft", "a Enter"),
    ("chord", "]"),
];

/// A screen, rows that are the same together.
fn rows(out: &mut String, rows: impl Iterator<Item = String>) {
    let mut rows = rows.peekable();
    while let Some(row) = rows.next() {
        let mut same = 1;
        while rows.next_if_eq(&row).is_some() {
            same += 1;
        }
        let _ = match same {
            1 => writeln!(out, "{row}"),
            _ => writeln!(out, "{row}  ×{same}"),
        };
    }
}

/// The styles of a screen: for each row, how many cells have which; then what the names mean.
fn styles(model: &Model) -> String {
    let (buf, mut known, mut out) = (drawn(model), Vec::<Style>::new(), String::new());
    let runs = buf.content().chunks(usize::from(buf.area.width)).map(|row| {
        let mut line = String::new();
        for run in row.chunk_by(|one, other| one.style() == other.style()) {
            let style = run.first().map(|cell| cell.style()).unwrap_or_default();
            let at = known.iter().position(|other| *other == style).unwrap_or_else(|| {
                known.push(style);
                known.len() - 1
            });
            let _ = write!(line, "{}{} ", run.len(), char::from(b'a' + at as u8));
        }
        line.trim_end().to_owned()
    });
    rows(&mut out, runs.collect::<Vec<_>>().into_iter());
    for (at, style) in known.iter().enumerate() {
        let _ = writeln!(out, "{} {}", char::from(b'a' + at as u8), spelt(*style));
    }
    out
}

/// The view, with three versions of the policy of which two are compared.
fn view(width: u16, height: u16, theme: &str, name: &str, keys: &str) -> Model {
    let mut model = model(width, height, theme);
    press(&mut model, "]f");
    match name {
        "changes" | "texts" => edit(&mut model),
        "split" => {
            edit(&mut model);
            press(&mut model, "dl");
        }
        "loads" => {
            let more = format!("{CONTRACT}---\ntool: lookup_order\nforbids_after: [void_order]\n");
            feed(&mut model, Msg::Policy { loaded: Box::new(loaded(&more)), at: "12:04:11".to_owned() });
            edit(&mut model);
        }
        "suggest" | "draft" => model.basis.paths = vec!["contracts".to_owned()],
        "cases" => with_cases(&mut model, &CASES),
        _ => {}
    }
    press(&mut model, keys);
    let overlays = [
        "body",
        "cases",
        "draft",
        "findings",
        "help",
        "hits",
        "inventory",
        "loads",
        "palette",
        "problems",
        "rules",
        "suggest",
        "texts",
        "way-out",
    ];
    let lies_over = overlays.contains(&name);
    assert_eq!(!model.dialog.overlays.is_empty(), lies_over, "{name}");
    if name == "chord" {
        feed(&mut model, Msg::ChordWaits);
    }
    model
}

#[test]
fn every_pane_and_overlay() {
    for (name, keys) in VIEWS {
        for (width, height) in SIZES {
            let [mono, harbor] = THEMES.map(|theme| view(width, height, theme, name, keys));
            let mut out = String::new();
            rows(&mut out, screen(&mono).lines().map(str::to_owned));
            assert_eq!(screen(&mono), screen(&harbor), "{name}: a theme changes what is said");
            for (theme, model) in THEMES.into_iter().zip([&mono, &harbor]) {
                let _ = write!(out, "\n{theme}\n{}", styles(model));
            }
            insta::assert_snapshot!(format!("{name}_{width}x{height}"), out);
        }
    }
}
