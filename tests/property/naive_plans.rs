//! Rejection plans judged the naive way: for each call the history is written out anew and looked through from end to
//! end. Written from the reference page; it shares with the engine only the search of a pattern and the rendering of a
//! template, which have oracles of their own.

use rulestep_template::js_regex::{self, DEFAULT_BUDGET};
use rulestep_template::liquid::{self, Scope};
use serde_json::{Value, json};

use crate::naive::{Mode, list};

const STEPS: u64 = 2_000_000;
const TOLD: &str = "Tool call rejected based on configured rejection plan";

/// For each turn: `{"hidden": bool, "calls": [{"rejected": bool, "matched": […]}]}`, of a plan on the tool `act`. In
/// the session every message of the model is a turn, and ids of calls are unique.
pub fn evaluate(plan: &Value, session: &Value, mode: Mode) -> Vec<Value> {
    let mut messages = list(&session["messages"]);
    let mut turns = Vec::new();
    for place in 0..messages.len() {
        let own = messages[place].clone();
        if own["role"] != "assistant" {
            continue;
        }
        let mut history: Vec<Value> = messages[..place].iter().map(shown).collect();
        let before = Moment { history: &history, session, at: &own["at"] };
        let hidden = !depends(&plan["conditions"], &before) && before.judge(plan).0;
        if text_of(&own["content"]).is_some_and(|text| !text.is_empty()) {
            history.push(shown(&own));
        }
        let now = Moment { history: &history, session, at: &own["at"] };
        let mut calls = Vec::new();
        for call in list(&own["tool_calls"]) {
            let (rejected, matched) =
                if call["function"]["name"] == "act" { now.judge(plan) } else { (false, Vec::new()) };
            if rejected && mode == Mode::Enforce {
                for later in &mut messages[place..] {
                    if later["tool_call_id"] == call["id"] {
                        later["content"] = json!(TOLD);
                    }
                }
            }
            calls.push(json!({"rejected": rejected, "matched": matched}));
        }
        turns.push(json!({"hidden": hidden, "calls": calls}));
    }
    turns
}

/// The text of a content; none where it is no text, no list and not null.
fn text_of(content: &Value) -> Option<String> {
    match content {
        Value::Null => Some(String::new()),
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts =
                parts.iter().filter(|part| part["type"] == "text").filter_map(|part| part["text"].as_str());
            Some(texts.collect::<Vec<_>>().join("\n"))
        }
        _ => None,
    }
}

/// A message as a template sees it.
fn shown(message: &Value) -> Value {
    let mut shown = json!({"role": message["role"], "content": message["content"]});
    if message["content"].is_array() {
        shown["content"] = json!(text_of(&message["content"]));
    }
    for key in ["tool_calls", "tool_call_id"] {
        if let Some(value) = message.get(key) {
            shown[key] = value.clone();
        }
    }
    shown
}

struct Moment<'a> {
    history: &'a [Value],
    session: &'a Value,
    at: &'a Value,
}

