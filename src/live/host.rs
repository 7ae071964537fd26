//! `gate --stdio`: a program in any language sends lines of JSON, and each is answered by one line.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::arguments;
use super::fault::Fault;
use super::journal::Journal;
use super::policy;
use super::reason::reason;
use super::record::{Json, Judged, Opened, PolicyPlace, Proposed, Record, SCHEMA};
use super::self_guard::SelfGuard;
use super::tree::now;
use rulestep_base::session::Body;
use rulestep_engine::gate::{Gate, GatedCall};
use rulestep_engine::monitor::Explanation;
use rulestep_engine::policy::Policy;
use rulestep_engine::run::Mode;

/// The version of the protocol.
pub const PROTOCOL: &str = "rulestep.gate/1";

/// The sessions of one host.
pub struct Host {
    /// The folder of all journals.
    pub folder: PathBuf,
    /// The policy as the user named it.
    pub policy: String,
    /// The rules by which the gate guards itself; `None`: `--no-self-guard`.
    pub guard: Option<SelfGuard>,
    /// Whether decisions take effect.
    pub mode: Mode,
    /// How long to wait for a journal's lock.
    pub wait: Duration,
    sessions: HashMap<String, Open>,
}

/// A session that is open.
struct Open {
    gate: Gate,
    /// Where its policy was read.
    place: PolicyPlace,
    mode: Mode,
    journal: Journal,
    /// Calls that were allowed and have no result.
    running: HashMap<String, GatedCall>,
    /// The call that was proposed last in this turn.
    latest: Option<String>,
    /// Results that came after their turn had proposed another call: they count from its end.
    late: Vec<(GatedCall, &'static str, Body)>,
    in_turn: bool,
    /// A call from before the session was opened again got its result.
    stale: bool,
}

/// The members of a line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request<'a> {
    op: String,
    session: Option<String>,
    id: Option<String>,
    tool: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    outcome: Option<String>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    role: Option<String>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    tools: Option<Vec<String>>,
    context: Option<Value>,
    variables: Option<Map<String, Value>>,
    files: Option<Vec<String>>,
    parent: Option<String>,
}

/// The name of the folder of these journals.
const AGENT: &str = "host";

impl Host {
    /// Without sessions.
    pub fn new(folder: PathBuf, policy: String, mode: Mode, wait: Duration) -> Host {
        Host { folder, policy, guard: None, mode, wait, sessions: HashMap::new() }
    }

    /// Whether a line requests a decision, as far as it can be read.
    pub fn proposes(line: &str) -> bool {
        serde_json::from_str::<Request<'_>>(line).map_or(true, |request| request.op == "propose")
    }

    /// The subject of a line, as far as it can be read: its `session` and `id`.
    pub fn about(line: &str) -> Map<String, Value> {
        let mut about = serde_json::from_str::<Map<String, Value>>(line).unwrap_or_default();
        about.retain(|key, value| matches!(key.as_str(), "session" | "id") && value.is_string());
        about
    }

