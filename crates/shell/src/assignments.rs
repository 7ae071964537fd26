//! Effects of commands on variables: commands that set them, and commands that start programs with other values.

use std::sync::Arc;

use brush_parser::ast::{Assignment, AssignmentName, AssignmentValue};

use super::constants::{Constants, Exported, is_name, literal};
use super::facts::{Clears, Program};
use super::options::Arguments;
use super::walker::{Flow, Walker};
use super::word::{Piece, Word};

/// Commands of the shell that run others in it.
const SAME_SHELL: &str =
    "eval . source command builtin exec time ! trap jobs compgen mapfile readarray noglob nocorrect";

/// Whether the program runs its script in the same shell.
pub fn is_same_shell(name: &str) -> bool {
    SAME_SHELL.split(' ').any(|one| one == name)
}

/// The folder that is written before a program's name.
pub fn folder_of(program: &Word) -> Option<Word> {
    let Some((mut folder, _)) = program.rsplit_folder() else {
        // An unknown command may have one.
        let open = program.pieces.iter().any(|piece| matches!(piece, Piece::Unknown(_) | Piece::Home));
        return open.then(|| program.clone());
    };
    // The root ends with its own slash, and so does an unknown value.
    if matches!(folder.pieces.last(), None | Some(Piece::Unknown(_) | Piece::Home | Piece::Pattern(_))) {
        folder.push("/");
    }
    Some(folder)
}

