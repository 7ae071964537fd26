//! The environment's settings for the terminal and the user's preferences: read once, at the start.

use std::path::{Path, PathBuf};

use crate::files;
use crate::workbench::config::Config;
use crate::workbench::theme::{Depth, GlyphSet};
use rulestep_base::diagnostic::{Diagnostic, code};
use rulestep_base::source::Source;

/// The variables that matter, as they are set; empty ones count as unset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// `TERM`.
    pub term: Option<String>,
    /// `COLORTERM`.
    pub colorterm: Option<String>,
    /// `COLORFGBG`: the terminal's own colours, background last.
    pub colorfgbg: Option<String>,
    /// `NO_COLOR` is set.
    pub no_color: bool,
    /// The character set's locale.
    pub locale: Option<String>,
    /// `VISUAL`, else `EDITOR`.
    pub editor: Option<String>,
}

impl Environment {
    /// Reads it.
    pub fn read() -> Self {
        let get = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self {
            term: get("TERM"),
            colorterm: get("COLORTERM"),
            colorfgbg: get("COLORFGBG"),
            no_color: get("NO_COLOR").is_some(),
            locale: get("LC_ALL").or_else(|| get("LC_CTYPE")).or_else(|| get("LANG")),
            editor: get("VISUAL").or_else(|| get("EDITOR")),
        }
    }

    /// The number of colours to use.
    pub fn depth(&self) -> Depth {
        if self.no_color {
            Depth::None
        } else {
            Depth::of_terminal(self.colorterm.as_deref(), self.term.as_deref())
        }
    }

    /// The default theme.
    pub fn theme(&self) -> &'static str {
        let background = self.colorfgbg.as_deref().and_then(|colors| colors.rsplit(';').next());
        match (self.no_color, background) {
            (true, _) => "mono",
            (false, Some("7" | "15")) => "ansi-light",
            _ => "ansi-dark",
        }
    }

    /// ASCII if the terminal cannot be trusted with more.
    pub fn glyphs(&self) -> Option<GlyphSet> {
        let utf8 = self.locale.as_deref().is_none_or(|locale| {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        });
        (!utf8 || self.term.as_deref() == Some("linux")).then_some(GlyphSet::Ascii)
    }

    /// The editor to open files with.
    pub fn editor(&self) -> &str {
        self.editor.as_deref().unwrap_or("vi")
    }
}

/// The program's folder for what the person chose, and the one for what it keeps, where the environment names any:
/// `XDG_CONFIG_HOME` and `XDG_STATE_HOME`, else `.config` and `.local/state` in `HOME`; on Windows in `APPDATA` and
/// `LOCALAPPDATA`.
pub fn folders() -> [Option<PathBuf>; 2] {
    let get = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = |below: &str| get("HOME").map(|home| home.join(below));
    let [config, state] = match cfg!(windows) {
        true => [get("APPDATA"), get("LOCALAPPDATA")],
        false => [home(".config"), home(".local/state")],
    };
    [get("XDG_CONFIG_HOME").or(config), get("XDG_STATE_HOME").or(state)]
        .map(|folder| Some(folder?.join("rulestep")))
}

/// Reads the user's configuration: the file that is named, else `RULESTEP_CONFIG`, else `config.toml` in the program's
/// folder; and `keys.toml` beside it.
///
/// # Errors A file that was named cannot be read.
pub fn config(named: Option<&str>) -> Result<Config, Diagnostic> {
    let variable = std::env::var("RULESTEP_CONFIG").ok().filter(|value| !value.is_empty());
    let named = named.map(str::to_owned).or(variable);
    let [folder, _] = folders();
    let mut config = Config::default();
    let Some(path) = named.clone().map(PathBuf::from).or(folder.map(|folder| folder.join("config.toml")))
    else {
        return Ok(config);
    };
    if let Some(source) = source(&path, named.is_some())? {
        config.read_settings(&source);
        config.files.push(source.name().to_owned());
    }
    match source(&path.with_file_name("keys.toml"), false) {
        Ok(Some(source)) => {
            config.read_keys(&source);
            config.files.push(source.name().to_owned());
        }
        Ok(None) => {}
        Err(problem) => config.problems.push(problem),
    }
    Ok(config)
}

/// The text of a file; `None` if there is no such file and none was named.
fn source(path: &Path, named: bool) -> Result<Option<Source>, Diagnostic> {
    let name = path.display().to_string();
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !named => return Ok(None),
        Err(error) => return Err(Diagnostic::error(code::UNREADABLE_FILE, error.to_string()).in_file(name)),
    };
    files::utf8(&name, bytes).map(|text| Some(Source::new(name, text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_chosen() {
        let plain = Environment { term: Some("xterm-256color".into()), ..Environment::default() };
        assert_eq!((plain.depth(), plain.theme(), plain.glyphs()), (Depth::Ansi256, "ansi-dark", None));
        let light = Environment { colorfgbg: Some("0;15".into()), ..plain.clone() };
        assert_eq!(light.theme(), "ansi-light");
        let none = Environment { no_color: true, ..light };
        assert_eq!((none.depth(), none.theme()), (Depth::None, "mono"));
        let posix = Environment { locale: Some("C".into()), ..plain };
        assert_eq!(posix.glyphs(), Some(GlyphSet::Ascii));
        let utf8 = Environment { locale: Some("en_US.UTF-8".into()), ..posix };
        assert_eq!(utf8.glyphs(), None);
    }
}
