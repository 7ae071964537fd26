//! The contracts dialect evaluated the naive way: the oracle the engine is tested against.
//!
//! Each function states one rule and scans the whole recording to answer; nothing is kept between two questions
//! but the list of stopped calls. It must share no code with the engine, and it judges valid contracts only.

use std::cmp::Ordering;

use jsonpath_rust::JsonPath;
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Enforce,
    Shadow,
}

pub const MODES: [(Mode, &str); 2] = [(Mode::Enforce, "enforce"), (Mode::Shadow, "shadow")];

/// One entry a turn, in the shape of `expect.enforce` and `expect.shadow` of `conformance/contracts.jsonl`.
/// Where the session does not list its tools, the order of `visible` and `hidden` means nothing.
pub fn evaluate(contracts: &[Value], session: &Value, mode: Mode) -> Vec<Value> {
    let mut history = History { recording: read(session), stopped: Vec::new(), mode };
    let turns = history.recording.turn_starts.len();
    (1..=turns).map(|turn| evaluate_turn(contracts, session, &mut history, turn)).collect()
}

/// "Events in order: turn starts; narrow; for each call decide, then started or stopped".
fn evaluate_turn(contracts: &[Value], session: &Value, history: &mut History, turn: usize) -> Value {
    let mut visible = Vec::new();
    let mut hidden = Map::new();
    for tool in offered(contracts, session, &history.recording, turn) {
        let reasons = refused_for_every_argument(contracts, history, &tool, turn);
        if reasons.is_empty() {
            visible.push(tool);
        } else {
            hidden.insert(tool, Value::Array(reasons));
        }
    }
    let mut forbidden: Vec<String> = contracts.iter().flat_map(|c| strings(&c["forbids_after"])).collect();
    forbidden.retain(|tool| is_forbidden(contracts, history, tool, turn, 0));
    forbidden.sort();
    forbidden.dedup();
    let calls: Vec<Call> = history.recording.calls.iter().filter(|c| c.turn == turn).cloned().collect();
    let decisions: Vec<Value> = calls
        .iter()
        .map(|call| {
            let codes = reasons_against(contracts, history, call);
            let decision = if codes.is_empty() { "allow" } else { "deny" };
            if decision == "deny" {
                history.stopped.push(call.index);
            }
            json!({"tool": call.tool, "decision": decision, "codes": codes})
        })
        .collect();
    json!({"visible": visible, "hidden": hidden, "forbidden": forbidden, "calls": decisions})
}

// ---- What is asked of a call ------------------------------------------------------------------------------------

/// "Findings: `forbidden` once, then preconditions by index, one code each."
fn reasons_against(contracts: &[Value], history: &History, call: &Call) -> Vec<Value> {
    let forbidden = is_forbidden(contracts, history, &call.tool, call.turn, call.index);
    reasons(contracts, &call.tool, forbidden, |precondition| unmet(precondition, history, call))
}

/// "Narrowing asks, of the state at turn start, what the *first* call of the turn would get, and hides a tool when
/// one rule alone refuses it for every argument."
fn refused_for_every_argument(contracts: &[Value], history: &History, tool: &str, turn: usize) -> Vec<Value> {
    let forbidden = is_forbidden(contracts, history, tool, turn, 0);
    reasons(contracts, tool, forbidden, |precondition| unmet_for_every_argument(precondition, history, turn))
}

fn reasons(
    contracts: &[Value],
    tool: &str,
    forbidden: bool,
    unmet: impl Fn(&Value) -> Option<&'static str>,
) -> Vec<Value> {
    let mut reasons = Vec::new();
    if forbidden {
        reasons.push(json!({"code": "forbidden"}));
    }
    for (index, precondition) in preconditions(contracts, tool).iter().enumerate() {
        if let Some(code) = unmet(precondition) {
            reasons.push(json!({"code": code, "precondition": index}));
        }
    }
    reasons
}

/// "All preconditions must hold; an entry with both kinds needs both (the step count is asked first)." The code is
/// "the first of `step_count_below`, `prior_tool_missing`, `resource_missing`, `resource_unmatched`,
/// `prior_output_unmatched`".
fn unmet(precondition: &Value, history: &History, call: &Call) -> Option<&'static str> {
    if step_count_is_below(precondition, history, call.turn) {
        return Some("step_count_below");
    }
    let mut prior = prior_calls(precondition, history, call.turn)?;
    if prior.is_empty() {
        return Some("prior_tool_missing");
    }
    if !precondition["resource"].is_null() {
        let Some(wanted) = bound_value(precondition, call) else { return Some("resource_missing") };
        prior.retain(|p| prior_value(precondition, p).is_some_and(|found| equal(found, wanted)));
        if prior.is_empty() {
            return Some("resource_unmatched");
        }
    }
    (!output_holds(precondition, &prior)).then_some("prior_output_unmatched")
}

