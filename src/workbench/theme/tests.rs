//! The requirements for every built-in theme.

use ratatui::style::Color;

use super::color::{contrast, luminance};
use super::*;

fn rgb(color: Option<Color>) -> Option<(u8, u8, u8)> {
    match color {
        Some(Color::Rgb(r, g, b)) => Some((r, g, b)),
        _ => None,
    }
}

fn all() -> Vec<Theme> {
    BUILTIN.map(|(name, _)| Theme::builtin(name, Depth::Rgb).unwrap()).into()
}

/// Themes that choose their background, so that contrast can be measured.
fn with_ground() -> Vec<Theme> {
    all().into_iter().filter(|theme| rgb(theme.ground(Role::Text).bg).is_some()).collect()
}

#[test]
fn every_role_resolves() {
    for theme in all() {
        let file: File = toml::from_str(builtin_text(&theme.name).unwrap()).unwrap();
        assert!(file.inherits.is_some() || file.roles.contains_key("text"), "{}: no root", theme.name);
        for role in Role::ALL {
            let style = theme.style(*role);
            assert!(style.fg != Some(Color::Reset) || style.bg.is_none());
        }
    }
}

#[test]
fn contrast_is_enough_to_read() {
    let themes = with_ground();
    assert_eq!(themes.len(), 4, "contrast, colorblind, harbor, paper");
    for theme in themes {
        let ground = rgb(theme.ground(Role::Text).bg).unwrap();
        let ink = rgb(theme.style(Role::Text).fg).unwrap();
        // Where a row of the text has its own background, it must still be readable.
        let grounds = [Role::Cursor, Role::CursorIdle, Role::CodeRule, Role::Overlay]
            .map(|role| (theme.style(role).fg.is_none() || role == Role::Overlay, rgb(theme.style(role).bg)));
        for role in Role::ALL {
            let style = theme.style(*role);
            let own = rgb(style.bg).unwrap_or(ground);
            let fg = rgb(style.fg).unwrap_or(ink);
            let ratio = contrast(fg, own);
            assert!(ratio >= 4.5, "{}: {} has {ratio:.2}", theme.name, role.name());
            if rgb(style.bg).is_none() {
                for (at, (keeps, under)) in grounds.into_iter().enumerate() {
                    // Frames never lie on a row.
                    let frame = matches!(role, Role::Border | Role::BorderFocus | Role::Scroll);
                    if frame && at < 3 {
                        continue;
                    }
                    let Some(under) = under.filter(|_| keeps) else { continue };
                    let ratio = contrast(fg, under);
                    assert!(ratio >= 4.5, "{}: {} on {under:?} has {ratio:.2}", theme.name, role.name());
                }
            }
        }
    }
}

/// Lightness as CIE L*, 0 to 100.
fn lightness(color: (u8, u8, u8)) -> f64 {
    let y = luminance(color);
    if y <= 216.0 / 24389.0 { y * 24389.0 / 27.0 } else { 116.0 * y.cbrt() - 16.0 }
}

#[test]
fn verdicts_differ_in_lightness() {
    let verdicts = [Role::VerdictAllow, Role::VerdictDeny, Role::VerdictAfter, Role::VerdictHalt];
    for theme in with_ground() {
        let light = verdicts.map(|role| lightness(rgb(theme.style(role).fg).unwrap()));
        for (at, one) in light.iter().enumerate() {
            for (other_at, other) in light.iter().enumerate().skip(at + 1) {
                let apart = (one - other).abs();
                let names = (verdicts[at].name(), verdicts[other_at].name());
                assert!(apart >= 4.0, "{}: {names:?} are {apart:.1} apart", theme.name);
            }
        }
    }
}

#[test]
fn verdicts_differ_without_colour() {
    let theme = Theme::builtin("mono", Depth::None).unwrap();
    let verdicts = [
        Role::VerdictAllow,
        Role::VerdictDeny,
        Role::VerdictAfter,
        Role::VerdictHalt,
        Role::VerdictNone,
        Role::VerdictReport,
    ];
    for (at, one) in verdicts.iter().enumerate() {
        assert!(theme.style(*one).fg.is_none());
        for other in &verdicts[at + 1..] {
            assert_ne!(theme.style(*one), theme.style(*other), "{one:?} {other:?}");
        }
    }
}

