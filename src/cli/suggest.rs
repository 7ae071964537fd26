//! `rulestep suggest`: rules that recordings suggest, as text or as policy documents.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;

use super::args::{
    Recordings, SelectionOptions, Threads, at_least_one, formats, only_sessions, where_help_without_policy,
};
use super::corpus_run::CorpusRun;
use super::count::Counting;
use super::new_file::create;
use super::selection::Selection;
use super::verb::{COUNTED_IN_PART, Exit, Exits, FAULT, Failure, INTERRUPTED, Screen, Verb};
use crate::report::formats::{formats as report_formats, write};
use crate::report::suggest::{View, WrittenDocument, action_sentence, counted, sentence, support};
use crate::report::words;
use crate::suggest::action::{self, ActionRule, ActionSuggestion, Suggested, suggest_actions, together};
use crate::suggest::document::{commented, file_name};
use crate::suggest::{Bounds, Candidate, Suggestion, Suggestions, suggest};
use rulestep_base::session::Session;
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;

/// Suggest rules that the recorded calls satisfy, with the number of these calls; -o writes them as policies
#[derive(Debug, Args)]
#[command(
    mut_arg("samples", only_sessions),
    mut_arg("filter", |filter| filter.help(where_help_without_policy()))
)]
pub struct Suggest {
    #[command(flatten)]
    pub recordings: Recordings,
    #[command(flatten)]
    pub selection: SelectionOptions,
    /// Folder to write the suggested rules to as policies, one file for each tool; if one of them exists, nothing is written
    #[arg(short, long, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
    /// Suggest a rule only if at least N sessions have calls that satisfy it; three times N if it forbids something. For a rule about
    /// a shared value, such as an order number, N different values are enough
    #[arg(long, default_value_t = Bounds::default().support, value_name = "N")]
    pub min_support: u64,
    /// Suggest a rule only if at most N recorded calls violate it
    #[arg(long, default_value_t = Bounds::default().against, value_name = "N")]
    pub max_violations: u64,
    /// Suggest at most N rules
    #[arg(long, default_value_t = Bounds::default().most, value_name = "N", value_parser = at_least_one())]
    pub most: usize,
    #[command(flatten)]
    pub threads: Threads,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = formats(report_formats::<View<'_>>()))]
    pub format: String,
}

impl Verb for Suggest {
    const NAME: &'static str = "suggest";
    const EXITS: Exits = &[
        (0, "all recordings were read, whether or not they suggest a rule"),
        COUNTED_IN_PART,
        (2, "wrong arguments, no session to read, or a file to write exists"),
        FAULT,
        INTERRUPTED,
    ];

