//! Themes: the colours, weights and glyphs of roles, read from a TOML text.
//!
//! The view names roles (`verdict.deny`, `border.focus`), never colours. A role that a theme leaves out looks like its
//! prefix (`verdict.deny` → `verdict` → `text`). Nothing here reads a file or the environment.

pub mod color;
pub mod role;

use std::collections::BTreeMap;

use ratatui::style::{Modifier, Style};
use serde::Deserialize;

use self::color::parse_color;
use super::text::Marks;

pub use self::color::{Depth, Palette};
pub use self::role::{Glyph, Role};

/// A theme ready to draw with.
#[derive(Debug, Clone, PartialEq)]
pub struct Theme {
    /// Its name for `--theme`.
    pub name: String,
    /// The characters it draws with.
    pub glyphs: GlyphSet,
    styles: [Style; Role::ALL.len()],
}

/// The characters for verdicts, frames and marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GlyphSet {
    /// `✗ ~ ✓ –` and box drawing.
    #[default]
    Unicode,
    /// `x ~ + -`, for terminals and fonts that have no more.
    Ascii,
}

/// Why a theme cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ThemeError {
    /// No theme of that name is known.
    #[error("no theme `{name}`; known: {known}")]
    Unknown {
        /// The name asked for.
        name: String,
        /// The names there are, in one line.
        known: String,
    },
    /// Its text is not TOML, or has an unknown key.
    #[error("theme `{theme}`: {message}")]
    Syntax {
        /// The theme.
        theme: String,
        /// The message of the TOML reader, in one line.
        message: String,
    },
    /// A style names an invalid colour.
    #[error("theme `{theme}`: role `{role}`: no colour `{color}`")]
    Color {
        /// The theme.
        theme: String,
        /// The role.
        role: String,
        /// The word that is neither in the palette nor a colour.
        color: String,
    },
    /// A style for a role that does not exist.
    #[error("theme `{theme}`: no role `{role}`{}", nearest(.near))]
    Role {
        /// The theme.
        theme: String,
        /// The unknown role.
        role: String,
        /// A role with a similar name.
        near: Option<&'static str>,
    },
}

fn nearest(near: &Option<&'static str>) -> String {
    near.map(|name| format!(", did you mean `{name}`?")).unwrap_or_default()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    inherits: Option<String>,
    #[serde(default)]
    glyphs: Option<GlyphSet>,
    #[serde(default)]
    palette: BTreeMap<String, String>,
    #[serde(default)]
    roles: BTreeMap<String, Look>,
}

/// The style of a role, as written.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Look {
    #[serde(default)]
    fg: Option<String>,
    #[serde(default)]
    bg: Option<String>,
    #[serde(default)]
    bold: bool,
    #[serde(default)]
    dim: bool,
    #[serde(default)]
    italic: bool,
    #[serde(default)]
    underline: bool,
    #[serde(default)]
    reverse: bool,
}

/// The themes inside the program: name and text.
pub const BUILTIN: [(&str, &str); 7] = [
    ("ansi-dark", include_str!("../../themes/ansi-dark.toml")),
    ("ansi-light", include_str!("../../themes/ansi-light.toml")),
    ("mono", include_str!("../../themes/mono.toml")),
    ("contrast", include_str!("../../themes/contrast.toml")),
    ("colorblind", include_str!("../../themes/colorblind.toml")),
    ("harbor", include_str!("../../themes/harbor.toml")),
    ("paper", include_str!("../../themes/paper.toml")),
];

/// Longest chain of inheriting themes; more than the shipped ones need.
const GENERATIONS: usize = 8;

impl Theme {
    /// The theme of this name among those inside the program, with colours the terminal can show.
    ///
    /// # Errors
    /// No such theme.
    pub fn builtin(name: &str, depth: Depth) -> Result<Self, ThemeError> {
        let text = builtin_text(name).ok_or_else(|| ThemeError::Unknown {
            name: name.to_owned(),
            known: BUILTIN.map(|(name, _)| name).join(", "),
        })?;
        Self::parse(name, text, depth)
    }