/// "Narrowing of a bound precondition: unmet when no value could satisfy it (no prior call, none with exactly one
/// value, or for every value the deciding call fails `with_output`)." An unbound one does not look at arguments.
fn unmet_for_every_argument(precondition: &Value, history: &History, turn: usize) -> Option<&'static str> {
    if step_count_is_below(precondition, history, turn) {
        return Some("step_count_below");
    }
    let mut prior = prior_calls(precondition, history, turn)?;
    if prior.is_empty() {
        return Some("prior_tool_missing");
    }
    if precondition["resource"].is_null() {
        return (!output_holds(precondition, &prior)).then_some("prior_output_unmatched");
    }
    prior.retain(|p| prior_value(precondition, p).is_some());
    if prior.is_empty() {
        return Some("resource_unmatched");
    }
    let some_value_would_do = prior.iter().any(|one| {
        let mut same = prior.clone();
        same.retain(|p| {
            equal(prior_value(precondition, p).unwrap(), prior_value(precondition, one).unwrap())
        });
        output_holds(precondition, &same)
    });
    (!some_value_would_do).then_some("prior_output_unmatched")
}

/// "`requires_step_count`: turns completed before this one". Contracts know `gte` alone.
fn step_count_is_below(precondition: &Value, history: &History, turn: usize) -> bool {
    let completed = (1..turn).filter(|&earlier| history.counts_as_step(earlier)).count();
    match precondition["requires_step_count"].get("gte") {
        Some(bound) => compare(&json!(completed), bound) == Some(Ordering::Less),
        None => false,
    }
}

/// "Prior means an earlier *turn*. A prior call counts when it ran with outcome `ok`." `None`: no prior tool required.
fn prior_calls<'h>(precondition: &Value, history: &'h History, turn: usize) -> Option<Vec<&'h Call>> {
    let tool = precondition["requires_prior_tool"].as_str()?;
    let counts = |c: &&Call| {
        c.tool == tool && c.turn < turn && history.ran(c) && history.known_outcome(c, turn) == Outcome::Ok
    };
    Some(history.recording.calls.iter().filter(counts).collect())
}

/// "the one value at `path` in this call's arguments"
fn bound_value<'c>(precondition: &Value, call: &'c Call) -> Option<&'c Value> {
    only_value(call.arguments.as_ref()?, &precondition["resource"]["path"])
}

/// "must equal the one value at `path` in the prior call's"; "`resource.prior: {bind_from: arguments|output, path}`
/// says where the prior call has it".
fn prior_value<'c>(precondition: &Value, prior: &'c Call) -> Option<&'c Value> {
    match &precondition["resource"]["prior"] {
        Value::Null => bound_value(precondition, prior),
        place if place["bind_from"] == "output" => only_value(prior.output()?, &place["path"]),
        place => only_value(prior.arguments.as_ref()?, &place["path"]),
    }
}

/// "Which prior call decides (`match`): bound, the *newest* (by call index) with that value; unbound, *any* one.
/// `match: newest|any` says otherwise." `candidates` are in call order and not empty.
fn output_holds(precondition: &Value, candidates: &[&Call]) -> bool {
    let bound = !precondition["resource"].is_null();
    let newest = precondition["match"].as_str().map_or(bound, |named| named == "newest");
    let deciding = if newest { &candidates[candidates.len() - 1..] } else { candidates };
    deciding.iter().any(|call| every_entry_holds(&precondition["with_output"], call.output()))
}

/// "every entry must hold, and every operator of an entry"; "On a missing result nothing holds."
fn every_entry_holds(entries: &Value, output: Option<&Value>) -> bool {
    let entries = entries.as_array().map_or(&[][..], Vec::as_slice);
    entries.iter().all(|entry| output.is_some_and(|output| entry_holds(entry, output)))
}

/// "`exists: true` (also an entry with a path alone): at least one node, null included; `exists: false`: none;
/// `equals`, `gte`, `lte`: at least one node, and every node; `gte`/`lte` never hold for a non-number."
fn entry_holds(entry: &Value, output: &Value) -> bool {
    let nodes = nodes(output, &entry["path"]);
    let every = |holds: &dyn Fn(&Value) -> bool| !nodes.is_empty() && nodes.iter().all(|node| holds(node));
    let path_alone = entry.as_object().unwrap().len() == 1;
    (!path_alone || !nodes.is_empty())
        && entry.get("exists").is_none_or(|exists| nodes.is_empty() != exists.as_bool().unwrap())
        && entry.get("equals").is_none_or(|wanted| every(&|node| equal(node, wanted)))
        && entry.get("gte").is_none_or(|low| every(&|node| compare(node, low).is_some_and(Ordering::is_ge)))
        && entry.get("lte").is_none_or(|high| every(&|node| compare(node, high).is_some_and(Ordering::is_le)))
}

