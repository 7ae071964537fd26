//! Scripts of Codex's code mode: JavaScript that reaches nothing except through the tools it calls. Literal commands
//! and patches in it are read; the script itself stays opaque, like code in another language, because it may call a
//! tool in a way that is not read here.

use serde_json::{Map, Value};

use super::call::{Line, SmallCall};
use super::path::Root;
use super::walk::read_in;
use super::word::Word;

/// The tool that runs scripts.
const TOOL: &str = "exec";
/// The script, as requests have it.
const INPUT: &str = "input";
/// The name that readers of recordings give a script whose calls are recorded separately, so that it does nothing else.
/// No tool has an argument of this name.
const RECORDED: &str = "code_mode_script";

/// A call of a script.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// A command, and the folder that it runs in.
    Command { text: String, folder: Option<String> },
    /// A patch.
    Patch(String),
}

/// The effects of a call of the tool that runs scripts; `None`: it runs no script.
pub fn line(
    tool: &str,
    given: &Map<String, Value>,
    root: &Root,
    patch: impl Fn(&str) -> SmallCall,
    blank: impl Fn() -> SmallCall,
) -> Option<Line> {
    let only = |key: &str| given.get(key)?.as_str().filter(|_| tool == TOOL && given.len() == 1);
    if only(RECORDED).is_some() {
        return Some(Line { calls: vec![blank()], problem: None });
    }
    // Elsewhere a tool of this name may run commands of a shell.
    let script = only(INPUT).filter(|script| is_script(script))?;
    let mut line = Line::default();
    for step in steps(script) {
        match step {
            Step::Command { text, folder } => {
                let folder = folder.map(|folder| super::given::path(&folder));
                append(&mut line, read_in(&text, folder.as_ref(), root));
            }
            Step::Patch(text) => line.calls.push(patch(&text)),
        }
    }
    line.calls.push(SmallCall { program: Word::text(TOOL), opaque: true, ..blank() });
    Some(line)
}

/// Whether a text calls a tool as a script does.
fn is_script(text: &str) -> bool {
    text.split(TOOLS).skip(1).any(|rest| {
        let name = rest.strip_prefix('.').and_then(|rest| rest.split_once('(')).map(|(name, _)| name);
        name.is_some_and(|name| {
            !name.is_empty() && name.chars().all(|letter| is_name(letter) && letter != '.')
        })
    })
}

/// Appends the commands of one line to those of others. That the script succeeded does not mean that any of them did.
fn append(line: &mut Line, mut own: Line) {
    let before = line.calls.len();
    let pipeline = line.calls.iter().map(|call| call.pipeline + 1).max().unwrap_or_default();
    for call in &mut own.calls {
        call.after.iter_mut().for_each(|other| *other += before);
        call.pipeline += pipeline;
        call.proven = false;
        call.at = 0..0;
    }
    line.calls.append(&mut own.calls);
    line.problem = line.problem.take().or(own.problem);
}

/// The calls of a script, in the order of the text.
fn steps(script: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut rest = script;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let after = |text: &'_ str, end: &str| text.find(end).map_or(text.len(), |at| at + end.len());
        let length = match first {
            '\'' | '"' | '`' => literal(rest).map_or_else(
                || after(rest.get(1..).unwrap_or_default(), &first.to_string()) + 1,
                |(_, length)| length,
            ),
            '/' if rest.starts_with("//") => after(rest, "\n"),
            '/' if rest.starts_with("/*") => after(rest, "*/"),
            't' if !is_name(before) && rest.starts_with(TOOLS) && !begins_with_name(rest, TOOLS.len()) => {
                let found = called(rest.get(TOOLS.len()..).unwrap_or_default());
                let (step, length) = found.unzip();
                steps.extend(step);
                TOOLS.len() + length.unwrap_or_default()
            }
            _ => first.len_utf8(),
        };
        let (passed, next) = rest.split_at_checked(length).unwrap_or((rest, ""));
        before = passed.chars().next_back().unwrap_or(' ');
        rest = next;
    }
    steps
}

/// The object with the tools in a script.
const TOOLS: &str = "tools";

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '$' | '.')
}

fn begins_with_name(text: &str, at: usize) -> bool {
    text.get(at..).and_then(|rest| rest.chars().next()).is_some_and(|next| is_name(next) && next != '.')
}

/// The call after `tools` with literal arguments, and its length in the text.
fn called(text: &str) -> Option<(Step, usize)> {
    let own = text.strip_prefix('.')?;
    let (name, given) = own.split_once('(')?;
    let (step, rest) = match name {
        "exec_command" => command(given.trim_start())?,
        "apply_patch" => {
            let given = given.trim_start();
            let (patch, length) = literal(given)?;
            (Step::Patch(patch), given.get(length..)?)
        }
        _ => return None,
    };
    let rest = rest.trim_start().strip_prefix(')')?;
    Some((step, text.len() - rest.len()))
}

