//! The tools that the client sees: those of the server without the ones that the policy stops now.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::message::{Delivery, Members, one_line};
use crate::live::Fault;

/// The server's tools and those that the client saw.
#[derive(Debug, Default)]
pub struct Tools {
    /// The names of all tools that the client has listed, in their order.
    offered: Vec<String>,
    /// Those that it saw.
    shown: Vec<String>,
    /// The client is ready for notifications.
    ready: bool,
    /// Ids of requests that subscribe to changes, as they were written.
    subscriptions: Vec<String>,
}

impl Tools {
    /// The client wants to hear of changes; newer ones subscribe with a request.
    pub fn listen(&mut self, subscription: Option<&str>) {
        match subscription {
            Some(id) => self.subscriptions.push(id.to_owned()),
            None => self.ready = true,
        }
    }

    /// A request is over.
    pub fn forget(&mut self, id: &str) {
        self.subscriptions.retain(|subscription| subscription != id);
    }

    /// A list, or its next page, without tools that are stopped now. `visible` returns those that are not.
    pub fn narrowed(
        &mut self,
        text: &str,
        result: &Members<'_>,
        more: bool,
        visible: impl Fn(&[String]) -> Result<Vec<String>, Fault>,
    ) -> Vec<Delivery> {
        let passed = || vec![Delivery::Client(one_line(text))];
        let tools = result.get("tools").map(RawValue::get).unwrap_or_default();
        let Ok(tools) = serde_json::from_str::<Vec<&RawValue>>(tools) else { return passed() };
        let name = |tool: &RawValue| Members::read(tool.get()).ok()?.text("name");
        if !more {
            self.offered.clear();
        }
        self.offered.extend(tools.iter().filter_map(|tool| name(tool)));
        match visible(&self.offered) {
            Ok(shown) => self.shown = shown,
            Err(fault) => {
                let mut deliveries = passed();
                deliveries.push(unknown(&fault));
                return deliveries;
            }
        }
        let is_shown = |tool: &&&RawValue| name(tool).is_none_or(|name| self.shown.contains(&name));
        let shown: Vec<&&RawValue> = tools.iter().filter(is_shown).collect();
        if shown.len() == tools.len() {
            return passed();
        }
        vec![Delivery::Client(changed(text, |message| set(message, &["result", "tools"], json!(shown))))]
    }

    /// Notifies the client if its tools have changed.
    pub fn changes(&mut self, visible: impl Fn(&[String]) -> Result<Vec<String>, Fault>) -> Vec<Delivery> {
        if self.offered.is_empty() || !self.ready && self.subscriptions.is_empty() {
            return Vec::new();
        }
        match visible(&self.offered) {
            Ok(shown) if shown == self.shown => return Vec::new(),
            Ok(shown) => self.shown = shown,
            Err(fault) => return vec![unknown(&fault)],
        }
        let notification = |params: &str| {
            let method = "notifications/tools/list_changed";
            Delivery::Client(format!(r#"{{"jsonrpc":"2.0","method":"{method}"{params}}}"#))
        };
        if self.subscriptions.is_empty() {
            return vec![notification("")];
        }
        let key = "io.modelcontextprotocol/subscriptionId";
        let params = |id: &String| format!(r#","params":{{"_meta":{{"{key}":{id}}}}}"#);
        self.subscriptions.iter().map(|id| notification(&params(id))).collect()
    }
}

fn unknown(fault: &Fault) -> Delivery {
    Delivery::Note(format!("it is not known which tools the policy stops now: {fault}"))
}

/// A handshake with the server's capability to change its list of tools.
pub fn announced(text: &str, message: &Members<'_>) -> String {
    if message.at(&["result", "capabilities", "tools"]).is_none() {
        return one_line(text);
    }
    let path = ["result", "capabilities", "tools", "listChanged"];
    changed(text, |message| set(message, &path, Value::Bool(true)))
}

/// A message with a change.
fn changed(text: &str, change: impl FnOnce(&mut Value)) -> String {
    match serde_json::from_str(text) {
        Ok(mut message) => {
            change(&mut message);
            message.to_string()
        }
        Err(_) => one_line(text),
    }
}

fn set(value: &mut Value, path: &[&str], new: Value) {
    let Some((last, before)) = path.split_last() else { return };
    let inner = before.iter().try_fold(value, |value, name| value.get_mut(name));
    if let Some(Value::Object(members)) = inner {
        members.insert((*last).to_owned(), new);
    }
}