/// "once the tool ran, the listed tools are forbidden for the rest of the session. A call that runs forbids its
/// *later siblings at once*; at turn end the entry stays if the outcome was `ok` or `unknown` and is dropped if it was
/// `error`." Before the call `index` of `turn`; index 0 asks for the start of the turn.
fn is_forbidden(contracts: &[Value], history: &History, tool: &str, turn: usize, index: usize) -> bool {
    history.recording.calls.iter().any(|call| {
        let in_force = if call.turn == turn {
            call.index < index
        } else {
            // A late `error` never removes the entry: it is the outcome at the turn's end that counts.
            call.turn < turn && history.known_outcome(call, call.turn + 1) != Outcome::Error
        };
        in_force && history.ran(call) && forbids(contracts, &call.tool, tool)
    })
}

fn forbids(contracts: &[Value], by: &str, tool: &str) -> bool {
    contract(contracts, by).is_some_and(|c| strings(&c["forbids_after"]).iter().any(|name| name == tool))
}

fn preconditions<'c>(contracts: &'c [Value], tool: &str) -> &'c [Value] {
    contract(contracts, tool).and_then(|c| c["preconditions"].as_array()).map_or(&[], Vec::as_slice)
}

fn contract<'c>(contracts: &'c [Value], tool: &str) -> Option<&'c Value> {
    contracts.iter().find(|c| c["tool"] == tool)
}

// ---- What happened ----------------------------------------------------------------------------------------------

struct History {
    recording: Recording,
    /// Indices of the calls decided `deny` so far.
    stopped: Vec<usize>,
    mode: Mode,
}

impl History {
    /// "A call recorded as `refused` never ran: in both modes"; "`enforce`: a stopped call does not run"; "`shadow`:
    /// what the recording says happened, happened".
    fn ran(&self, call: &Call) -> bool {
        let recorded_as_refused = call.result.as_ref().is_some_and(|r| r.outcome == Outcome::Refused);
        !recorded_as_refused && (self.mode == Mode::Shadow || !self.stopped.contains(&call.index))
    }

    /// "A result that stands after its turn's end counts from the turn after it": what is known of a call when `turn`
    /// starts. "Absent: every call is `ok` with no output".
    fn known_outcome(&self, call: &Call, turn: usize) -> Outcome {
        let now = self.recording.turn_starts.get(turn - 1).copied().unwrap_or(usize::MAX);
        match &call.result {
            _ if self.recording.results_absent => Outcome::Ok,
            Some(result) if result.position < now => result.outcome,
            _ => Outcome::Unknown,
        }
    }

    /// "text-only turns count, a turn that proposed calls of which none was started does not".
    fn counts_as_step(&self, turn: usize) -> bool {
        let mut calls = self.recording.calls.iter().filter(|c| c.turn == turn).peekable();
        calls.peek().is_none() || calls.any(|call| self.ran(call))
    }
}

/// "every exact tool name a rule or a call has" where the session does not say what was offered; otherwise `tools`,
/// or the newest `tools_at` that has begun.
fn offered(contracts: &[Value], session: &Value, recording: &Recording, turn: usize) -> Vec<String> {
    let begun = |at: &&Value| at["turn"].as_u64().unwrap() <= turn as u64;
    let changes = session["tools_at"].as_array().map_or(&[][..], Vec::as_slice);
    let listed = changes.iter().rfind(begun).map(|at| &at["tools"]).or_else(|| session.get("tools"));
    if let Some(tools) = listed.and_then(Value::as_array) {
        let name = |tool: &Value| {
            [&tool["name"], &tool["function"]["name"]].into_iter().find_map(Value::as_str).map(str::to_owned)
        };
        return tools.iter().filter_map(name).collect();
    }
    let mut names: Vec<String> = recording.calls.iter().map(|call| call.tool.clone()).collect();
    for contract in contracts {
        names.extend(contract["tool"].as_str().map(str::to_owned));
        names.extend(strings(&contract["forbids_after"]));
        for precondition in preconditions(contracts, contract["tool"].as_str().unwrap()) {
            names.extend(precondition["requires_prior_tool"].as_str().map(str::to_owned));
        }
    }
    names.sort();
    names.dedup();
    names
}