/// The object with a command in front of a text, if all that it has is written out.
fn command(text: &str) -> Option<(Step, &str)> {
    let mut rest = text.strip_prefix('{')?.trim_start();
    let (mut command, mut folder) = (None, None);
    while !rest.starts_with('}') {
        let (key, value) = rest.split_once(':')?;
        let key = key.trim().trim_matches(['\'', '"']);
        let value = value.trim_start();
        let (given, length) = match literal(value) {
            Some((given, length)) => (Some(given), length),
            None => (None, value.find([',', '}'])?),
        };
        let (plain, after) = value.split_at_checked(length)?;
        match (key, given) {
            ("cmd", Some(given)) => command = Some(given),
            ("workdir", Some(given)) => folder = Some(given),
            (key, Some(_)) if is_key(key) => {}
            (key, None) if is_key(key) && !matches!(key, "cmd" | "workdir") && is_plain(plain.trim()) => {}
            _ => return None,
        }
        let after = after.trim_start();
        rest = after.strip_prefix(',').unwrap_or(after).trim_start();
        if !after.starts_with([',', '}']) {
            return None;
        }
    }
    Some((Step::Command { text: command?, folder }, rest.strip_prefix('}')?))
}

fn is_key(key: &str) -> bool {
    !key.is_empty() && key.chars().all(is_name)
}

/// Whether a value is a number or a truth value.
fn is_plain(value: &str) -> bool {
    matches!(value, "true" | "false" | "null") || value.parse::<f64>().is_ok()
}

/// The string literal at the beginning, and its length with the quotes.
fn literal(text: &str) -> Option<(String, usize)> {
    let mut letters = text.char_indices();
    let (_, quote) = letters.next().filter(|(_, quote)| matches!(quote, '\'' | '"' | '`'))?;
    let mut read = String::new();
    while let Some((at, letter)) = letters.next() {
        match letter {
            letter if letter == quote => return Some((read, at + 1)),
            '\n' if quote != '`' => return None,
            '$' if quote == '`' && text.get(at + 1..)?.starts_with('{') => return None,
            '\\' => match letters.next()?.1 {
                'n' => read.push('\n'),
                't' => read.push('\t'),
                'r' => read.push('\r'),
                '\n' => {}
                same if !same.is_alphanumeric() => read.push(same),
                // Numbers of letters, and what older scripts may mean by others.
                _ => return None,
            },
            letter => read.push(letter),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::Step::{Command, Patch};
    use super::*;

    fn run(text: &str) -> Step {
        Command { text: text.to_owned(), folder: None }
    }

    #[test]
    fn a_line_for_a_shell_is_no_script() {
        for text in ["git push", "cd tools.d && git push", "tools.sh (x)", "text(1 + 1)", "tools.(x)"] {
            assert!(!is_script(text), "{text}");
        }
        assert!(is_script("text(await tools.exec_command({cmd: 'ls'}))"));
        assert!(is_script("tools; tools.mcp__a__b({})"));
    }

    #[test]
    fn what_is_written_out_in_a_script_is_read_and_nothing_else_is_guessed() {
        for (script, expected) in [
            ("text(1 + 1);", vec![]),
            ("const r = await tools.exec_command({cmd: 'git push'}); text(r);", vec![run("git push")]),
            (
                "text(await tools.exec_command({ \"cmd\": \"npm test\", yield_time_ms: 1000, login: false }));\n\
                 text(await tools.exec_command({cmd: `ls 'a b'`, workdir: '/w'}));",
                vec![run("npm test"), Command { text: "ls 'a b'".to_owned(), folder: Some("/w".to_owned()) }],
            ),
            (r"tools.exec_command({cmd: 'it\'s\n'})", vec![run("it's\n")]),
            (r"tools.apply_patch('*** Begin Patch\n')", vec![Patch("*** Begin Patch\n".to_owned())]),
            // Said or left out, and not called.
            ("// tools.exec_command({cmd: 'rm x'})\ntext('tools.exec_command(…)')", vec![]),
            ("mytools.exec_command({cmd: 'ls'}); my.tools.x(); toolset()", vec![]),
            // Not written out.
            ("['a', 'git push'].map(cmd => tools.exec_command({cmd}))", vec![]),
            ("tools.exec_command({cmd: 'git ' + what})", vec![]),
            ("tools.exec_command({cmd: `git ${what}`})", vec![]),
            ("tools.exec_command({cmd: 'ls', ...more})", vec![]),
            ("tools.exec_command({cmd: 'ls', workdir: here})", vec![]),
            ("tools['exec_command']({cmd: 'ls'})", vec![]),
            ("const {exec_command} = tools; exec_command({cmd: 'ls'})", vec![]),
            ("tools.mcp__gh__push({})", vec![]),
            (r"tools.exec_command({cmd: '\x6cs'})", vec![]),
            (r"/'/; tools.exec_command({cmd: 'ls'}); /'/", vec![]),
        ] {
            assert_eq!(steps(script), expected, "{script}");
        }
    }
}
