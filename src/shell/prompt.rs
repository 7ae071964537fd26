//! Programs with commands of their own: editors, clients of databases and of file servers, debuggers. Some of these commands are a
//! shell's, some name files.

mod database;
mod debugger;
mod editor;
mod step;
mod transfer;

use step::Step;

use super::call::{Act, Extent};
use super::host;
use super::options::{Style, arguments};
use super::patch;
use super::scene::{self, Effects, Scene};
use super::walker::Input;
use super::word::{Piece, Word};

/// Which operands hold commands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operands {
    None,
    /// Those after `+`.
    Plus,
    /// All but the first.
    Rest,
}

/// When a program reads commands from its standard input.
#[derive(Clone, Copy)]
enum Fed {
    Never,
    Always,
    /// Only if it is given no command by its words.
    Alone,
    /// With one of these options.
    With(&'static str),
}

/// A program with commands of its own.
struct Prompt {
    names: &'static str,
    /// Options with a value.
    takes: &'static str,
    style: Style,
    /// Options whose values are commands.
    options: &'static str,
    operands: Operands,
    /// Options whose values are files with commands.
    files: &'static str,
    /// When it reads commands from its standard input.
    fed: Fed,
    /// What a line of them does.
    line: for<'t> fn(&'t str) -> Vec<Step<'t>>,
    /// How a line begins after which text follows, up to a `.` of its own.
    inserts: &'static [&'static str],
}

const VIM_TAKES: &str = "-c --cmd -S -w -W -T -u -U -i -t -q -l --listen --server --startuptime --servername --remote-expr --remote-send";

const PROMPTS: &[Prompt] = &[
    Prompt {
        names: "vi vim nvim view gvim mvim vimdiff nvimdiff rvim neovide ex",
        takes: VIM_TAKES,
        style: Style::Gnu,
        options: "-c --cmd",
        operands: Operands::Plus,
        files: "-S -l",
        fed: Fed::With("-e -E"),
        line: editor::vim,
        inserts: &["a", "i", "c", "append", "insert", "change"],
    },
    Prompt {
        names: "ex",
        takes: VIM_TAKES,
        style: Style::Gnu,
        options: "",
        operands: Operands::None,
        files: "",
        fed: Fed::Always,
        line: editor::vim,
        inserts: &["a", "i", "c", "append", "insert", "change"],
    },
    Prompt {
        names: "ed red",
        takes: "-p --prompt",
        style: Style::Gnu,
        options: "",
        operands: Operands::None,
        files: "",
        fed: Fed::Always,
        line: editor::ed,
        inserts: &["a", "i", "c"],
    },
    Prompt {
        names: "less more most zless",
        takes: "-b -D -h -j -k -o -O -p -P -t -T -x -y -z",
        style: Style::Gnu,
        options: "",
        operands: Operands::Plus,
        files: "",
        fed: Fed::Never,
        line: editor::less,
        inserts: &[],
    },
    Prompt {
        names: "psql pgcli usql vsql",
        takes: "-c --command -d --dbname -f --file -v --set --variable -L --log-file -o --output -F --field-separator -P --pset -R --record-separator -T --table-attr -h --host -p --port -U --username",
        style: Style::Gnu,
        options: "-c --command",
        operands: Operands::None,
        files: "-f --file",
        fed: Fed::Alone,
        line: database::psql,
        inserts: &[],
    },
    Prompt {
        names: "mysql mariadb mycli",
        takes: "-h --host -P --port -u --user -e --execute -D --database -S --socket --defaults-file --defaults-extra-file --protocol --tee --init-command --delimiter --pager",
        style: Style::Gnu,
        options: "-e --execute --init-command",
        operands: Operands::None,
        files: "",
        fed: Fed::Alone,
        line: database::mysql,
        inserts: &[],
    },
    Prompt {
        names: "sqlite3 sqlite duckdb litecli",
        takes: "-cmd -c -s -separator -init -newline -nullvalue -vfs -maxsize -lookaside -mmap -pagecache",
        style: Style::OneDash,
        options: "-cmd -c -s",
        operands: Operands::Rest,
        files: "-init",
        fed: Fed::Alone,
        line: database::sqlite,
        inserts: &[],
    },
    Prompt {
        names: "sqlplus sql sqlcl",
        takes: "-c -C -m -M -r -R",
        style: Style::OneDash,
        options: "",
        operands: Operands::None,
        files: "",
        fed: Fed::Always,
        line: database::sqlplus,
        inserts: &[],
    },
    Prompt {
        names: "sqlcmd",
        takes: "-Q -q -i -o -S -d -U -P -v -s -W -w -t -l -h -H",
        style: Style::Gnu,
        options: "-Q -q",
        operands: Operands::None,
        files: "-i",
        fed: Fed::Alone,
        line: database::sqlcmd,
        inserts: &[],
    },
    Prompt {
        names: "sftp ftp tnftp ncftp lftp",
        takes: "-b -B -c -D -e -F -i -J -l -o -P -R -S -s -X",
        style: Style::Gnu,
        options: "-e",
        operands: Operands::None,
        files: "-b",
        fed: Fed::Always,
        line: transfer::transfer,
        inserts: &[],
    },
    Prompt {
        names: "lftp",
        takes: "-c -e -f -p -u",
        style: Style::Gnu,
        options: "-c",
        operands: Operands::None,
        files: "-f",
        fed: Fed::Never,
        line: transfer::transfer,
        inserts: &[],
    },
    Prompt {
        names: "gdb cgdb lldb rust-gdb rust-lldb",
        takes: "-ex --ex -iex --iex -x --command -ix -o --one-line -O --one-line-before-file -k --one-line-on-crash -s --source -S -d --directory -cd -p --pid -c --core -n -f --file -a --arch",
        style: Style::OneDash,
        options: "-ex --ex -eval-command --eval-command -iex --iex -o --one-line -O --one-line-before-file -k --one-line-on-crash",
        operands: Operands::None,
        files: "-x -ix --command -s --source -S",
        fed: Fed::Always,
        line: debugger::gdb,
        inserts: &[],
    },
];