// ---- Reading the native form ------------------------------------------------------------------------------------

pub struct Recording {
    pub calls: Vec<Call>,
    /// Where each turn's first message stands.
    pub turn_starts: Vec<usize>,
    pub results_absent: bool,
}

#[derive(Clone)]
pub struct Call {
    pub turn: usize,
    pub index: usize,
    pub id: Option<String>,
    pub tool: String,
    pub arguments: Option<Value>,
    pub result: Option<RecordedResult>,
}

#[derive(Clone)]
pub struct RecordedResult {
    pub position: usize,
    pub outcome: Outcome,
    pub output: Option<Value>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Ok,
    Error,
    Refused,
    Unknown,
}

impl Call {
    fn output(&self) -> Option<&Value> {
        self.result.as_ref()?.output.as_ref()
    }
}

pub fn read(session: &Value) -> Recording {
    let messages = session["messages"].as_array().unwrap();
    let mut recording =
        Recording { calls: Vec::new(), turn_starts: Vec::new(), results_absent: results_absent(session) };
    for (position, message) in messages.iter().enumerate() {
        match message["role"].as_str() {
            Some("assistant") => {
                if !continues_a_turn(messages, position) {
                    recording.turn_starts.push(position);
                }
                for proposed in message["tool_calls"].as_array().into_iter().flatten() {
                    let (turn, index) = (recording.turn_starts.len(), recording.calls.len());
                    recording.calls.push(read_call(proposed, turn, index));
                }
            }
            Some("tool") => {
                if let Some(call) = answered_call(&mut recording.calls, message) {
                    call.result = Some(read_result(message, position, &call.tool));
                }
            }
            _ => {}
        }
    }
    recording
}

/// "native: absent when the whole file has no tool message", unless the session says it itself.
fn results_absent(session: &Value) -> bool {
    match session["results"].as_str() {
        Some(said) => said == "absent",
        None => !session["messages"].as_array().unwrap().iter().any(|message| message["role"] == "tool"),
    }
}

/// "Consecutive assistant messages with one `id` are one turn." Operations "are in no history and end no turn".
fn continues_a_turn(messages: &[Value], position: usize) -> bool {
    let before = messages[..position].iter().rfind(|message| message["role"] != "policy");
    let id = &messages[position]["id"];
    !id.is_null() && before.is_some_and(|before| before["role"] == "assistant" && before["id"] == *id)
}

/// "Arguments that are not JSON are kept as text; paths find nothing in them": here `None`.
fn read_call(proposed: &Value, turn: usize, index: usize) -> Call {
    let function = &proposed["function"];
    let arguments = match &function["arguments"] {
        Value::String(text) => serde_json::from_str(text).ok(),
        Value::Null => None,
        other => Some(other.clone()),
    };
    let tool = function["name"].as_str().unwrap().to_owned();
    Call { turn, index, id: proposed["id"].as_str().map(str::to_owned), tool, arguments, result: None }
}

/// "A result belongs to the oldest call with its id that has none yet; calls and results without ids pair in order."
fn answered_call<'c>(calls: &'c mut [Call], message: &Value) -> Option<&'c mut Call> {
    let id = message["tool_call_id"].as_str();
    calls.iter_mut().find(|call| call.result.is_none() && call.id.as_deref() == id)
}

/// "the refusal mark beats `is_error`. `content: null` is a missing output with outcome `ok`."
fn read_result(message: &Value, position: usize, tool: &str) -> RecordedResult {
    let content = joined_text(&message["content"]);
    let outcome =
        if message["refused"] == true || content.as_str().is_some_and(|text| is_refusal_text(text, tool)) {
            Outcome::Refused
        } else if message["is_error"] == true {
            Outcome::Error
        } else {
            Outcome::Ok
        };
    RecordedResult { position, outcome, output: output_of(content) }
}

/// "text parts of a list are joined by LF"
fn joined_text(content: &Value) -> Value {
    let texts: Vec<&str> =
        content.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str()).collect();
    if texts.is_empty() { content.clone() } else { json!(texts.join("\n")) }
}

/// "Result text that parses as JSON is that JSON, else it is the string". No content: no output.
fn output_of(content: Value) -> Option<Value> {
    match content {
        Value::Null => None,
        Value::String(text) => Some(serde_json::from_str(&text).unwrap_or(Value::String(text))),
        other => Some(other),
    }
}

