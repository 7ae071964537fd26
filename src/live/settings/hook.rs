//! The commands that an agent's settings give to its events.

use jsonc_parser::common::Range;

/// A command that the settings give to an event.
#[derive(Debug, Clone, PartialEq)]
pub struct Hook {
    /// The event.
    pub event: String,
    /// The command line.
    pub command: String,
    /// The tools it is for; `None`: every tool.
    pub matcher: Option<String>,
    /// Whether it is an entry of ours.
    pub is_ours: bool,
    /// What keeps one of ours from being called, or its answer from being used.
    pub flaws: Vec<Flaw>,
    /// The places of its group and of itself in the group, if the agent has groups.
    pub place: (usize, usize),
    /// Whether it is written as `install` does.
    pub is_plain: bool,
    /// The line, from 1.
    pub line: usize,
    /// The range of its command.
    pub(super) range: Range,
}

/// A flaw of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// The flaw, and what to do about it.
    pub text: String,
    /// Whether the hook does not work because of it.
    pub fatal: bool,
    /// Whether entering the hook again fixes it.
    pub fixed_by_install: bool,
}

impl Hook {
    /// Whether it is called for every call, and its answer is used.
    pub(super) fn is_whole(&self) -> bool {
        self.matcher.is_none() && !self.is_broken()
    }

    /// Whether it is to be entered again.
    pub(super) fn is_broken(&self) -> bool {
        self.flaws.iter().any(|flaw| flaw.fatal && flaw.fixed_by_install)
    }
}

/// Our hook that is called for most calls of an event.
pub fn best<'h>(hooks: &'h [Hook], event: &str) -> Option<&'h Hook> {
    let ours = || hooks.iter().filter(|hook| hook.is_ours && hook.event == event);
    ours().find(|hook| hook.is_whole()).or_else(|| ours().find(|hook| !hook.is_broken())).or(ours().next())
}

/// Whether a command line runs our hook for the agent of this name, whatever the program's file is called: what `install` enters names a policy.
pub fn is_ours(command: &str, agent: &str) -> bool {
    let names_policy = || option(command, &["-p", "--policy"]).is_some();
    let words = shlex::split(command).unwrap_or_default();
    words.windows(3).any(|three| match three {
        [program, verb, name] => {
            let file = program.rsplit(['/', '\\']).next().unwrap_or_default();
            verb == "hook" && name == agent && (file.contains("rulestep") || names_policy())
        }
        _ => false,
    })
}

/// The value of an option in one of our command lines, by any of its names.
pub fn option(command: &str, names: &[&str]) -> Option<String> {
    let words = shlex::split(command)?;
    let mut words = words.into_iter().skip_while(|word| word != "hook");
    let found = words.find_map(|word| match word.split_once('=') {
        Some((name, value)) if names.contains(&name) => Some(Some(value.to_owned())),
        _ => names.contains(&&*word).then_some(None),
    })?;
    found.or_else(|| words.next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_program_does_not_matter() {
        for (command, ours) in [
            ("rulestep hook codex", true),
            ("/nix/store/x/bin/.rulestep-wrapped hook codex -p p || exit 2", true),
            ("cd '/a b' && ./rs hook codex --policy=git:HEAD", true),
            ("rs hook codex", false),
            ("rs hook gemini-cli -p p", false),
            ("./theirs.sh -p hook codex", false),
        ] {
            assert_eq!(is_ours(command, "codex"), ours, "{command}");
        }
    }

    #[test]
    fn options_are_read_in_both_forms() {
        let names = ["-p", "--policy"];
        for (command, expected) in [
            ("cd '/a b' && rulestep hook codex -p contracts --limit 5 || exit 2", Some("contracts")),
            ("rulestep hook codex --policy=git:HEAD", Some("git:HEAD")),
            ("rulestep hook codex --policy 'a b'", Some("a b")),
            ("mkdir -p x && rulestep hook codex", None),
            ("rulestep hook codex --policy", None),
            ("rulestep hook 'codex", None),
        ] {
            assert_eq!(option(command, &names).as_deref(), expected, "{command}");
        }
    }
}
