//! The user's configuration: `config.toml`, and `keys.toml` beside it.
//!
//! From text to settings and diagnostics; nothing here reads a file. Everything that can be read takes effect, whatever
//! else is wrong.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::{Command, Key, Keymap, TABLE, chord};
use super::theme::BUILTIN;
use crate::explore::table::Column;
use rulestep_base::diagnostic::{Diagnostic, code};
use rulestep_base::source::nearest::nearest;
use rulestep_base::source::{Source, Span};
use rulestep_engine::run::Mode;

/// The configured settings; `None` if not set.
#[derive(Debug, Default)]
pub struct Config {
    /// The theme.
    pub theme: Option<String>,
    /// Glyphs in ASCII alone.
    pub ascii: Option<bool>,
    /// The mode, unless the command line names one.
    pub mode: Option<Mode>,
    /// Whether edits are picked up.
    pub live: Option<bool>,
    /// The policy, unless the command line names one.
    pub policy: Vec<String>,
    /// The column that sessions are sorted by, and whether backwards.
    pub sort: Option<(Column, bool)>,
    /// The columns of the list of sessions, those first that are worth most; empty: the usual ones.
    pub columns: Vec<Column>,
    /// Whether the mouse is listened to.
    pub mouse: Option<bool>,
    /// Whether the next start restores the last state.
    pub restore: Option<bool>,
    /// The chords of commands.
    pub keymap: Keymap,
    /// The files that were read.
    pub files: Vec<String>,
    /// Problems of the files.
    pub problems: Vec<Diagnostic>,
}

const SETTINGS: [&str; 9] =
    ["theme", "ascii", "mode", "live", "policy", "sort", "columns", "mouse", "restore"];

/// The most keys of a chord.
const LONGEST: usize = 3;

type Entry<'t> = (&'t str, Span, &'t Spanned<DeValue<'t>>);

impl Config {
    /// Takes in `config.toml`.
    pub fn read_settings(&mut self, source: &Source) {
        self.each(source, |config, source, (name, at, value)| {
            let wrong = |allowed: &str| {
                let message = format!("`{name}` is {allowed}");
                Diagnostic::error(code::BAD_SETTING, message).at(source, span(value))
            };
            let word = value.get_ref().as_str();
            let flag = value.get_ref().as_bool().ok_or_else(|| wrong("`true` or `false`"));
            match name {
                "ascii" => config.ascii = Some(flag?),
                "live" => config.live = Some(flag?),
                "mouse" => config.mouse = Some(flag?),
                "restore" => config.restore = Some(flag?),
                "sort" => {
                    let word = word.ok_or_else(|| {
                        wrong("the name of a column, `-` before it for the other way round")
                    })?;
                    let (name, backwards) = word.strip_prefix('-').map_or((word, false), |name| (name, true));
                    let column = column(name).map_err(|help| wrong("the name of a column").help(help))?;
                    config.sort = Some((column, column.is_most_first() != backwards));
                }
                "columns" => {
                    let names = texts(value).ok_or_else(|| wrong("a list of names of columns"))?;
                    let mut columns = Vec::new();
                    for name in names {
                        let help = |help| wrong("a list of names of columns").help(help);
                        let column = column(&name).map_err(help)?;
                        // The title has what the others leave.
                        if column != Column::Title && !columns.contains(&column) {
                            columns.push(column);
                        }
                    }
                    config.columns = columns;
                }
                "theme" => {
                    let known = BUILTIN.map(|(name, _)| name);
                    let word = word.ok_or_else(|| wrong("the name of a theme"))?;
                    if !known.contains(&word) {
                        let help = match nearest(word, known) {
                            Some(near) => format!("did you mean `{near}`?"),
                            None => format!("the themes are {}", known.join(", ")),
                        };
                        return Err(wrong("the name of a theme").help(help));
                    }
                    config.theme = Some(word.to_owned());
                }
                "mode" => {
                    config.mode = match word {
                        Some("enforce") => Some(Mode::Enforce),
                        Some("shadow") => Some(Mode::Shadow),
                        _ => return Err(wrong("`enforce` or `shadow`")),
                    }
                }
                "policy" => {
                    config.policy =
                        texts(value).ok_or_else(|| wrong("a path in quotes, or a list of them"))?
                }
                _ => return Err(unknown(source, at, "setting", name, &SETTINGS)),
            }
            Ok(())
        });
    }