    fn run(&self, screen: &mut Screen) -> Result<Exit, Failure> {
        let Suggest { recordings, selection, threads, format, output, .. } = self;
        let selection = Selection::of(selection)?;
        // Rules are looked for in what happened, whatever a policy would have made of it.
        if selection.asks_decisions() {
            let message = "`--where` asks what a policy decides, and `suggest` has none";
            return Err(Failure::usage(message).help("leave out `is:stopped`, `rule:`, `code:` and the like"));
        }
        let source = recordings.source("rulestep suggest SESSIONS")?;
        let mut run =
            CorpusRun::over(source, &recordings.reading, selection, Mode::Shadow, threads.jobs, screen)?;
        let sessions = sessions(&mut run, screen)?;
        let bounds = Bounds { support: self.min_support, against: self.max_violations, most: self.most };
        let suggestions = rules(&sessions, &bounds, screen);
        let documents = documents(&suggestions);
        if let Some(folder) = output {
            fs::create_dir_all(folder)
                .with_context(|| format!("{} cannot be made", folder.display()))
                .map_err(Failure::System)?;
            for document in &documents {
                create(&folder.join(&document.name), &document.text)?;
            }
            let files = words::count(documents.len() as u64, "file");
            screen.note(&format!("{files} written to {}", words::line(&folder.display().to_string())));
        }
        let view = View {
            suggestions: &suggestions,
            documents: &documents,
            read: &run.read,
            support: bounds.support,
            color: screen.color,
        };
        write(&view, format, screen.out())?;
        Ok(run.exit(false))
    }
}

/// All chosen sessions.
pub fn sessions(run: &mut CorpusRun<'_>, screen: &mut Screen) -> Result<Vec<Arc<Session>>, Failure> {
    let mut sessions: Vec<Arc<Session>> = Vec::new();
    let (policy, keep) = (Policy::empty(), |replay: &Replay| Arc::clone(replay.session()));
    let counting = Counting { policy: &policy, judge: Replay::new, count: &keep };
    counting.run(run, &mut |session| sessions.push(session), screen)?;
    Ok(sessions)
}

/// The rules that they suggest; those that no document can say are only counted.
pub fn rules(sessions: &[Arc<Session>], bounds: &Bounds, screen: &mut Screen) -> Vec<Suggested> {
    let Suggestions { rules, refused } = suggest(sessions, bounds);
    if !refused.is_empty() {
        let count = words::count(refused.len() as u64, "possible rule");
        let tools: BTreeSet<String> =
            refused.iter().map(|candidate| words::name(&candidate.tool).into_owned()).collect();
        let tools = words::list(tools);
        screen.note(&format!("{count} about {tools} not tried: no policy can name the tools in it"));
    }
    let actions = suggest_actions(sessions, bounds, &rules);
    together(rules, actions, bounds.most)
}

/// The suggestions as documents, each rule with its support before it: a contract for each tool, and one document of sequence
/// rules about what calls do.
pub fn documents(suggestions: &[Suggested]) -> Vec<WrittenDocument> {
    let mut candidates: Vec<(Candidate, &Suggestion)> = Vec::new();
    let mut actions: Vec<&ActionSuggestion> = Vec::new();
    for suggested in suggestions {
        match suggested {
            Suggested::Tools(suggestion) => candidates.extend(suggestion.tools.iter().map(|tool| {
                (Candidate { tool: Arc::clone(tool), claim: suggestion.claim.clone() }, suggestion)
            })),
            Suggested::Action(suggestion) => actions.push(suggestion),
        }
    }
    let notes = |candidate: &Candidate| {
        let found =
            candidates.iter().find(|(known, _)| known == candidate).map(|(_, suggestion)| *suggestion);
        let lines = |all: &Suggestion| {
            let own = Suggestion { tools: vec![Arc::clone(&candidate.tool)], ..all.clone() };
            let others = all.tools.len().saturating_sub(1) as u64;
            let shared = if others == 0 {
                String::new()
            } else {
                format!(" (the same for {})", words::count(others, "other tool"))
            };
            vec![format!("{}{shared}", sentence(&own)), support(all)]
        };
        found.map(lines).unwrap_or_default()
    };
    let plain: Vec<&Candidate> = candidates.iter().map(|(candidate, _)| candidate).collect();
    let contracts = commented(&plain, &notes, true).into_iter();
    let mut documents: Vec<WrittenDocument> = contracts
        .map(|document| WrittenDocument { name: document.name, text: document.text, dialect: "contract" })
        .collect();
    if !actions.is_empty() {
        // A tool may have the name of the file.
        let mut taken: HashSet<String> =
            documents.iter().map(|document| document.name.to_lowercase()).collect();
        let name = file_name("commands", &mut taken);
        let notes = |rule: &ActionRule| {
            let found = actions.iter().find(|one| one.rule == *rule);
            found.map(|one| vec![action_sentence(&one.rule), counted(one)]).unwrap_or_default()
        };
        let rules: Vec<&ActionRule> = actions.iter().map(|one| &one.rule).collect();
        let text = action::document(&rules, &notes, true);
        documents.push(WrittenDocument { name, text, dialect: "sequence_rule" });
    }
    documents
}
