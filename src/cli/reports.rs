//! Where reports go: one to standard output, and any number to files.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::Context as _;

use super::args::Policies;
use super::corpus_run::CorpusRun;
use super::exit::Failure;
use super::input::SessionSource;
use super::screen::Screen;
use super::selection::Nothing;
use crate::files::replace::PendingFile;
use crate::report::ci::failed::{self, NoResult};
use rulestep_base::diagnostic::Diagnostic;
use rulestep_engine::run::Mode;

/// The reports of a run.
pub struct Reports<O: 'static> {
    /// The outputs, in the order of what is written.
    pub outputs: Vec<&'static O>,
    names: Vec<&'static str>,
    /// The file of each; `None` is standard output.
    files: Vec<Option<PendingFile>>,
}

impl<O> Reports<O> {
    /// Opens them: `format` for standard output, if that is wanted, and each of `asked`, which are `FORMAT=FILE`. None of the
    /// files may be one of `inputs`.
    pub fn open<'n>(
        format: Option<&str>,
        asked: &[String],
        (known, name_of): (&'static [O], fn(&O) -> &'static str),
        inputs: impl Iterator<Item = &'n str>,
    ) -> Result<Reports<O>, Failure> {
        let named = |name: &str| {
            let found = known.iter().find(|output| name_of(output) == name);
            found.ok_or_else(|| {
                let names: Vec<String> =
                    known.iter().map(|output| format!("`{}`", name_of(output))).collect();
                Failure::usage(format!("there is no report `{name}`"))
                    .help(format!("there are {}", names.join(", ")))
            })
        };
        let mut outputs: Vec<&'static O> = format.map(named).transpose()?.into_iter().collect();
        let mut paths: Vec<&str> = Vec::new();
        for report in asked {
            let Some((format, path)) = report.split_once('=').filter(|(_, path)| !path.is_empty()) else {
                return Err(Failure::usage(format!("`--report {report}` names no file"))
                    .help("write a format and a file: `--report markdown=diff.md`"));
            };
            if paths.contains(&path) {
                return Err(Failure::usage(format!("two reports would be written to `{path}`")));
            }
            outputs.push(named(format)?);
            paths.push(path);
        }
        spare(paths.iter().map(Path::new), inputs)
            .map_err(|failure| failure.help("name another file for the report"))?;
        let screen = format.iter().map(|_| Ok(None));
        let files = screen.chain(paths.into_iter().map(|path| create(path).map(Some)));
        let files = files.collect::<Result<Vec<_>, Failure>>()?;
        Ok(Reports { names: outputs.iter().copied().map(name_of).collect(), outputs, files })
    }

    /// Writes what each output made of a session.
    pub fn write(&mut self, parts: &[Vec<u8>], screen: &mut Screen) -> std::io::Result<()> {
        self.files.iter_mut().zip(parts).try_for_each(|(file, part)| match file {
            Some(file) => file.write_all(part),
            None => screen.write(part),
        })
    }

    /// Writes what closes them. `end` is asked for each output, with whether it may be coloured.
    pub fn end(
        self,
        screen: &mut Screen,
        end: &dyn Fn(&O, bool, &mut dyn Write) -> std::io::Result<()>,
    ) -> Result<(), Failure> {
        for (file, output) in self.files.into_iter().zip(&self.outputs) {
            match file {
                Some(mut file) => {
                    end(output, false, &mut file)?;
                    file.finish()?;
                }
                None => {
                    let color = screen.color;
                    end(output, color, screen.out())?;
                }
            }
        }
        Ok(())
    }

    /// Writes why a version does not load, where that is why; gives the reason back, or why that could not be written.
    pub fn undecided(
        self,
        verb: &'static str,
        schema: &'static str,
        failure: Failure,
        command: &str,
        screen: &mut Screen,
    ) -> Failure {
        let Failure::Undecided { message, told } = &failure else { return failure };
        let test = "the version loads";
        match self.failed(&NoResult { schema, test, verb, message, diagnostics: told, command }, screen) {
            Ok(()) => failure,
            Err(other) => other,
        }
    }

    /// Writes why nothing was judged, so that no report looks like one in which nothing is wrong.
    pub fn nothing_judged(
        self,
        Nothing { test, message }: Nothing,
        verb: &'static str,
        schema: &'static str,
        told: &[Diagnostic],
        command: &str,
        screen: &mut Screen,
    ) -> Result<(), Failure> {
        self.failed(&NoResult { schema, test, verb, message, diagnostics: told, command }, screen)
    }

    /// As text on standard output people read it anyway, from standard error.
    fn failed(self, failed: &NoResult<'_>, screen: &mut Screen) -> Result<(), Failure> {
        for (file, name) in self.files.into_iter().zip(self.names) {
            match file {
                Some(mut file) => {
                    failed::write(name, failed, &mut file)?;
                    file.finish()?;
                }
                None if name == "text" => {}
                None => failed::write(name, failed, screen.out())?,
            }
        }
        Ok(())
    }
}