    /// Answers a line.
    ///
    /// # Errors It cannot be read, or its request cannot be carried out.
    pub fn answer(&mut self, line: &str) -> Result<Value, Fault> {
        let began = Instant::now();
        let unreadable = |error| {
            Fault::new(
                format!("the request cannot be read: {error}"),
                "send one JSON object a line (docs/gate.md)",
            )
        };
        let request: Request<'_> = serde_json::from_str(line).map_err(unreadable)?;
        let name = request.session.as_deref().filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| missing("session"))?;
        match &*request.op {
            "open" => self.open(name, &request),
            "close" => {
                let mut open = self.sessions.remove(name).ok_or_else(|| not_open(name))?;
                open.journal.append(&Record::Closed { at: now() }.line())?;
                Ok(json!({"closed": name}))
            }
            "turn" => self.own(name)?.turn(request.tools.as_deref()),
            "message" => {
                let role = request.role.as_deref().ok_or_else(|| missing("role"))?;
                self.own(name)?.message(role, &body(request.content))
            }
            "propose" => {
                let tool = request.tool.as_deref().filter(|tool| !tool.is_empty());
                let tool = tool.ok_or_else(|| missing("tool"))?;
                self.own(name)?.propose(request.id.as_deref(), tool, &body(request.arguments), began)
            }
            "resolve" => {
                let id = request.id.as_deref().ok_or_else(|| missing("id"))?;
                // Programs leave out members that they do not know, and that is no success.
                let outcome = request.outcome.as_deref().ok_or_else(|| {
                    let help = "send `ok`, `error` or `refused`; until then the call counts as running";
                    Fault::new("the request has no `outcome`", help)
                })?;
                self.own(name)?.resolve(id, outcome, &body(request.output))
            }
            other => {
                let help = "send `open`, `turn`, `message`, `propose`, `resolve` or `close`";
                Err(Fault::new(format!("the operation `{other}` is not known"), help))
            }
        }
    }

    fn own(&mut self, name: &str) -> Result<&mut Open, Fault> {
        self.sessions.get_mut(name).ok_or_else(|| not_open(name))
    }

    fn open(&mut self, name: &str, request: &Request<'_>) -> Result<Value, Fault> {
        if self.sessions.contains_key(name) {
            return Err(Fault::new(
                format!("the session `{name}` is open already"),
                "close it, or go on with it",
            ));
        }
        let folder = self.folder.join(AGENT);
        let current = policy::load(&self.policy, &folder, self.guard.as_ref())?;
        // A rule that does not see what it asks about would let pass the calls that it is there to stop.
        let rules = current.policy.rules();
        if let Some((_, rule)) =
            rules.iter().find(|(_, rule)| rule.options.tree && current.policy.sees_trees())
        {
            let message = format!(
                "`scope: tree` at {} needs all sessions of a tree, and `gate --stdio` decides each by itself",
                rule.place()
            );
            return Err(Fault::new(message, "use `rulestep hook`, or a rule without `scope: tree`"));
        }
        let mut journal = Journal::open(&folder, name, self.wait)?;
        let resumed = !journal.is_new();
        if !resumed {
            let opened = Opened {
                schema: SCHEMA,
                agent: AGENT,
                session: name,
                parent: request.parent.as_deref(),
                at: now(),
                context: request.context.clone(),
                variables: request.variables.clone(),
                files: request.files.clone(),
                middle: None,
            };
            journal.append(&Record::Opened(opened).line())?;
        }
        let mut resumed_by = gate(&current.policy, &journal, self.mode);
        if journal.misread() {
            journal.read()?;
            resumed_by = gate(&current.policy, &journal, self.mode);
        }
        let gate = resumed_by?;
        journal.index_later();
        let open = Open {
            gate,
            place: current.place,
            mode: self.mode,
            journal,
            running: HashMap::new(),
            latest: None,
            late: Vec::new(),
            in_turn: false,
            stale: false,
        };
        self.sessions.insert(name.to_owned(), open);
        Ok(json!({
            "protocol": PROTOCOL, "opened": name, "resumed": resumed, "mode": self.mode.word(),
            "policy": current.policy.digest(), "policy_fault": current.fault,
        }))
    }
}

fn gate(policy: &Arc<Policy>, journal: &Journal, mode: Mode) -> Result<Gate, Fault> {
    let gate = Gate::resume(policy, journal.session("")?);
    Ok(if mode == Mode::Shadow { gate.shadow() } else { gate })
}

impl Open {
    fn turn(&mut self, tools: Option<&[String]>) -> Result<Value, Fault> {
        let at = now();
        self.journal.append(&Record::Turn { at, transcript: 0 }.line())?;
        self.end_turn();
        if std::mem::take(&mut self.stale) {
            self.gate = gate(&Arc::clone(self.gate.policy()), &self.journal, self.mode)?;
        }
        let mut turn = self.gate.turn_at(at.unwrap_or_default());
        let visible = tools.map(|tools| turn.visible(tools));
        let number = turn.number();
        turn.pause();
        self.in_turn = true;
        Ok(json!({"turn": number, "visible": visible}))
    }

    fn end_turn(&mut self) {
        if std::mem::take(&mut self.in_turn) {
            drop(self.gate.go_on());
        }
        self.latest = None;
        for (call, outcome, output) in self.late.drain(..) {
            settle(call, outcome, output);
        }
    }