/// Scripts that a program with commands of its own hands to a shell. What these commands read and write is added to the effects.
pub fn scripts(
    name: &str,
    args: &[Word],
    input: &Input,
    scene: &Scene<'_>,
    found: &mut Effects,
) -> Vec<Word> {
    let mut scripts = Vec::new();
    if scene.root.facts.says_all_of(name) {
        return scripts;
    }
    if matches!(name, "apply_patch" | "applypatch") {
        let given = match input {
            Input::Text(text) => Some(text.as_str()),
            _ => args.first().and_then(Word::known),
        };
        let files = given.map(patch::files).unwrap_or_default();
        found.opaque |= files.is_empty();
        for (act, file) in files {
            scene::add(act, Extent::Itself, &Word::text(file), scene, found);
        }
    }
    for prompt in PROMPTS.iter().filter(|prompt| prompt.names.split(' ').any(|known| known == name)) {
        let given = arguments(args, &[prompt.takes], &|_| true, &[], prompt.style);
        let mut words: Vec<Word> = given.values(prompt.options).cloned().collect();
        match prompt.operands {
            Operands::None => {}
            Operands::Plus => words.extend(given.operands.iter().filter_map(|word| word.strip_prefix("+"))),
            Operands::Rest => words.extend(given.operands.iter().skip(1).cloned()),
        }
        for file in given.values(prompt.files).filter(|file| file.known() != Some("-")) {
            scene::add(Act::Reads, Extent::Itself, file, scene, found);
            found.opaque = true;
        }
        let fed = match prompt.fed {
            Fed::Never => false,
            Fed::Always => true,
            Fed::Alone => words.is_empty(),
            Fed::With(options) => given.has(options),
        };
        if fed {
            match input {
                Input::Nothing => {}
                Input::Text(text) => words.push(Word::text(text.as_str())),
                Input::File | Input::Unknown | Input::Names(_) => found.opaque = true,
            }
        }
        for word in words {
            prompt.read(&word, scene, found, &mut scripts);
        }
    }
    scripts
}

/// Operands that are files: those after `+` are commands.
pub fn files(name: &str, operands: &[Word]) -> Option<Vec<Word>> {
    let plus = |prompt: &Prompt| {
        prompt.operands == Operands::Plus && prompt.names.split(' ').any(|known| known == name)
    };
    let is_command = |word: &Word| word.start().starts_with('+');
    (operands.iter().any(is_command) && PROMPTS.iter().any(plus))
        .then(|| operands.iter().filter(|word| !is_command(word)).cloned().collect())
}

impl Prompt {
    /// Reads the lines of a word.
    fn read(&self, word: &Word, scene: &Scene<'_>, found: &mut Effects, scripts: &mut Vec<Word>) {
        let start = word.start();
        let whole = word.known().is_some();
        if !whole && start.trim().is_empty() {
            found.opaque = true;
            return;
        }
        let mut inserted = false;
        let mut at = 0;
        for line in start.split_inclusive('\n') {
            let begin = at;
            at += line.len();
            let text = line.trim_end_matches(['\n', '\r']);
            if inserted {
                inserted = text != ".";
                continue;
            }
            let command = text.trim_start_matches(|letter: char| !letter.is_alphabetic());
            inserted = self.inserts.contains(&command);
            // What follows the last line is not known.
            let open = !whole && at == start.len() && !line.ends_with('\n');
            for step in (self.line)(text) {
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
                    Step::Reaches(name) => found.reaches.extend(host::host(&rest(name), true)),
                    Step::Opaque => found.opaque = true,
                }
            }
        }
    }
}

/// These programs know `~` themselves.
fn at_home(file: Word) -> Word {
    match file.strip_prefix("~/") {
        Some(rest) => {
            let mut word = Word { pieces: vec![Piece::Home], many: false };
            word.push("/");
            word.append(&rest);
            word
        }
        None => file,
    }
}
