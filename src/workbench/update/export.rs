//! Exports the screen into a file. Nothing is written here.

use std::path::Path;
use std::sync::Arc;

use crate::report::single::Subject;
use crate::report::{DOCUMENTS, words};
use crate::workbench::effect::{Effect, Export};
use crate::workbench::model::Model;
use crate::workbench::model::supposed::summary;

/// The export for a file's name. A name that ends in `!` replaces an existing file.
pub fn export(model: &Model, typed: &str) -> Result<Effect, String> {
    let (file, replace) = match typed.strip_suffix('!') {
        Some(file) => (file, true),
        None => (typed, false),
    };
    let end = Path::new(file).extension().and_then(|end| end.to_str()).unwrap_or_default().to_lowercase();
    let file = file.to_owned();
    let format = match end.as_str() {
        "svg" => return Ok(Effect::Picture { file, replace }),
        "html" | "htm" => "html",
        "md" => "markdown",
        _ => {
            return Err(
                "the name says what is written: `.svg` the screen, `.html` or `.md` the session".to_owned()
            );
        }
    };
    let output = DOCUMENTS.iter().find(|output| output.name == format);
    let (Some(output), Some(replay)) = (output, model.replay()) else {
        return Err("no session is open that is judged already".to_owned());
    };
    let mut caveats = Vec::new();
    if let Some((layer, shown)) = model.shown_supposed() {
        if let Some(open) = &layer.case {
            let name = words::line(&open.case.name);
            caveats.push(format!("This is not a recording but the session of the case {name}."));
        }
        if layer.part.is_some() {
            caveats.push("This is not the whole session but a minimal example of it.".to_owned());
        }
        let changes = summary(&shown.what_if);
        if !changes.is_empty() {
            caveats.push(format!(
                "This is a what-if, not the recording. Changed before it was decided: {changes}."
            ));
        }
    }
    if model.basis.rules.stale {
        caveats.push("The policy files do not load just now. This is the last version that did.".to_owned());
    }
    let (session, policy) = (Arc::clone(replay.session()), Arc::clone(replay.policy()));
    let subject = Subject { session, policy, mode: replay.mode(), caveats };
    Ok(Effect::Export(Box::new(Export { file, replace, output, subject })))
}