impl Walker<'_> {
    /// An assignment before a command, or alone.
    pub fn assign(&mut self, assignment: &Assignment, value: &Word) {
        let AssignmentName::VariableName(name) = &assignment.name else {
            // An element of an array is its first one, perhaps.
            if let AssignmentName::ArrayElementName(name, _) = &assignment.name {
                self.constants.lose(name);
            }
            return;
        };
        let exported = self.exports_all.then_some(Exported::Yes);
        let value = match &assignment.value {
            AssignmentValue::Scalar(text) => plain(value, &text.value),
            AssignmentValue::Array(_) => None,
        };
        match assignment.append {
            true => self.constants.append(name, value),
            false => self.constants.set(name, value, exported),
        }
    }

    /// Arithmetic of a command.
    pub fn arithmetic(&mut self, text: &str, flow: Flow) {
        self.quoted(text, flow);
        self.constants.arithmetic(text);
    }

    /// The effect of a shell command on variables.
    pub fn settles(&mut self, name: &str, args: &[Word]) {
        match name {
            // It fails outside a function, but other shells do it all the same.
            "local" if self.calling == 0 => {
                let before = self.constants.clone();
                self.declares(name, args);
                self.constants.meet(&before);
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => self.declares(name, args),
            "set"
                if args
                    .iter()
                    .filter_map(Word::known)
                    .any(|word| word.starts_with('-') && word.contains('k')) =>
            {
                self.constants.forget("set -k");
            }
            _ if self.constants.is_empty() => {}
            "read" | "mapfile" | "readarray" | "getopts" | "vared" | "zparseopts" => self.loses(args),
            "printf" | "wait" => {
                let first = args.first();
                let sets = ["-v", "-p"]
                    .iter()
                    .any(|option| args.iter().any(|word| word.start().starts_with(option)));
                if sets || first.is_some_and(Word::is_open) {
                    self.loses(args);
                }
            }
            "let" => args.iter().for_each(|word| match word.known() {
                Some(text) => self.constants.arithmetic(text),
                None => self.constants.forget_values(),
            }),
            "unset" => {
                let functions = args.first().and_then(Word::known) == Some("-f");
                for word in args.iter().filter(|_| !functions) {
                    match word.known() {
                        Some(name) if is_name(name) => self.constants.unset(name),
                        Some(option) if option.starts_with('-') => {}
                        _ => self.constants.forget(&word.to_string()),
                    }
                }
            }
            "cd" | "pushd" | "popd" | "chdir" => {
                for name in ["PWD", "OLDPWD"] {
                    if self.constants.get(name).is_some() {
                        self.constants.lose(name);
                    }
                }
            }
            "alias" | "enable" if !args.is_empty() => self.constants.forget_values(),
            // It is unknown, and gets the name of a variable.
            _ if self.root.facts.program(name).is_none() => {
                for name in args.iter().filter_map(Word::known) {
                    if self.constants.get(name).is_some() {
                        self.constants.lose(name);
                    }
                }
            }
            _ => {}
        }
    }

    /// Sets the variables that a command names to unknown values.
    fn loses(&mut self, args: &[Word]) {
        for word in args {
            match word.known() {
                Some(text) => {
                    let name = text.split('[').next().unwrap_or(text);
                    let name = name.strip_prefix("-v").or_else(|| name.strip_prefix("-p")).unwrap_or(name);
                    let name = name.strip_prefix("-a").unwrap_or(name);
                    if is_name(name) {
                        self.constants.lose(name);
                    }
                }
                None => self.constants.forget_values(),
            }
        }
    }

    /// `export`, `declare` and others like them.
    fn declares(&mut self, command: &str, args: &[Word]) {
        let letters = |sign: char| {
            let options = args.iter().filter_map(Word::known).filter_map(move |word| word.strip_prefix(sign));
            options.flat_map(str::chars).collect::<String>()
        };
        let (on, off) = (letters('-'), letters('+'));
        // A name for another variable.
        if command != "export" && on.contains('n') {
            return self.constants.taint(None);
        }
        if on.contains(['f', 'F']) {
            return;
        }
        let exported = match command {
            "export" if on.contains('n') => Some(Exported::No),
            "export" => Some(Exported::Yes),
            _ if off.contains('x') => Some(Exported::No),
            _ if on.contains('x') => Some(Exported::Yes),
            _ => self.exports_all.then_some(Exported::Yes),
        };
        let changes = on.chars().any(|letter| !"xrgpn".contains(letter));
        let words =
            args.iter().filter(|word| !word.start().starts_with(['-', '+']) && !word.pieces.is_empty());
        for word in words {
            let pair = word.split_once('=');
            let name = pair.as_ref().map_or(word, |(name, _)| name);
            let Some(name) = name.known().map(|name| name.trim_end_matches('+')).filter(|name| is_name(name))
            else {
                self.constants.forget(&word.to_string());
                continue;
            };
            match &pair {
                Some((left, value)) if left.known().is_some_and(|left| left.ends_with('+')) => {
                    self.constants.append(name, plain(value, ""));
                }
                Some((_, value)) => self.constants.set(name, plain(value, ""), exported),
                None if self.constants.get(name).is_none() => {
                    self.constants.set(name, None, exported);
                }
                // Within a function, it is another variable of this name.
                None if self.calling > 0 && !matches!(command, "export" | "readonly") => {
                    self.constants.lose(name)
                }
                None => {}
            }
            if let Some(exported) = exported {
                self.constants.export(name, exported);
            }
            if changes {
                self.constants.taint(Some(name));
            }
            if command == "readonly" || on.contains('r') {
                self.constants.fix(name);
            }
        }
    }

    /// Enters what a program runs; returns the values before, to restore them afterwards. `None`: it runs in the same
    /// shell.
    pub fn enter(&mut self, name: &str) -> Option<Constants> {
        if self.constants.is_empty() || is_same_shell(name) || super::variables::is_builtin(name) {
            return None;
        }
        let kept = self.constants.clone();
        self.constants.enter();
        Some(kept)
    }

    /// The variables for a program that another one starts.
    pub fn passes_on(&mut self, row: &Program, name: &str, elsewhere: bool, found: &Arguments<'_>) {
        if elsewhere {
            self.constants.leave();
            for given in &found.options {
                let pair = given.value.as_ref().and_then(|value| value.split_once('='));
                match (given.name.as_str(), pair) {
                    ("-e" | "--env", Some((name, value))) => match name.known() {
                        Some(name) => self.constants.set(name, Some(literal(&value)), Some(Exported::Yes)),
                        None => self.constants.forget(&name.to_string()),
                    },
                    ("--env-file", _) => self.constants.forget("--env-file"),
                    _ => {}
                }
            }
            return;
        }
        let unset = found.values_of(&row.unsets).filter_map(Word::known);
        unset.for_each(|name| self.constants.remove(name));
        if row.adds_env {
            self.constants.forget(name);
        }
        match &row.clears_env {
            Some(Clears::With(names)) if found.has_any(names) => self.constants.leave(),
            Some(Clears::Unless(names)) if !found.has_any(names) && !self.constants.is_empty() => {
                self.constants.filter();
            }
            _ => {}
        }
    }

    /// The calls of a loop from this number on run again, with the variables that the loop has set.
    pub fn set_again(&mut self, from: usize, before: &Constants) {
        if self.constants == *before {
            return;
        }
        let Some(after) = self.constants.environment() else { return };
        for call in self.line.calls.iter_mut().skip(from).filter(|call| !call.elsewhere) {
            let own = call.env.as_deref().cloned().unwrap_or_default();
            let both = own.or(&after);
            if both != own {
                call.env = Some(Arc::new(both));
            }
        }
    }
}

/// The value of an assignment; `None` if the shell expands more in it than is modelled: `~` after a colon.
fn plain(value: &Word, written: &str) -> Option<Word> {
    (!written.contains(":~")).then(|| literal(value))
}
