//! `rulestep suggest`: rules that recordings suggest, as text or as policy documents.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use anyhow::Context as _;

use super::args;
use super::count::{Counting, ended};
use super::exit::{Exit, Failure};
use super::new_file::create;
use super::screen::Screen;
use super::selection::Selection;
use crate::engine::Mode;
use crate::policy::Policy;
use crate::replay::Replay;
use crate::report::suggest::{OUTPUTS, View, sentence, support};
use crate::report::{Total, words};
use crate::session::Session;
use crate::suggest::document::{Document, commented};
use crate::suggest::{Bounds, Candidate, Suggestion, Suggestions, suggest};

/// Runs the verb.
pub fn run(asked: &args::Suggest, screen: &mut Screen) -> Result<Exit, Failure> {
    let args::Suggest { recordings, selection, jobs, format, output, .. } = asked;
    let selection = Selection::of(selection)?;
    // Rules are looked for in what happened, whatever a policy would have made of it.
    if selection.asks_decisions() {
        let message = "`--where` asks what a policy decides, and `suggest` has none";
        return Err(Failure::usage(message).help("leave out `is:stopped`, `rule:`, `code:` and the like"));
    }
    let counting = Counting::new("suggest", recordings, &selection, Policy::empty(), Mode::Shadow, *jobs)?;
    let (sessions, read) = sessions(&counting, screen)?;
    let bounds = Bounds { support: asked.min_support, against: asked.max_violations, most: asked.most };
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
        screen.say(&format!("{files} written to {}", words::line(&folder.display().to_string())));
    }
    if let Some(output) = OUTPUTS.iter().find(|output| output.name == format) {
        let view = View {
            suggestions: &suggestions,
            documents: &documents,
            read: &read,
            support: bounds.support,
            color: screen.color,
        };
        (output.write)(&view, screen.out())?;
    }
    Ok(ended(&read))
}

/// All chosen sessions, and how completely they were read.
pub fn sessions(counting: &Counting<'_>, screen: &mut Screen) -> Result<(Vec<Arc<Session>>, Total), Failure> {
    let mut sessions: Vec<Arc<Session>> = Vec::new();
    let keep = |replay: &Replay| Arc::clone(replay.session());
    let read = counting.run(Replay::new, &keep, &mut |session| sessions.push(session), screen)?;
    Ok((sessions, read))
}

/// The rules that they suggest; those that no document can say are only counted.
pub fn rules(sessions: &[Arc<Session>], bounds: &Bounds, screen: &mut Screen) -> Vec<Suggestion> {
    let Suggestions { rules, refused } = suggest(sessions, bounds);
    if !refused.is_empty() {
        let count = words::count(refused.len() as u64, "possible rule");
        let tools: BTreeSet<String> =
            refused.iter().map(|candidate| words::name(&candidate.tool).into_owned()).collect();
        let tools = words::list(tools);
        screen.say(&format!("{count} about {tools} not tried: no policy can name the tools in it"));
    }
    rules
}

/// The suggestions as documents, each rule with its support before it.
pub fn documents(suggestions: &[Suggestion]) -> Vec<Document> {
    let mut candidates: Vec<(Candidate, &Suggestion)> = Vec::new();
    for suggestion in suggestions {
        for tool in &suggestion.tools {
            let candidate = Candidate { tool: Arc::clone(tool), claim: suggestion.claim.clone() };
            candidates.push((candidate, suggestion));
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
    commented(&plain, &notes, true)
}