/// "a result that begins `[permission denied:`, or that *is* one of the published refusal sentences". Of those with
/// further words only the ones that are generated.
fn is_refusal_text(text: &str, tool: &str) -> bool {
    text.starts_with("[permission denied:")
        || text == "Tool call rejected based on configured rejection plan"
        || text == "Denied by policy."
        || text == "File 'notes/a.md' must be read before overwriting."
        || text == format!("Tool '{tool}' requires: lint, test")
        || text == format!("Tool '{tool}' is not available in this context.")
}

// ---- Values -----------------------------------------------------------------------------------------------------

fn nodes<'v>(value: &'v Value, path: &Value) -> Vec<&'v Value> {
    value.query(path.as_str().unwrap()).unwrap()
}

/// "the one value at `path`": "Not exactly one value" is none.
fn only_value<'v>(value: &'v Value, path: &Value) -> Option<&'v Value> {
    match nodes(value, path)[..] {
        [only] => Some(only),
        _ => None,
    }
}

/// "Equality is JSON equality; numbers compare by exact decimal value"
fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(_), Value::Number(_)) => compare(left, right) == Some(Ordering::Equal),
        (Value::Array(l), Value::Array(r)) => l.len() == r.len() && l.iter().zip(r).all(|(l, r)| equal(l, r)),
        (Value::Object(l), Value::Object(r)) => {
            l.len() == r.len() && l.iter().all(|(key, l)| r.get(key).is_some_and(|r| equal(l, r)))
        }
        _ => left == right,
    }
}

/// `None` unless both are numbers.
fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    let ((l_sign, l), (r_sign, r)) = (decimal(left)?, decimal(right)?);
    Some(l_sign.cmp(&r_sign).then_with(|| if l_sign < 0 { r.cmp(&l) } else { l.cmp(&r) }))
}

/// A number as its sign and its magnitude: the power of ten of the first digit that is not 0, then the digits from
/// there on without zeros at the end. Magnitudes so written compare as they are.
fn decimal(value: &Value) -> Option<(i8, (i64, String))> {
    let text = value.as_number()?.to_string().to_lowercase();
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, unsigned) = mantissa.strip_prefix('-').map_or((1, mantissa), |unsigned| (-1, unsigned));
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let written = format!("{whole}{fraction}");
    let digits = written.trim_start_matches('0');
    if digits.is_empty() {
        return Some((0, (0, String::new())));
    }
    let leading_zeros = (written.len() - digits.len()) as i64;
    let power = whole.len() as i64 - leading_zeros + exponent.parse::<i64>().unwrap();
    Some((sign, (power, digits.trim_end_matches('0').to_owned())))
}

pub fn strings(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(|one| one.as_str().map(str::to_owned)).collect()
}

pub fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// The turns that differ, at most three of them, a line for each side of each key.
pub fn differences(expected: &[Value], actual: &[Value]) -> String {
    let mut text = format!("{} turns expected, {} given\n", expected.len(), actual.len());
    let turns = expected.iter().zip(actual).enumerate().filter(|(_, (expected, actual))| expected != actual);
    for (turn, (expected, actual)) in turns.take(3) {
        for key in
            ["visible", "hidden", "forbidden", "calls"].iter().filter(|key| expected[**key] != actual[**key])
        {
            text += &format!(
                "turn {} {key}\n  expected {}\n  actual   {}\n",
                turn + 1,
                expected[*key],
                actual[*key]
            );
        }
    }
    text
}

// ---- Helpers of the narrowing properties ------------------------------------------------------------------------

/// The session with one more call, first of its turn and never answered: what the turn's first call would get.
///
/// Everything before that turn stays as it was, and so does the pairing of results: the probe's id is its own.
pub fn with_first_call(session: &Value, turn: usize, tool: &str, arguments: &Value) -> Value {
    let probe = json!({"id": "probe", "type": "function",
        "function": {"name": tool, "arguments": arguments.to_string()}});
    let mut session = session.clone();
    let first_message = read(&session).turn_starts[turn - 1];
    let message = &mut session["messages"][first_message];
    if message["tool_calls"].is_null() {
        message["tool_calls"] = json!([]);
    }
    message["tool_calls"].as_array_mut().unwrap().insert(0, probe);
    session
}

/// Every value that some precondition of `tool` could be bound to: what recorded calls have at its prior path,
/// with the path at which this call must have it.
pub fn bindable_values(contracts: &[Value], session: &Value, tool: &str) -> Vec<(String, Value)> {
    let recording = read(session);
    let mut values = Vec::new();
    for precondition in preconditions(contracts, tool).iter().filter(|p| !p["resource"].is_null()) {
        let path = precondition["resource"]["path"].as_str().unwrap();
        let found = recording.calls.iter().filter_map(|call| prior_value(precondition, call));
        values.extend(found.map(|value| (path.to_owned(), value.clone())));
    }
    values
}