/// Refuses to write over what is to be read.
pub fn spare<'p, 'n>(
    files: impl Iterator<Item = &'p Path>,
    mut inputs: impl Iterator<Item = &'n str>,
) -> Result<(), Failure> {
    let files: Vec<_> = files.filter_map(|path| fs::canonicalize(path).ok()).collect();
    if files.is_empty() {
        return Ok(());
    }
    let is_output = |input: &&str| fs::canonicalize(input).is_ok_and(|input| files.contains(&input));
    match inputs.find(is_output) {
        None => Ok(()),
        Some(input) => Err(Failure::usage(format!("`{input}` would be overwritten while it is read"))),
    }
}

fn create(path: &str) -> Result<PendingFile, Failure> {
    let made = || -> anyhow::Result<PendingFile> {
        if let Some(folder) = Path::new(path).parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder)?;
        }
        Ok(PendingFile::create(Path::new(path))?)
    };
    made().with_context(|| format!("the report `{path}` cannot be written")).map_err(Failure::System)
}

/// The command that judges the same again, as it is typed.
pub struct Command(String);

impl Command {
    /// Of this verb, with the sessions and how they are read.
    pub fn of(verb: &str, run: &CorpusRun<'_>) -> Command {
        let mut command = Command(format!("rulestep {verb}"));
        match &run.source {
            SessionSource::Samples => command.0.push_str(" --samples"),
            SessionSource::Named(named) => named.iter().for_each(|named| command.word(named)),
        }
        command.option("--from", run.reading.from.iter());
        command.option("--error-regex", run.reading.error_regex.iter());
        command.option("--refused-regex", run.reading.refused_regex.iter());
        let given = run.selection.given().iter();
        given.for_each(|(option, text)| command.option(option, std::iter::once(text)));
        command
    }

    /// With the policies and how they judge.
    pub fn policies(mut self, policies: &Policies, base: &[String], mode: Mode) -> Command {
        self.option("-p", policies.policy.iter());
        self.option("-b", base.iter());
        self.option("--only", policies.only.iter());
        if mode == Mode::Shadow {
            self.0.push_str(" --mode shadow");
        }
        self
    }

    /// As text.
    pub fn text(self) -> String {
        self.0
    }

    fn option(&mut self, name: &str, words: impl Iterator<Item = impl AsRef<str>>) {
        for word in words {
            self.0.push(' ');
            self.0.push_str(name);
            self.word(word.as_ref());
        }
    }

    fn word(&mut self, word: &str) {
        let plain = |c: char| c.is_alphanumeric() || "/._-:=@%+,~^".contains(c);
        self.0.push(' ');
        if !word.is_empty() && word.chars().all(plain) {
            self.0.push_str(word);
        } else {
            self.0.push_str(&format!("'{}'", word.replace('\'', "'\\''")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_read_otherwise_is_quoted() {
        let mut command = Command("rulestep diff".to_owned());
        for word in ["s/*.json", "git:HEAD~1", "it's", ""] {
            command.word(word);
        }
        assert_eq!(command.text(), "rulestep diff 's/*.json' git:HEAD~1 'it'\\''s' ''");
    }
}
