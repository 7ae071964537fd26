//! A screen as an SVG picture: every cell at its place, in the colours of the theme, its text selectable.
//!
//! The picture is self-contained. Each run of text has an explicit width, so the grid holds with any font.

use std::collections::BTreeMap;

use maud::{Markup, PreEscaped, html};
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::Modifier;
use unicode_width::UnicodeWidthStr;

use super::theme::{Palette, Theme};

/// The size of a cell and of the margins, in tenths of a pixel, so that every number is exact.
const CELL: (u32, u32) = (84, 170);
const MARGIN: u32 = 120;
/// From the top of a cell down to the base line of its text.
const BASE: u32 = 128;

/// The style of a cell's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Style {
    ink: Rgb,
    bold: bool,
    dim: bool,
    italic: bool,
    underlined: bool,
    crossed_out: bool,
}

type Rgb = (u8, u8, u8);

/// Adjacent cells with one style. A character of two columns is a run of its own: fonts differ most in it.
struct Run {
    x: u16,
    y: u16,
    columns: u16,
    text: String,
    style: Style,
    ground: Rgb,
}

/// The picture of a screen that was drawn in this theme.
pub fn svg(screen: &Buffer, theme: &Theme) -> String {
    let palette = theme.palette();
    let runs = runs(screen, &palette);
    let mut classes: BTreeMap<Style, usize> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.is_inked()) {
        let next = classes.len();
        classes.entry(run.style).or_insert(next);
    }
    let size = (
        2 * MARGIN + u32::from(screen.area.width) * CELL.0,
        2 * MARGIN + u32::from(screen.area.height) * CELL.1,
    );
    let (width, height) = (px(size.0), px(size.1));
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(width) height=(height) viewBox=(format!("0 0 {width} {height}")) {
            title { "Rulestep" }
            style { (PreEscaped(style(&classes))) }
            rect width="100%" height="100%" rx="8" fill=(hex(palette.ground)) {}
            @for row in runs.chunk_by(|run, next| run.y == next.y && run.ground == next.ground) {
                (ground(row, palette.ground))
            }
            "\n"
            @for run in runs.iter().filter(|run| run.is_inked()) { (text(run, &classes)) "\n" }
        }
        "\n"
    };
    picture.into_string()
}

/// The background of runs of one row.
fn ground(runs: &[Run], own: Rgb) -> Markup {
    let columns: u32 = runs.iter().map(|run| u32::from(run.columns)).sum();
    html! {
        @if let Some(first) = runs.first().filter(|first| first.ground != own) {
            rect x=(x(first.x)) y=(y(first.y)) width=(px(columns * CELL.0)) height=(px(CELL.1)) fill=(hex(first.ground)) {}
        }
    }
}

fn text(run: &Run, classes: &BTreeMap<Style, usize>) -> Markup {
    let class = classes.get(&run.style).copied().unwrap_or_default();
    let bare = run.text.trim_end_matches(' ');
    let columns = u32::from(run.columns) - (run.text.len() - bare.len()) as u32;
    html! {
        text class=(format!("s{class}")) x=(x(run.x)) y=(px(MARGIN + u32::from(run.y) * CELL.1 + BASE)) textLength=(px(columns * CELL.0)) lengthAdjust="spacingAndGlyphs" { (bare) }
    }
}

/// The looks, a class each. Nothing in it comes from a recording.
fn style(classes: &BTreeMap<Style, usize>) -> String {
    let mut css = "text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}".to_owned();
    for (style, class) in classes {
        css.push_str(&format!(".s{class}{{fill:{}", hex(style.ink)));
        let decoration = match (style.underlined, style.crossed_out) {
            (true, true) => ";text-decoration:underline line-through",
            (true, false) => ";text-decoration:underline",
            (false, true) => ";text-decoration:line-through",
            (false, false) => "",
        };
        css.push_str(decoration);
        for (on, rule) in [
            (style.bold, ";font-weight:bold"),
            (style.dim, ";fill-opacity:.7"),
            (style.italic, ";font-style:italic"),
        ] {
            if on {
                css.push_str(rule);
            }
        }
        css.push('}');
    }
    css
}

