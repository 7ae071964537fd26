//! Colours: their spelling, and the nearest one that a terminal can show.

use std::collections::BTreeMap;

use ratatui::style::{Color, Style};

/// The number of colours of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Depth {
    /// None: weights and reversal only.
    None,
    /// The sixteen colours that the terminal's user configured.
    #[default]
    Ansi16,
    /// The fixed table of 256.
    Ansi256,
    /// Red, green and blue.
    Rgb,
}

impl Depth {
    /// By the usual environment variables: `COLORTERM` and `TERM`.
    pub fn of_terminal(colorterm: Option<&str>, term: Option<&str>) -> Self {
        match (colorterm, term) {
            (Some("truecolor" | "24bit"), _) => Self::Rgb,
            (_, Some(term)) if term.ends_with("-direct") => Self::Rgb,
            (_, Some(term)) if term.contains("256color") => Self::Ansi256,
            (_, Some("dumb")) => Self::None,
            _ => Self::Ansi16,
        }
    }

    /// The colour nearest to this one that the terminal shows.
    pub fn show(self, color: Color) -> Color {
        match (self, color) {
            (Self::None, _) => Color::Reset,
            (Self::Rgb, _) => color,
            (Self::Ansi256, Color::Rgb(r, g, b)) => Color::Indexed(nearest_indexed((r, g, b))),
            (Self::Ansi16, Color::Rgb(r, g, b)) => nearest_ansi((r, g, b)),
            (Self::Ansi16, Color::Indexed(index)) => nearest_ansi(indexed_rgb(index)),
            _ => color,
        }
    }
}

/// A colour as a theme spells it: a name of the palette, `#rrggbb`, an index of the 256, or one of the sixteen names.
pub fn parse_color(text: &str, palette: &BTreeMap<String, String>) -> Option<Color> {
    // One step only: a palette names colours, not other names of itself.
    let text = palette.get(text).map_or(text, String::as_str);
    match text {
        "default" => Some(Color::Reset),
        _ => text.parse().ok(),
    }
}

