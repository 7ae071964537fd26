//! `explain shell`: what commands do, and what a policy decides about them.
//!
//! A command is decided as a replay decides a recorded call, as the only call of a session made for it.

use std::path::{Component, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use serde_json::json;

use crate::cli::args::{AgentArgument, Format, Policies};
use crate::cli::exit::{Exit, Failure};
use crate::cli::input;
use crate::cli::screen::Screen;
use crate::report::shell as report;
use crate::report::{Look, Scope, text, words};
use rulestep_base::session::build::Builder;
use rulestep_base::session::{Body, Origin, Session};
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;
use rulestep_shell::facts::Table;
use rulestep_shell::{Line, Root, tool};

/// The tool that a command is given to unless `--tool` names another.
const TOOL: &str = "Bash";

/// How commands are asked about.
#[derive(Debug, Args)]
pub struct ShellArguments {
    /// With `shell`: read many commands, one per line, from FILE or from standard input (`-`), and print the decision of the -p
    /// policy on each. Blank lines and lines that begin with `#` are skipped
    #[arg(long, value_name = "FILE", conflicts_with = "at", requires = "policy")]
    pub commands: Option<String>,
    /// With `shell`: folder in which the session began and the agent runs the command, from which patterns and paths are taken
    /// [default: unknown]
    #[arg(long, value_name = "DIR", conflicts_with = "at")]
    pub cwd: Option<String>,
    /// With `shell` and -p: agent that makes the call [default: main]
    #[arg(long, value_enum, value_name = "AGENT", conflicts_with = "at", requires = "policy")]
    pub agent: Option<AgentArgument>,
    /// With `shell`: tool that is given the command [default: Bash]
    #[arg(long, value_name = "NAME", conflicts_with = "at")]
    pub tool: Option<String>,
}

/// What decides, and how it is shown.
pub struct Deciding<'a> {
    pub policies: &'a Policies,
    pub mode: Mode,
    pub format: Format,
}

/// What a command does, by what the policy knows of programs where one is named, and what the policy decides about it.
pub fn one(
    command: &str,
    shell: &ShellArguments,
    asked: &Deciding<'_>,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let policy = input::named_policy(asked.policies, screen)?;
    let template = CallTemplate::new(shell, policy.as_deref())?;
    template.note(policy.is_some(), screen);
    let read = template.read(command);
    let replay = policy.map(|policy| template.replay(command, &policy, asked.mode));
    match asked.format {
        Format::Json => {
            let data = report::data(command, &read, replay.as_ref()).map_err(std::io::Error::from)?;
            writeln!(screen.out(), "{data}")?;
        }
        Format::Text => {
            report::text(&read, screen.out())?;
            if let Some((replay, frame)) = replay.as_ref().and_then(|replay| Some((replay, replay.frame(1)?)))
            {
                let look = Look { scope: Scope::Full, color: screen.color };
                let call = replay.session().calls.first();
                writeln!(screen.out())?;
                call.map_or(Ok(()), |call| text::made_up_call(replay, &frame, call, &look, screen.out()))?;
            }
        }
    }
    let stops = replay.is_some_and(|replay| replay.summary().stops());
    Ok(if stops { Exit::Found } else { Exit::Clean })
}