fn runs(screen: &Buffer, palette: &Palette) -> Vec<Run> {
    let area = screen.area;
    let mut runs: Vec<Run> = Vec::new();
    for y in area.top()..area.bottom() {
        let mut x = area.left();
        while let Some(cell) = screen.cell((x, y)) {
            let text = shown(cell.symbol());
            let columns = u16::try_from(text.width()).unwrap_or(1).clamp(1, area.right() - x);
            let (style, ground) = Style::of(cell, palette);
            match runs.last_mut() {
                // Before a gap a run ends, so that a font cannot widen it.
                Some(run)
                    if columns == 1
                        && run.style == style
                        && run.ground == ground
                        && run.goes_on(x, y, &text) =>
                {
                    run.columns += columns;
                    run.text.push_str(&text);
                }
                _ => runs.push(Run { x: x - area.left(), y: y - area.top(), columns, text, style, ground }),
            }
            x += columns;
            if x >= area.right() {
                break;
            }
        }
    }
    runs
}

/// The content of a cell, without characters that XML does not allow.
fn shown(symbol: &str) -> String {
    let legal = |c: char| if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') { '\u{fffd}' } else { c };
    if symbol.is_empty() { " ".to_owned() } else { symbol.chars().map(legal).collect() }
}

impl Run {
    fn goes_on(&self, x: u16, y: u16, text: &str) -> bool {
        let wide = self.columns == 2 && self.text.width() == 2 && self.text.chars().count() == 1;
        let gap = self.text.ends_with("  ") && text != " ";
        self.y == y && self.x + self.columns == x && !wide && !gap
    }

    /// Whether anything but its background is visible.
    fn is_inked(&self) -> bool {
        self.text.chars().any(|c| c != ' ') || self.style.underlined || self.style.crossed_out
    }
}

impl Style {
    /// With the background of the cell.
    fn of(cell: &Cell, palette: &Palette) -> (Style, Rgb) {
        let has = |modifier| cell.modifier.contains(modifier);
        let (ink, ground) = (palette.rgb(cell.fg, palette.ink), palette.rgb(cell.bg, palette.ground));
        let (ink, ground) = if has(Modifier::REVERSED) { (ground, ink) } else { (ink, ground) };
        let style = Style {
            ink: if has(Modifier::HIDDEN) { ground } else { ink },
            bold: has(Modifier::BOLD),
            dim: has(Modifier::DIM),
            italic: has(Modifier::ITALIC),
            underlined: has(Modifier::UNDERLINED),
            crossed_out: has(Modifier::CROSSED_OUT),
        };
        (style, ground)
    }
}

fn x(column: u16) -> String {
    px(MARGIN + u32::from(column) * CELL.0)
}

fn y(row: u16) -> String {
    px(MARGIN + u32::from(row) * CELL.1)
}

/// Tenths of a pixel.
fn px(tenths: u32) -> String {
    match tenths % 10 {
        0 => (tenths / 10).to_string(),
        rest => format!("{}.{rest}", tenths / 10),
    }
}

fn hex((r, g, b): Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::{Color, Style as Look};

    use super::*;
    use crate::workbench::theme::Depth;

    fn picture(line: &str, look: Look, theme: &str) -> String {
        let mut screen = Buffer::empty(Rect::new(0, 0, 24, 1));
        screen.set_string(0, 0, line, look);
        svg(&screen, &Theme::builtin(theme, Depth::Rgb).unwrap())
    }

    #[test]
    fn runs_have_their_place_width_and_look() {
        let made =
            picture("ab 界c", Look::new().fg(Color::Rgb(1, 2, 3)).add_modifier(Modifier::BOLD), "harbor");
        for part in [
            r#"x="12" y="24.8" textLength="16.8" lengthAdjust="spacingAndGlyphs">ab</text>"#,
            r#"x="37.2" y="24.8" textLength="16.8" lengthAdjust="spacingAndGlyphs">界</text>"#,
            r#"x="54" y="24.8" textLength="8.4" lengthAdjust="spacingAndGlyphs">c</text>"#,
            "fill:#010203;font-weight:bold}",
        ] {
            assert!(made.contains(part), "{part} is not in\n{made}");
        }
    }

    #[test]
    fn what_is_reversed_has_the_ink_as_its_ground() {
        let made = picture("x", Look::new().add_modifier(Modifier::REVERSED), "mono");
        let palette = Theme::builtin("mono", Depth::Rgb).unwrap().palette();
        assert!(made.contains(&format!("height=\"17\" fill=\"{}\"", hex(palette.ink))), "{made}");
        assert!(made.contains(&format!(".s0{{fill:{}}}", hex(palette.ground))), "{made}");
    }

    #[test]
    fn what_looks_like_markup_is_text() {
        let made = picture("</text><b a=\"&\">", Look::new(), "paper");
        assert!(made.contains("&lt;/text&gt;&lt;b a=&quot;&amp;&quot;&gt;</text>"), "{made}");
        assert_eq!(shown("a\u{1}\u{ffff}"), "a\u{fffd}\u{fffd}");
    }
}