#[test]
fn the_selected_row_keeps_its_colours() {
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;

    use crate::workbench::paint::Row;
    for name in ["ansi-dark", "ansi-light", "harbor", "paper"] {
        for depth in [Depth::Ansi256, Depth::Rgb] {
            let theme = Theme::builtin(name, depth).unwrap();
            let mut buf = Buffer::empty(Rect::new(0, 0, 20, 1));
            let mut row = Row::new(&theme, 20);
            row.put(Role::VerdictDeny, "x").put(Role::VerdictAllow, "y").put(Role::TextDim, "z");
            row.draw_under(&mut buf, 0, 0, Some(Role::Cursor));
            let cells: Vec<_> =
                buf.content().iter().take(4).map(|cell| (cell.fg, cell.bg, cell.modifier)).collect();
            let [deny, allow, dim, rest] = cells[..] else { panic!("four cells") };
            assert_eq!(Some(deny.0), theme.style(Role::VerdictDeny).fg, "{name}");
            assert_eq!(Some(allow.0), theme.style(Role::VerdictAllow).fg, "{name}");
            assert!(!dim.2.contains(Modifier::DIM), "{name}");
            assert_eq!([deny.1, allow.1, dim.1], [rest.1; 3], "{name}: one ground");
            assert_ne!(Some(rest.1), theme.ground(Role::Text).bg, "{name}: of its own");
        }
    }
}

#[test]
fn colourless_depth_keeps_weight() {
    let theme = Theme::builtin("ansi-dark", Depth::None).unwrap();
    let deny = theme.style(Role::VerdictDeny);
    assert_eq!(deny.fg, None);
    assert!(deny.add_modifier.contains(Modifier::BOLD));
    assert!(theme.style(Role::Cursor).add_modifier.contains(Modifier::REVERSED));
}

#[test]
fn fewer_colours_stay_within_depth() {
    for (name, _) in BUILTIN {
        let theme = Theme::builtin(name, Depth::Ansi256).unwrap();
        for role in Role::ALL {
            assert!(!matches!(theme.style(*role).fg, Some(Color::Rgb(..))), "{name} {role:?}");
        }
    }
}

#[test]
fn roles_fall_back_to_their_prefix_and_heirs_win() {
    let text = "inherits = \"mono\"\n[palette]\nx = \"red\"\n[roles]\ncode = { fg = \"x\" }\n";
    let theme = Theme::parse("own", text, Depth::Rgb).unwrap();
    assert_eq!(theme.style(Role::CodeString).fg, Some(Color::Red));
    assert_eq!(theme.style(Role::CodeLine).fg, None, "mono says it more exactly");
}

#[test]
fn glyphs_of_an_heir_win_over_those_it_inherits() {
    let glyphs = |text: &str| Theme::parse("own", text, Depth::Rgb).unwrap().glyphs;
    assert_eq!(glyphs("inherits = \"mono\"\nglyphs = \"ascii\"\n"), GlyphSet::Ascii);
    assert_eq!(glyphs("inherits = \"mono\"\n"), Theme::builtin("mono", Depth::Rgb).unwrap().glyphs);
}

#[test]
fn mistakes_are_named() {
    let parse = |text: &str| Theme::parse("own", text, Depth::Rgb).unwrap_err().to_string();
    assert_eq!(
        parse("[roles]\n\"verdict.dney\" = {}"),
        "theme `own`: no role `verdict.dney`, did you mean `verdict.deny`?"
    );
    assert_eq!(
        parse("[roles]\n\"verdict\" = { fg = \"rde\" }"),
        "theme `own`: role `verdict`: no colour `rde`"
    );
    assert!(parse("inherits = \"dusk\"").starts_with("no theme `dusk`; known: ansi-dark"));
    assert!(parse("colours = 3").contains("unknown field `colours`"));
    assert!(Theme::builtin("x", Depth::Rgb).is_err());
}
