//! A line of text typed for something: other arguments, another result, an added call, a file's name, a base.

use crossterm::event::KeyCode;
use serde_json::Value;

use super::prompt::{compose, prompt};
use super::{compare, save, search, suppose, table};
use crate::workbench::effect::Effect;
use crate::workbench::keys::Key;
use crate::workbench::model::Model;
use crate::workbench::model::supposed::Ask;
use crate::workbench::popup::{hits, suggest::acts as suggest, tester};
use rulestep_base::session::edit::AddedCall;
use rulestep_base::session::{Body, Outcome};

/// A key while something is typed.
pub fn key(model: &mut Model, key: Key, effects: &mut Vec<Effect>) {
    let Some(prompt) = &mut model.dialog.prompt else { return };
    let Some(ask) = prompt.ask.clone() else { return };
    (prompt.refused, prompt.cut) = (None, None);
    match (key.code, key.ctrl) {
        (KeyCode::Char('c'), true) => effects.push(Effect::Quit),
        (KeyCode::Esc, _) => {
            let before = prompt.before.take().unwrap_or_default();
            model.dialog.prompt = None;
            match ask {
                Ask::Filter => table::give_up(model, &before),
                Ask::Expression => drop(model.dialog.overlays.pop()),
                _ => {}
            }
        }
        (KeyCode::Enter, _) => {
            let (text, before) = (prompt.input.value().to_owned(), prompt.before.take());
            model.dialog.prompt = None;
            accept(model, ask, &text, effects);
            // Rejected text can be changed or given up.
            if let Some(prompt) = &mut model.dialog.prompt {
                prompt.before = before;
            }
        }
        (KeyCode::Tab | KeyCode::BackTab, _) if ask == Ask::Expression => {
            tester::step(model, key.code == KeyCode::Tab);
        }
        (KeyCode::Char('x'), true) if ask.is_text() => {
            let text = prompt.input.value().to_owned();
            model.dialog.prompt = None;
            compose(ask, &text, effects);
        }
        _ => {
            if let Some(request) = search::request(key) {
                prompt.input.handle(request);
            }
            search::apply(model);
        }
    }
}

/// The text written in an editor, which ends with a line break.
pub fn composed(model: &mut Model, ask: Ask, text: &str, effects: &mut Vec<Effect>) {
    if matches!(ask, Ask::Rule) {
        return suggest::composed(model, text);
    }
    let text = text.strip_suffix('\n').unwrap_or(text);
    // JSON was spread over several lines for the user.
    let packed = match serde_json::from_str::<Value>(text) {
        Ok(value) if text.contains('\n') => value.to_string(),
        _ => text.to_owned(),
    };
    accept(model, ask, &packed, effects);
}

/// Applies the typed text; an invalid text is returned to be changed.
fn accept(model: &mut Model, ask: Ask, text: &str, effects: &mut Vec<Effect>) {
    let taken = match &ask {
        Ask::Save => save::typed(model, text, effects),
        Ask::Base => {
            compare::answered(model, text, effects);
            Ok(())
        }
        Ask::Filter => table::filter(model, text),
        Ask::Expression => {
            tester::keep(model);
            Ok(())
        }
        Ask::Search => hits::search(model, text, effects),
        Ask::Arguments(target) => json(text).map(|()| suppose::typed_arguments(model, *target, text)),
        Ask::Result(target) => {
            suppose::typed_result(model, *target, text);
            Ok(())
        }
        // That is only written in an editor.
        Ask::Rule => Ok(()),
        Ask::NewCall { turn, behind } => {
            call(text).map(|call| suppose::typed_call(model, *turn, *behind, call))
        }
    };
    if let Err(refused) = taken {
        if text.contains('\n') {
            model.fail(refused.clone());
        }
        model.dialog.prompt = Some(prompt(ask, &text.replace(['\n', '\r'], " "), Some(refused)));
    }
}

fn json(text: &str) -> Result<(), String> {
    let read = serde_json::from_str::<serde::de::IgnoredAny>(text);
    read.map(drop).map_err(|error| format!("not JSON: {error}"))
}

/// `tool {json} => result`: the arguments may be left out, and without a result there is none.
fn call(text: &str) -> Result<AddedCall, String> {
    let text = text.trim();
    let (tool, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim_start();
    if tool.is_empty() || tool.starts_with(['{', '[', '"', '=']) {
        return Err("begin with the tool's name".to_owned());
    }
    let (arguments, rest) = if rest.is_empty() || rest.starts_with("=>") {
        ("{}", rest)
    } else {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match values.next() {
            Some(Ok(_)) => rest.split_at_checked(values.byte_offset()).unwrap_or((rest, "")),
            Some(Err(error)) => return Err(format!("the arguments are not JSON: {error}")),
            None => ("{}", ""),
        }
    };
    let (outcome, content) = match rest.trim().strip_prefix("=>") {
        Some(result) => (Outcome::Ok, Body::text(result.trim())),
        None if rest.trim().is_empty() => (Outcome::Unknown, Body::MISSING),
        None => return Err("after the arguments comes `=>` and the result".to_owned()),
    };
    Ok(AddedCall { tool: tool.into(), arguments: Body::text(arguments.trim()), outcome, content })
}
