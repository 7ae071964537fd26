//! Programs with commands of their own: editors, clients of databases and of file servers, debuggers, scripts of `sed`.
//! Some of these commands run a shell, some name files.

mod database;
mod debugger;
mod editor;
mod filter;
mod step;
mod transfer;

pub use step::Step;

use super::call::{Act, Extent, Host};
use super::facts::{CommandOperands, Commands, Fed, Language};
use super::host;
use super::options::{Arguments, arguments};
use super::patch;
use super::scene::{self, Effects, Scene, environment};
use super::walker::Input;
use super::word::Word;

/// Scripts that a program with its own commands hands to a shell. The files that these commands read and write are
/// added to the effects.
pub fn scripts(
    name: &str,
    args: &[Word],
    input: &Input,
    scene: &Scene<'_>,
    found: &mut Effects,
) -> Vec<Word> {
    let mut scripts = Vec::new();
    let facts = &scene.root.facts;
    let Some(program) =
        facts.program(name).filter(|row| !row.commands.is_empty() && !facts.says_all_of(name))
    else {
        return scripts;
    };
    let given = arguments(program, args);
    for commands in &program.commands {
        for file in given.values_of(&commands.files).filter(|file| file.known() != Some("-")) {
            scene::add(Act::Reads, Extent::Itself, file, scene, found);
            found.opaque = true;
        }
        for word in commands.texts(&given, input, found) {
            commands.read(&word, scene, found, &mut scripts);
        }
    }
    scripts
}

impl Commands {
    /// The texts of commands that the words and the standard input hold.
    fn texts(&self, given: &Arguments<'_>, input: &Input, found: &mut Effects) -> Vec<Word> {
        let mut words: Vec<Word> = given.values_of(&self.options).cloned().collect();
        match self.operands {
            CommandOperands::None => {}
            CommandOperands::Plus => words.extend(given.values("+").cloned()),
            CommandOperands::All => words.extend(given.rest().iter().cloned()),
            CommandOperands::First if words.is_empty() && !given.has_any(&self.files) => {
                words.extend(given.rest().first().cloned())
            }
            CommandOperands::First => {}
            CommandOperands::Rest => words.extend(given.rest().iter().skip(1).cloned()),
        }
        let fed = match &self.fed {
            Fed::Never => false,
            Fed::Always => true,
            Fed::Alone => words.is_empty(),
            Fed::With(options) => given.has_any(options),
        };
        match input {
            _ if !fed => {}
            Input::Nothing => found.opaque |= self.language == Language::Patch && words.is_empty(),
            Input::Text(text) => words.push(Word::text(text.as_str())),
            Input::File | Input::Unknown | Input::Names(_) => found.opaque = true,
        }
        words
    }

    /// The beginning of a line that is followed by text, up to a single `.`.
    fn inserts(&self) -> &'static [&'static str] {
        match self.language {
            Language::Vim => &["a", "i", "c", "append", "insert", "change"],
            Language::Ed => &["a", "i", "c"],
            _ => &[],
        }
    }

    /// Whether it is read as a whole, and not line by line.
    fn is_whole(&self) -> bool {
        matches!(
            self.language,
            Language::Awk | Language::Jq | Language::Patch | Language::Sed | Language::Socat
        )
    }

    /// The steps of a line, or of the whole text.
    fn steps<'t>(&self, line: &'t str) -> Vec<Step<'t>> {
        match self.language {
            Language::Awk => filter::awk(line),
            Language::Ed => editor::ed(line),
            Language::Gdb => debugger::gdb(line),
            Language::Jq => filter::jq(line),
            Language::Less => editor::less(line),
            Language::Mysql => database::mysql(line),
            Language::Patch => patch::steps(line),
            Language::Psql => database::psql(line),
            Language::Sed => filter::sed(line),
            Language::Socat => transfer::socat(line),
            Language::Sqlcmd => database::sqlcmd(line),
            Language::Sqlite => database::sqlite(line),
            Language::Sqlplus => database::sqlplus(line),
            Language::Transfer => transfer::transfer(line),
            Language::Vim => editor::vim(line),
        }
    }

    /// Reads the lines of a word.
    fn read(&self, word: &Word, scene: &Scene<'_>, found: &mut Effects, scripts: &mut Vec<Word>) {
        let start = word.start();
        let whole = word.known().is_some();
        if !whole && start.trim().is_empty() {
            found.opaque = true;
            if self.language == Language::Socat {
                found.reaches.push(Host::Unknown(word.to_string()));
            }
            return;
        }
        let mut inserted = false;
        let mut at = 0;
        let lines: Vec<&str> =
            if self.is_whole() { vec![start] } else { start.split_inclusive('\n').collect() };
        for line in lines {
            let begin = at;
            at += line.len();
            let text = line.trim_end_matches(['\n', '\r']);
            if inserted {
                inserted = text != ".";
                continue;
            }
            let command = text.trim_start_matches(|letter: char| !letter.is_alphabetic());
            inserted = self.inserts().contains(&command);
            // The text after the last line is unknown.
            let open = !whole && at == start.len() && !line.ends_with('\n');
            for step in self.steps(text) {
                let rest = |part: &str| {
                    let place = part.as_ptr().addr().checked_sub(start.as_ptr().addr());
                    let reaches_end = place.is_some_and(|place| place + part.len() == begin + text.len());
                    match place.filter(|_| open && reaches_end) {
                        Some(place) => Word { many: false, ..word.after(place) },
                        None => Word::text(part),
                    }
                };
                let mut add = |act, extent, file| scene::add(act, extent, &at_home(rest(file)), scene, found);
                match step {
                    Step::Runs(script) => scripts.push(rest(script)),
                    Step::Reads(file) => add(Act::Reads, Extent::Itself, file),
                    Step::ReadsDeep(file) => add(Act::Reads, Extent::Below, file),
                    Step::Writes(file) => add(Act::Writes, Extent::Itself, file),
                    Step::Deletes(file) => add(Act::Deletes, Extent::Itself, file),
                    Step::Variable(name) => {
                        let name = name.map_or_else(|| Word::pattern("*"), Word::text);
                        scene::add(Act::Reads, Extent::Itself, &environment(&name), scene, found);
                    }
                    Step::Reaches(name) => found.reaches.extend(host::host(&rest(name), true)),
                    Step::Opaque => found.opaque = true,
                }
            }
        }
    }
}

/// These programs know `~` themselves.
fn at_home(file: Word) -> Word {
    file.strip_prefix("~/").map_or(file, |rest| Word::at_home(&rest))
}