    /// The theme that `text` describes; it may inherit from those inside the program.
    ///
    /// # Errors
    /// Not a theme: bad TOML, an unknown role, colour or parent.
    pub fn parse(name: &str, text: &str, depth: Depth) -> Result<Self, ThemeError> {
        let mut glyphs = None;
        let mut palette = BTreeMap::new();
        let mut looks: BTreeMap<&'static str, Look> = BTreeMap::new();
        let mut next = Some((name.to_owned(), text.to_owned()));
        for _ in 0..GENERATIONS {
            let Some((theme, text)) = next.take() else { break };
            let file: File = toml::from_str(&text).map_err(|error| ThemeError::Syntax {
                theme: theme.clone(),
                message: error.message().lines().next().unwrap_or_default().to_owned(),
            })?;
            glyphs = glyphs.or(file.glyphs);
            // The inheriting theme wins.
            for (key, value) in file.palette {
                palette.entry(key).or_insert(value);
            }
            for (role, look) in file.roles {
                let known = role::known(&role).ok_or_else(|| ThemeError::Role {
                    theme: theme.clone(),
                    near: role::nearest(&role),
                    role: role.clone(),
                })?;
                looks.entry(known).or_insert(look);
            }
            if let Some(parent) = file.inherits {
                let text = builtin_text(&parent).ok_or_else(|| ThemeError::Unknown {
                    name: parent.clone(),
                    known: BUILTIN.map(|(name, _)| name).join(", "),
                })?;
                next = Some((parent, text.to_owned()));
            }
        }
        let mut styles = [Style::new(); Role::ALL.len()];
        for (role, style) in Role::ALL.iter().zip(&mut styles) {
            let mut wanted = Some(role.name());
            while let Some(key) = wanted {
                if let Some(look) = looks.get(key) {
                    *style = look.style(&palette, depth).map_err(|color| ThemeError::Color {
                        theme: name.to_owned(),
                        role: key.to_owned(),
                        color,
                    })?;
                    break;
                }
                wanted = role::prefix(key);
            }
        }
        if depth == Depth::None
            && let Some(cursor) = styles.get_mut(Role::Cursor as usize)
        {
            // Without a background, nothing else would show the selected row.
            *cursor = cursor.add_modifier(Modifier::REVERSED);
        }
        Ok(Self { name: name.to_owned(), glyphs: glyphs.unwrap_or_default(), styles })
    }

    /// The style of this role on any background: the screen's own background is left out.
    pub fn style(&self, role: Role) -> Style {
        let mut style = self.ground(role);
        if style.bg == self.ground(Role::Text).bg {
            style.bg = None;
        }
        style
    }

    /// The style of an empty area of this role.
    pub fn ground(&self, role: Role) -> Style {
        self.styles.get(role as usize).copied().unwrap_or_default()
    }

    /// The colours of its screens where no terminal shows them.
    pub fn palette(&self) -> Palette {
        Palette::of(self.ground(Role::Text), self.name.ends_with("light"))
    }

    /// The characters of this glyph.
    pub const fn glyph(&self, glyph: Glyph) -> &'static str {
        match self.glyphs {
            GlyphSet::Unicode => glyph.unicode(),
            GlyphSet::Ascii => glyph.ascii(),
        }
    }

    /// The marks for recorded text in this theme.
    pub const fn marks(&self) -> Marks {
        match self.glyphs {
            GlyphSet::Unicode => Marks::Unicode,
            GlyphSet::Ascii => Marks::Ascii,
        }
    }
}

fn builtin_text(name: &str) -> Option<&'static str> {
    BUILTIN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

impl Look {
    fn style(&self, palette: &BTreeMap<String, String>, depth: Depth) -> Result<Style, String> {
        let mut style = Style::new();
        if depth != Depth::None {
            if let Some(color) = &self.fg {
                style = style.fg(depth.show(parse_color(color, palette).ok_or_else(|| color.clone())?));
            }
            if let Some(color) = &self.bg {
                style = style.bg(depth.show(parse_color(color, palette).ok_or_else(|| color.clone())?));
            }
        }
        let modifiers = [
            (self.bold, Modifier::BOLD),
            (self.dim, Modifier::DIM),
            (self.italic, Modifier::ITALIC),
            (self.underline, Modifier::UNDERLINED),
            (self.reverse, Modifier::REVERSED),
        ];
        for (on, modifier) in modifiers {
            if on {
                style = style.add_modifier(modifier);
            }
        }
        Ok(style)
    }
}

#[cfg(test)]
mod tests;