/// Relative luminance, 0 (black) to 1 (white), as WCAG 2 defines it.
#[cfg(test)]
pub fn luminance((r, g, b): (u8, u8, u8)) -> f64 {
    let linear = |part: u8| {
        let part = f64::from(part) / 255.0;
        if part <= 0.03928 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
}

/// Contrast of two colours, 1 to 21, as WCAG 2 defines it.
#[cfg(test)]
pub fn contrast(one: (u8, u8, u8), other: (u8, u8, u8)) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

const ANSI: [(Color, (u8, u8, u8)); 16] = [
    (Color::Black, (0, 0, 0)),
    (Color::Red, (205, 0, 0)),
    (Color::Green, (0, 205, 0)),
    (Color::Yellow, (205, 205, 0)),
    (Color::Blue, (0, 0, 238)),
    (Color::Magenta, (205, 0, 205)),
    (Color::Cyan, (0, 205, 205)),
    (Color::Gray, (229, 229, 229)),
    (Color::DarkGray, (127, 127, 127)),
    (Color::LightRed, (255, 0, 0)),
    (Color::LightGreen, (0, 255, 0)),
    (Color::LightYellow, (255, 255, 0)),
    (Color::LightBlue, (92, 92, 255)),
    (Color::LightMagenta, (255, 0, 255)),
    (Color::LightCyan, (0, 255, 255)),
    (Color::White, (255, 255, 255)),
];

/// Levels of the 6x6x6 cube in the table of 256.
const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

fn distance(one: (u8, u8, u8), other: (u8, u8, u8)) -> u32 {
    let part = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
    // The eye weighs green most.
    3 * part(one.0, other.0) + 6 * part(one.1, other.1) + part(one.2, other.2)
}

fn nearest_ansi(rgb: (u8, u8, u8)) -> Color {
    ANSI.iter().min_by_key(|(_, known)| distance(rgb, *known)).map_or(Color::Reset, |(color, _)| *color)
}

fn nearest_indexed(rgb: (u8, u8, u8)) -> u8 {
    (16..=255).min_by_key(|index| distance(rgb, indexed_rgb(*index))).unwrap_or(16)
}

fn indexed_rgb(index: u8) -> (u8, u8, u8) {
    if let Some((_, rgb)) = ANSI.get(usize::from(index)) {
        return *rgb;
    }
    if index >= 232 {
        let gray = 8 + 10 * (index - 232);
        return (gray, gray, gray);
    }
    let level = |at: u8| LEVELS.get(usize::from(at)).copied().unwrap_or(255);
    let cube = index - 16;
    (level(cube / 36), level(cube / 6 % 6), level(cube % 6))
}

/// The colours of a screen outside a terminal.
pub struct Palette {
    /// The colour of text without one.
    pub ink: (u8, u8, u8),
    /// The colour of the background.
    pub ground: (u8, u8, u8),
    sixteen: [u32; 16],
}

/// The sixteen on a dark ground, each readable there.
const DARK: [u32; 16] = [
    0x3b4252, 0xf4776d, 0x93dcae, 0xe0b060, 0x7cb0e8, 0xc9a7f2, 0x7cc4e8, 0xd3dae2, 0x98a4b1, 0xff9a90,
    0xa8ecc0, 0xf3d27a, 0x9cc8f5, 0xdcc2fa, 0x9fdcf5, 0xf2f5f8,
];
/// The sixteen on a light ground, each readable there.
const LIGHT: [u32; 16] = [
    0x1f2328, 0xb3261e, 0x1a6b33, 0x7a4b00, 0x1f56a8, 0x7a3ea8, 0x0b6478, 0x4d5660, 0x59636e, 0xb3261e,
    0x1a6b33, 0x7a4b00, 0x1f56a8, 0x7a3ea8, 0x0b6478, 0x1f2328,
];

impl Palette {
    /// Of a screen whose empty cells look so. If they have no colour, the background is dark unless the theme is for
    /// light ones.
    pub fn of(empty: Style, light: bool) -> Palette {
        let (ink, ground, sixteen) = match light {
            true => ((0x1f, 0x23, 0x28), (0xff, 0xff, 0xff), LIGHT),
            false => ((0xd3, 0xda, 0xe2), (0x14, 0x18, 0x1d), DARK),
        };
        let mut palette = Palette { ink, ground, sixteen };
        palette.ink = palette.rgb(empty.fg.unwrap_or_default(), ink);
        palette.ground = palette.rgb(empty.bg.unwrap_or_default(), ground);
        palette
    }

    /// A colour in red, green and blue; one that is the terminal's own is `own`.
    pub fn rgb(&self, color: Color, own: (u8, u8, u8)) -> (u8, u8, u8) {
        let named =
            |at: usize| self.sixteen.get(at).map(|rgb| ((rgb >> 16) as u8, (rgb >> 8) as u8, *rgb as u8));
        match color {
            Color::Reset => own,
            Color::Rgb(r, g, b) => (r, g, b),
            Color::Indexed(index) => named(usize::from(index)).unwrap_or_else(|| indexed_rgb(index)),
            other => ANSI.iter().position(|(known, _)| *known == other).and_then(named).unwrap_or(own),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings() {
        let palette = BTreeMap::from([("ink".to_owned(), "#102030".to_owned())]);
        let cases = [
            ("ink", Some(Color::Rgb(0x10, 0x20, 0x30))),
            ("red", Some(Color::Red)),
            ("lightblue", Some(Color::LightBlue)),
            ("208", Some(Color::Indexed(208))),
            ("default", Some(Color::Reset)),
            ("inkk", None),
            ("#12345", None),
        ];
        for (text, want) in cases {
            assert_eq!(parse_color(text, &palette), want, "{text}");
        }
    }

    #[test]
    fn nearest_colours() {
        assert_eq!(Depth::Ansi256.show(Color::Rgb(255, 135, 0)), Color::Indexed(208));
        assert_eq!(Depth::Ansi16.show(Color::Rgb(250, 10, 5)), Color::LightRed);
        assert_eq!(Depth::Ansi16.show(Color::Indexed(16)), Color::Black);
        assert_eq!(Depth::None.show(Color::Red), Color::Reset);
        assert_eq!(Depth::Ansi16.show(Color::Reset), Color::Reset);
    }

    #[test]
    fn depth_of_terminals() {
        assert_eq!(Depth::of_terminal(Some("truecolor"), Some("xterm")), Depth::Rgb);
        assert_eq!(Depth::of_terminal(None, Some("screen-256color")), Depth::Ansi256);
        assert_eq!(Depth::of_terminal(None, Some("linux")), Depth::Ansi16);
        assert_eq!(Depth::of_terminal(Some(""), None), Depth::Ansi16);
    }

    #[test]
    fn contrast_of_black_and_white_is_21() {
        assert!((contrast((0, 0, 0), (255, 255, 255)) - 21.0).abs() < 1e-9);
    }
}