    fn message(&mut self, role: &str, content: &Body) -> Result<Value, Fault> {
        self.journal.append(&Record::Said { role, content: Json(content), at: now() }.line())?;
        if role == "assistant" && self.in_turn {
            let mut turn = self.gate.go_on();
            turn.respond(content.clone());
            turn.pause();
        } else {
            self.gate.message(role, content.clone());
        }
        Ok(json!({"noted": role}))
    }

    fn propose(
        &mut self,
        id: Option<&str>,
        tool: &str,
        arguments: &Body,
        began: Instant,
    ) -> Result<Value, Fault> {
        if !self.in_turn {
            return Err(Fault::new(
                "the call belongs to no turn",
                "send `turn` before the calls of a response",
            ));
        }
        arguments::readable(arguments)?;
        let made = format!("call-{}", self.gate.call_count() + 1);
        let id = id.unwrap_or(&made);
        if self.running.contains_key(id) {
            return Err(Fault::new(
                format!("the call `{id}` is running already"),
                "give each call an id of its own",
            ));
        }
        let mut turn = self.gate.go_on();
        let call = turn.propose(tool, arguments.clone());
        turn.pause();
        let decision = call.decision().clone();
        let findings: Vec<Explanation> = call.explain();
        // A host that only looks at `runs` must deny a call that a person should be asked about.
        let told = (!call.allowed()).then(|| reason(decision.verdict, &findings, true));
        let digest = Arc::clone(self.gate.policy().digest());
        let judged = Judged {
            policy: &digest,
            policy_from: Some(&self.place),
            took: (began.elapsed().as_secs_f64() * 1e6).round() / 1e3,
            ..Judged::new(&decision, &findings, told.as_deref(), self.mode, true)
        };
        let arguments = Json(arguments);
        let proposed = Proposed { id, tool, arguments, at: now(), cwd: None, judged: Some(judged) };
        self.journal.append(&Record::Proposed(proposed).line())?;
        let answer = json!({
            "id": id, "decision": decision.verdict, "runs": call.allowed(), "reason": told, "findings": findings,
        });
        self.latest = Some(id.to_owned());
        if call.allowed() || call.asks() {
            self.running.insert(id.to_owned(), call);
        }
        Ok(answer)
    }

    fn resolve(&mut self, id: &str, outcome: &str, output: &Body) -> Result<Value, Fault> {
        let Some(outcome) = ["ok", "error", "refused"].into_iter().find(|known| *known == outcome) else {
            return Err(Fault::new(
                format!("the outcome `{outcome}` is not known"),
                "send `ok`, `error` or `refused`",
            ));
        };
        let last = self.latest.as_deref() == Some(id);
        // After another call was decided as if this one ran, a refusal counts as a failure.
        let outcome = if outcome == "refused" && !last { "error" } else { outcome };
        let known = self.running.contains_key(id) || self.journal.waits_for(id) == Some(true);
        if !known {
            return Err(Fault::new(
                format!("no call `{id}` waits for a result"),
                "send the id of a call that runs",
            ));
        }
        self.journal.append(&Record::Resolved { id, outcome, output: Json(output), at: now() }.line())?;
        match self.running.remove(id) {
            Some(call) if last || !self.in_turn => settle(call, outcome, output.clone()),
            Some(call) => self.late.push((call, outcome, output.clone())),
            None => self.stale = true,
        }
        Ok(json!({"resolved": id}))
    }
}

fn settle(call: GatedCall, outcome: &str, output: Body) {
    match outcome {
        "ok" => call.succeeded(output),
        "refused" => call.refused(output),
        _ => call.failed(output),
    }
}

fn body(raw: Option<&RawValue>) -> Body {
    raw.map_or(Body::MISSING, |raw| Body::json(raw.get()))
}

fn missing(key: &str) -> Fault {
    Fault::new(format!("the request has no `{key}`"), "add it (docs/gate.md)")
}

fn not_open(name: &str) -> Fault {
    Fault::new(format!("the session `{name}` is not open"), "send `open` first")
}