    /// Reads `keys.toml`: each line gives a command other chords.
    pub fn read_keys(&mut self, source: &Source) {
        let mut bound: Vec<(Command, Span)> = Vec::new();
        self.each(source, |config, source, (name, at, value)| {
            let Some(row) = TABLE.iter().find(|row| row.name == name) else {
                let known: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
                return Err(unknown(source, at, "command", name, &known));
            };
            let wrong = |code, message: String| Diagnostic::error(code, message).at(source, span(value));
            let Some(texts) = texts(value) else {
                return Err(wrong(
                    code::BAD_SETTING,
                    format!("`{name}` takes a chord in quotes, or a list of them"),
                ));
            };
            if row.command == Command::QuitNow {
                return Err(wrong(code::BAD_SETTING, "`quit-now` is always `Ctrl-c`".to_owned()));
            }
            if let Some((text, why)) = texts.iter().find_map(|text| Some((text, bad(text)?))) {
                return Err(wrong(code::BAD_CHORD, format!("`{text}` is not a chord: {why}")));
            }
            config.keymap.bind(row.command, &texts);
            bound.push((row.command, at));
            Ok(())
        });
        self.undo_clashes(source, bound);
    }

    /// A line that clashes has no effect; each one that is taken back may clash with another.
    fn undo_clashes(&mut self, source: &Source, mut bound: Vec<(Command, Span)>) {
        let table = Keymap::default();
        loop {
            let clashes = self.keymap.clashes();
            let clash = clashes.iter().find_map(|[one, other]| {
                let of = |command: Command| bound.iter().position(|(known, _)| *known == command);
                // Of two conflicting lines the later one is ignored.
                let (this, that) = match (of(one.0), of(other.0)) {
                    (Some(first), Some(second)) if first > second => (first, (one, other)),
                    (_, Some(second)) => (second, (other, one)),
                    (Some(first), None) => (first, (one, other)),
                    (None, None) => return None,
                };
                let ((_, text), (with, taken)) = (that.0, that.1);
                let message = match text == taken {
                    true => format!("`{text}` is `{}` already", with.row().name),
                    false => format!("`{text}` and `{taken}`, which is `{}`, begin alike", with.row().name),
                };
                Some((this, message))
            });
            let Some((at, message)) = clash else { return };
            let (command, place) = bound.remove(at);
            self.keymap.bind_from(&table, command);
            self.problems.push(Diagnostic::error(code::KEY_CLASH, message).at(source, place));
        }
    }