impl Moment<'_> {
    /// Whether the plan rejects, and what each of its conditions comes to.
    fn judge(&self, plan: &Value) -> (bool, Vec<bool>) {
        if !plan.is_object() {
            return (true, Vec::new());
        }
        match plan.get("conditions") {
            None | Some(Value::Null) => (false, Vec::new()),
            Some(Value::Array(conditions)) => {
                let matched: Vec<bool> = conditions.iter().map(|condition| self.matches(condition)).collect();
                (!matched.is_empty() && !matched.contains(&false), matched)
            }
            Some(_) => (true, Vec::new()),
        }
    }

    /// What cannot be evaluated matches.
    fn matches(&self, condition: &Value) -> bool {
        let value = match condition["type"].as_str() {
            Some("regex") => self.regex(condition),
            Some("liquid") => self.liquid(condition),
            Some("group") => self.group(condition),
            _ => None,
        };
        value.unwrap_or(true)
    }

    fn group(&self, group: &Value) -> Option<bool> {
        let conditions = group["conditions"].as_array().filter(|conditions| !conditions.is_empty())?;
        let mut values = conditions.iter().map(|condition| self.matches(condition));
        match group["operator"].as_str()? {
            "AND" => Some(values.all(|value| value)),
            "OR" => Some(values.any(|value| value)),
            _ => None,
        }
    }

    fn regex(&self, leaf: &Value) -> Option<bool> {
        let regex = js_regex::compile(leaf["regex"].as_str()?).ok()?;
        let negate = match &leaf["negate"] {
            Value::Null => false,
            other => other.as_bool()?,
        };
        let (role, position) = target(leaf)?;
        let of_role: Vec<&Value> = match &role {
            Some(role) => self.history.iter().filter(|message| message["role"] == **role).collect(),
            None => self.history.iter().collect(),
        };
        let place = if position < 0 { of_role.len() as i64 + position } else { position };
        let Some(message) = usize::try_from(place).ok().and_then(|place| of_role.get(place)) else {
            return Some(negate);
        };
        let text = text_of(&message["content"])?;
        Some(regex.is_match(&text, DEFAULT_BUDGET).ok()? != negate)
    }

    fn liquid(&self, leaf: &Value) -> Option<bool> {
        let template = liquid::parse(leaf["liquid"].as_str()?).ok()?;
        let now = self.at.as_str().or(self.session["now"].as_str());
        let now = now.map(|now| now.parse::<jiff::Timestamp>().unwrap().as_millisecond());
        let mut names = match &self.session["variables"] {
            Value::Null => self.session["context"].clone(),
            variables => variables.clone(),
        };
        if !names.is_object() {
            names = json!({});
        }
        names["messages"] = json!(self.history);
        names["now"] = json!(now);
        let asked_now = std::cell::Cell::new(false);
        let globals = |name: &str| {
            asked_now.set(asked_now.get() || name == "now");
            names.get(name).map(|value| liquid::Value::from_json(value).unwrap())
        };
        let printed = template.render(&Scope { globals: &globals, now }, STEPS).ok()?;
        if asked_now.get() && now.is_none() {
            return None;
        }
        match printed.trim() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }
}

/// Role and position, where these are well written.
fn target(leaf: &Value) -> Option<(Option<String>, i64)> {
    let target = match &leaf["target"] {
        Value::Null => return Some((None, -1)),
        Value::Object(target) => target,
        _ => return None,
    };
    let role = match target.get("role") {
        None | Some(Value::Null) => None,
        Some(role) => Some(role.as_str().filter(|role| ["user", "assistant"].contains(role))?.to_owned()),
    };
    let position = match target.get("position") {
        None | Some(Value::Null) => -1,
        Some(position) => position.as_i64()?,
    };
    Some((role, position))
}

/// Whether some condition can depend on what the model says next.
fn depends(conditions: &Value, before: &Moment<'_>) -> bool {
    list(conditions).iter().any(|condition| match condition["type"].as_str() {
        Some("group") if before.group(condition).is_some() => depends(&condition["conditions"], before),
        Some("regex") => {
            let readable =
                condition["regex"].as_str().is_some_and(|pattern| js_regex::compile(pattern).is_ok());
            let negatable = condition["negate"].is_null() || condition["negate"].is_boolean();
            let Some((role, position)) = target(condition).filter(|_| readable && negatable) else {
                return false;
            };
            let stands = |place: i64| {
                let of_role = |message: &&Value| role.as_ref().is_none_or(|role| message["role"] == **role);
                (before.history.iter().filter(of_role).count() as i64) > place
            };
            role.as_deref() != Some("user") && (position < 0 || !stands(position))
        }
        Some("liquid") => {
            let template = condition["liquid"].as_str().and_then(|text| liquid::parse(text).ok());
            template.is_some() && condition["liquid"].as_str().unwrap().contains("messages")
        }
        _ => false,
    })
}