/// What the policy decides about each of many commands.
pub fn many(
    file: &str,
    shell: &ShellArguments,
    asked: &Deciding<'_>,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let text = input::text("--commands", file)?;
    let commands = text.lines().filter(|line| {
        let line = line.trim_start();
        !line.is_empty() && !line.starts_with('#')
    });
    let mut commands = commands.peekable();
    if commands.peek().is_none() {
        return Err(Failure::usage(format!("`--commands {}` has no command in it", words::line(file)))
            .help("write one command a line; blank lines and lines that begin with `#` are skipped"));
    }
    let policy = input::policy(asked.policies, false, screen)?;
    let template = CallTemplate::new(shell, Some(&policy))?;
    template.note(true, screen);
    let (mut rows, mut stops) = (Vec::new(), false);
    for command in commands {
        let replay = template.replay(command, &policy, asked.mode);
        stops |= replay.summary().stops();
        match asked.format {
            Format::Json => {
                let data = report::decision_data(command, &replay).map_err(std::io::Error::from)?;
                writeln!(screen.out(), "{data}")?;
            }
            Format::Text => rows.extend(report::DecisionRow::of(command, &replay)),
        }
    }
    report::decisions(&rows, &Look { color: screen.color, ..Look::default() }, screen.out())?;
    screen.note("each command is decided as the first call of a session of its own");
    Ok(if stops { Exit::Found } else { Exit::Clean })
}

/// The call that is made for each command.
struct CallTemplate<'a> {
    tool: &'a str,
    /// The tool's argument that takes the command.
    argument: String,
    /// Absolute.
    folder: Option<String>,
    is_subagent: bool,
    facts: Table,
}

impl<'a> CallTemplate<'a> {
    fn new(asked: &'a ShellArguments, policy: Option<&Policy>) -> Result<CallTemplate<'a>, Failure> {
        let facts = policy.map(|policy| policy.facts(None)).unwrap_or_default();
        let tool = asked.tool.as_deref().unwrap_or(TOOL);
        let argument = tool::command_argument(&facts, tool).ok_or_else(|| {
            Failure::usage(format!("the tool `{}` runs no commands", words::line(tool)))
                .help("`rulestep explain facts` lists the tools with a `command`")
        })?;
        let folder = asked.cwd.as_deref().map(absolute).transpose();
        let folder = folder.context("the folder of `--cwd` is not known").map_err(Failure::System)?;
        Ok(CallTemplate {
            tool,
            argument: argument.to_owned(),
            folder,
            is_subagent: asked.agent == Some(AgentArgument::Sub),
            facts,
        })
    }

    /// Reports the assumptions of the answer.
    fn note(&self, decides: bool, screen: &mut Screen) {
        if self.facts.tool(self.tool).is_none() {
            let tool = words::line(self.tool);
            screen.note(&format!(
                "the tool `{tool}` is not known: the command is taken for its argument `command`"
            ));
        }
        if let Some(folder) = self.folder.as_ref().filter(|_| decides) {
            let folder = words::line(folder);
            screen.note(&format!(
                "`{folder}` is also taken for the folder of the session, to which patterns are relative"
            ));
        }
    }

    /// What the command does.
    fn read(&self, command: &str) -> Line {
        let root = Root::of(self.folder.as_deref().unwrap_or_default(), None, self.facts.clone());
        let arguments = json!({&self.argument: command});
        let mut read = tool::of_call(self.tool, Some(&arguments), &root);
        // A call of the tool has one small call even if the command is empty.
        read.calls.retain(|call| !call.program.to_string().is_empty() || !call.args.is_empty());
        read
    }

    fn replay(&self, command: &str, policy: &Arc<Policy>, mode: Mode) -> Replay {
        Replay::new(&Arc::new(self.session(command)), policy, mode)
    }

    fn session(&self, command: &str) -> Session {
        let origin = Origin { file: "-".into(), index: 0, format: "native", line: 1 };
        let mut made = Builder::new("command", origin);
        if let Some(folder) = &self.folder {
            made.context("cwd", folder.as_str().into());
        }
        made.facts().subagent = self.is_subagent;
        made.call(None, self.tool, Body::json(&json!({&self.argument: command}).to_string()), None);
        made.finish()
    }
}

/// A folder as recordings name it: from the root, without `..`.
fn absolute(folder: &str) -> std::io::Result<String> {
    let mut whole = PathBuf::new();
    for part in std::path::absolute(folder)?.components() {
        match part {
            Component::ParentDir => drop(whole.pop()),
            part => whole.push(part),
        }
    }
    Ok(whole.display().to_string())
}