    fn each(
        &mut self,
        source: &Source,
        mut take: impl FnMut(&mut Self, &Source, Entry<'_>) -> Result<(), Diagnostic>,
    ) {
        let (table, errors) = DeTable::parse_recoverable(source.text());
        for error in errors {
            let message = error.message().lines().next().unwrap_or_default().to_owned();
            let place =
                error.span().map_or_else(Span::default, |range| Span { start: range.start, end: range.end });
            self.problems.push(Diagnostic::error(code::SETTINGS_SYNTAX, message).at(source, place));
        }
        let mut entries: Vec<(&str, Span, &Spanned<DeValue<'_>>)> = Vec::new();
        for (name, value) in table.get_ref() {
            let place = name.span();
            entries.push((name.get_ref().as_ref(), Span { start: place.start, end: place.end }, value));
        }
        entries.sort_by_key(|(_, place, _)| place.start);
        for entry in entries {
            if let Err(problem) = take(self, source, entry) {
                self.problems.push(problem);
            }
        }
    }
}

fn span(value: &Spanned<DeValue<'_>>) -> Span {
    let range = value.span();
    Span { start: range.start, end: range.end }
}

/// A text, or a list of texts.
fn texts(value: &Spanned<DeValue<'_>>) -> Option<Vec<String>> {
    match value.get_ref() {
        DeValue::String(text) => Some(vec![text.to_string()]),
        DeValue::Array(values) => {
            values.iter().map(|value| value.get_ref().as_str().map(str::to_owned)).collect()
        }
        _ => None,
    }
}

/// The column of this name; else the probable ones.
fn column(name: &str) -> Result<Column, String> {
    let known = Column::ALL.into_iter().find(|column| column.word() == name);
    known.ok_or_else(|| match nearest(name, Column::ALL.map(Column::word)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the columns are {}", Column::ALL.map(Column::word).join(", ")),
    })
}

fn unknown(source: &Source, at: Span, what: &str, name: &str, known: &[&str]) -> Diagnostic {
    let problem =
        Diagnostic::error(code::UNKNOWN_SETTING, format!("there is no {what} `{name}`")).at(source, at);
    match nearest(name, known.iter().copied()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None if known.len() < 10 => problem.help(format!("the {what}s are {}", known.join(", "))),
        None => problem.help("the workbench lists all commands by their names"),
    }
}

/// Why no keys are spelt so.
fn bad(text: &str) -> Option<&'static str> {
    let Some(keys) = chord::parse(text) else { return Some("`Ctrl-` and `Alt-` go with one key") };
    if keys.len() > LONGEST {
        return Some("it has more than three keys, and no key has this name");
    }
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Some("the keys follow each other without blanks; the key itself is called `Space`");
    }
    let digit = |key: &Key| {
        matches!(key, Key { code: crossterm::event::KeyCode::Char('0'..='9'), ctrl: false, alt: false })
    };
    keys.first().is_some_and(digit).then_some("digits are the numbers of panes, and counts")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workbench::keys::{Meaning, Scope};
    use crate::workbench::line::problem_place;

    fn read(settings: &str, keys: &str) -> (Config, Vec<String>) {
        let mut config = Config::default();
        config.read_settings(&Source::new("config.toml", settings));
        config.read_keys(&Source::new("keys.toml", keys));
        let shown = |problem: &Diagnostic| {
            let (place, help) = (problem_place(problem), problem.help.as_deref().unwrap_or_default());
            format!("{} {place} {} {help}", problem.code.as_str(), problem.message).trim_end().to_owned()
        };
        let problems = config.problems.iter().map(shown).collect();
        (config, problems)
    }

    #[test]
    fn the_page_of_an_unknown_setting_names_all_that_there_are() {
        let page = rulestep_engine::dialect::codes().find(|page| page.code == code::UNKNOWN_SETTING).unwrap();
        let (settings, _) = page.text.split_once(". In `keys.toml`").unwrap();
        let named: Vec<&str> = settings.split('`').skip(3).step_by(2).collect();
        assert_eq!(named, SETTINGS);
    }

    #[test]
    fn everything_that_can_be_chosen() {
        let settings = "theme = 'paper'\nascii = true\nmode = 'shadow'\nlive = false\npolicy = ['a', 'b']\n";
        let (config, problems) = read(settings, "zoom = ['gz', 'F2']\nquit = 'Q'\nlast-load = []\n");
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!((config.theme.as_deref(), config.mode), (Some("paper"), Some(Mode::Shadow)));
        assert_eq!((config.ascii, config.live), (Some(true), Some(false)));
        assert_eq!(config.policy, ["a", "b"]);
        let settings =
            "sort = '-calls'\ncolumns = ['when', 'title', 'calls', 'when']\nmouse = false\nrestore = false\n";
        let (sorted, problems) = read(settings, "");
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(
            (sorted.sort, sorted.mouse, sorted.restore),
            (Some((Column::Calls, false)), Some(false), Some(false))
        );
        assert_eq!(sorted.columns, [Column::When, Column::Calls]);
        assert_eq!(read("sort = 'calls'", "").0.sort, Some((Column::Calls, true)), "as `S` sorts first");
        assert_eq!(read("sort = 'title'", "").0.sort, Some((Column::Title, false)));
        let meaning = |text| config.keymap.meaning(&chord::parse(text).unwrap(), Scope::Panes);
        assert_eq!(meaning("gz"), Meaning::Command(Command::Zoom));
        assert_eq!(meaning("F2"), Meaning::Command(Command::Zoom));
        assert_eq!(
            (meaning("z"), meaning("dl"), meaning("q")),
            (Meaning::Nothing, Meaning::Nothing, Meaning::Nothing)
        );
    }

