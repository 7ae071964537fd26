//! The texts of the copying commands. Text is copied as it was recorded, not as it is shown.

use serde_json::{Value, json};

use super::cite;
use crate::workbench::effect::Effect;
use crate::workbench::keys::Command;
use crate::workbench::model::Model;
use crate::workbench::model::overlay::BodyView;
use crate::workbench::transcript::RowKind;

/// Copies what the command says, or says why there is nothing to copy.
pub fn copy(model: &mut Model, command: Command, effects: &mut Vec<Effect>) {
    let (text, what) = match command {
        Command::CopyExplain => match cite::command(model) {
            Ok(text) => (Some(text), "command"),
            Err(why) => return model.say(why),
        },
        Command::CopyMarkdown => (cite::markdown(model), "Markdown"),
        Command::CopyPath => (path(model), "path"),
        Command::CopyRule => (rule(model), "rule"),
        Command::CopyJson => (json(model), "JSON"),
        _ => (row(model), "row"),
    };
    match text {
        Some(text) => effects.push(Effect::Copy { text, what }),
        None => model.say(format!("no {what} to copy here")),
    }
}

fn body(model: &Model) -> Option<&BodyView> {
    model.dialog.top()
}

fn path(model: &Model) -> Option<String> {
    let view = body(model)?;
    view.document.path(view.list.cursor)
}

fn rule(model: &Model) -> Option<String> {
    if let Some(popup) = model.dialog.popup() {
        return popup.rule(model);
    }
    Some(model.rule(model.shown_rule()?)?.id.to_string())
}

fn row(model: &Model) -> Option<String> {
    match model.dialog.popup() {
        Some(popup) => popup.copied(model, popup.list().cursor),
        None => model.place.focus.rows(model).copied(model, model.list(model.place.focus).cursor),
    }
}

/// In a body the part under the cursor, else the selected call with its decision, else the message.
fn json(model: &Model) -> Option<String> {
    let session = model.session()?;
    if let Some(view) = body(model) {
        let whole = model.derived.rows.get(view.row)?.body(session)?;
        let part = whole.parsed().and_then(|value| view.document.part(view.list.cursor, value));
        return Some(part.map_or_else(|| Value::from(whole.shown()).to_string(), ToString::to_string));
    }
    let row = model.row()?;
    let value = |body: &rulestep_base::session::Body| body.value().cloned().unwrap_or(Value::Null);
    let copied = match row.kind {
        RowKind::Rule(_) => {
            let state = model.violation()?;
            json!({
                "rule": &*model.rule(state.rule)?.id, "outcome": state.outcome.word(),
                "code": state.code.map(|code| code.as_str()), "position": state.position, "calls": state.calls,
            })
        }
        RowKind::Message(_) => json!({"role": row.speaker(session), "content": value(row.body(session)?)}),
        RowKind::Choice(place, None) => {
            let choice = session.alternatives.get(place)?;
            json!({
                "role": "assistant", "choice": choice.choice, "chosen": false, "content": value(row.body(session)?),
            })
        }
        RowKind::Choice(..) => {
            let own = row.not_taken(session)?;
            let judged = model.judged_call();
            let findings = judged.map(|judged| judged.decision.findings.as_slice()).unwrap_or_default();
            let codes: Vec<&str> = findings.iter().map(|finding| finding.code.as_str()).collect();
            json!({
                "turn": row.turn, "choice": own.alternative.choice, "call": own.number, "chosen": false,
                "tool": &*own.call.tool, "arguments": value(&own.call.arguments),
                "decision": judged.map(|judged| judged.decision.verdict.word()), "codes": codes,
            })
        }
        RowKind::Call(index) | RowKind::Result(index) => {
            let call = session.calls.get(index as usize)?;
            let mut copied = json!({
                "turn": call.at.turn, "call": call.at.call, "index": call.at.index, "tool": &*call.tool,
                "arguments": value(&call.arguments), "recorded": call.outcome.word(), "output": value(&call.output),
            });
            if let Some(judged) = model.replay().and_then(|replay| replay.call(index)) {
                let codes: Vec<&str> =
                    judged.decision.findings.iter().map(|finding| finding.code.as_str()).collect();
                if let Some(copied) = copied.as_object_mut() {
                    copied.insert("decision".to_owned(), judged.decision.verdict.word().into());
                    copied.insert("codes".to_owned(), codes.into());
                }
            }
            let supposed =
                model.shown_supposed().is_some().then_some(("hypothetical".to_owned(), true.into()));
            if let Some(copied) = copied.as_object_mut() {
                copied.extend(supposed);
            }
            copied
        }
    };
    Some(copied.to_string())
}