    #[test]
    fn mistakes_have_a_place_a_cause_and_the_nearest_name() {
        let cases = [
            (
                "them = 'paper'",
                "",
                "unknown_setting config.toml:1:1 there is no setting `them` did you mean `theme`?",
            ),
            (
                "theme = 'papr'",
                "",
                "bad_setting config.toml:1:9 `theme` is the name of a theme did you mean `paper`?",
            ),
            ("\nmode = 'audit'", "", "bad_setting config.toml:2:8 `mode` is `enforce` or `shadow`"),
            ("ascii = 'on'", "", "bad_setting config.toml:1:9 `ascii` is `true` or `false`"),
            (
                "sort = 'cals'",
                "",
                "bad_setting config.toml:1:8 `sort` is the name of a column did you mean `calls`?",
            ),
            (
                "columns = ['calls', 'wen']",
                "",
                "bad_setting config.toml:1:11 `columns` is a list of names of columns did you mean `when`?",
            ),
            ("columns = 3", "", "bad_setting config.toml:1:11 `columns` is a list of names of columns"),
            ("mouse = 'on'", "", "bad_setting config.toml:1:9 `mouse` is `true` or `false`"),
            (
                "policy = 3",
                "",
                "bad_setting config.toml:1:10 `policy` is a path in quotes, or a list of them",
            ),
            (
                "",
                "zoome = 'x'",
                "unknown_setting keys.toml:1:1 there is no command `zoome` did you mean `zoom`?",
            ),
            ("", "zoom = 7", "bad_setting keys.toml:1:8 `zoom` takes a chord in quotes, or a list of them"),
            (
                "",
                "zoom = 'Strg-z'",
                "bad_chord keys.toml:1:8 `Strg-z` is not a chord: it has more than three keys, and no key has this name",
            ),
            (
                "",
                "zoom = 'Ctrl-xy'",
                "bad_chord keys.toml:1:8 `Ctrl-xy` is not a chord: `Ctrl-` and `Alt-` go with one key",
            ),
            (
                "",
                "zoom = ''",
                "bad_chord keys.toml:1:8 `` is not a chord: `Ctrl-` and `Alt-` go with one key",
            ),
            (
                "",
                "zoom = '1z'",
                "bad_chord keys.toml:1:8 `1z` is not a chord: digits are the numbers of panes, and counts",
            ),
            ("", "zoom = 'j'", "key_clash keys.toml:1:1 `j` is `next-call` already"),
            ("", "zoom = ']'", "key_clash keys.toml:1:1 `]` and `]f`, which is `next-finding`, begin alike"),
            ("", "help = 'X'\nzoom = 'X'", "key_clash keys.toml:2:1 `X` is `help` already"),
            ("", "quit-now = 'x'", "bad_setting keys.toml:1:12 `quit-now` is always `Ctrl-c`"),
        ];
        for (settings, keys, expected) in cases {
            let (config, problems) = read(settings, keys);
            assert_eq!(problems, [expected], "{settings}{keys}");
            assert!(config.keymap.clashes().is_empty());
            assert_eq!(config.keymap.key(Command::Zoom), "z", "{keys}: a line with a mistake has no effect");
        }
    }

    #[test]
    fn what_can_be_read_holds() {
        let (config, problems) = read("theme = harbor\nascii = true\n", "zoom = 'gz'\nhelp = 'j'\n");
        assert_eq!(config.ascii, Some(true));
        assert_eq!(config.keymap.key(Command::Zoom), "gz");
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems[0].starts_with("settings_syntax config.toml:1:"), "{problems:?}");
        // Two commands exchange their keys.
        let (config, problems) = read("", "next-call = 'k'\nprevious-call = 'j'\n");
        assert_eq!((config.keymap.key(Command::NextCall), problems.len()), ("k".into(), 0));
    }
}
