//! The facts that determine which commands are available, and why one is not.

/// The facts that say which commands can be used just now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Facts {
    /// A session is open.
    pub session: bool,
    /// Its decisions are available.
    pub judged: bool,
    /// A call is selected.
    pub call: bool,
    /// A call is selected of a choice that was not taken.
    pub not_taken: bool,
    /// A rule spoke against it.
    pub finding: bool,
    /// A rule is shown or pointed at.
    pub rule: bool,
    /// That finding is based on an earlier call.
    pub cause: bool,
    /// A row with a body is selected.
    pub body: bool,
    /// The whole text that is shown is that of a result.
    pub result: bool,
    /// The selected row or rule is in a file.
    pub source: bool,
    /// Something was searched for.
    pub search: bool,
    /// The files that are open are watched.
    pub watched: bool,
    /// The policy decides about the selected call, or pane 8 names one.
    pub witness: bool,
    /// A rule stops the selected call.
    pub stopped: bool,
    /// Something supposed can be taken back.
    pub undo: bool,
    /// Something is supposed that can be dropped.
    pub what_if: bool,
    /// A row is marked.
    pub marked: bool,
    /// There is a place to jump back to.
    pub back: bool,
    /// There is a place to jump forward to.
    pub forward: bool,
    /// Two versions are compared, if only because of an edit.
    pub compared: bool,
    /// A base was chosen.
    pub base: bool,
    /// The base is what a gate decided.
    pub live: bool,
    /// The base is a version, which has a text.
    pub texts: bool,
    /// The focused pane, or the popup over it, is scrolled sideways.
    pub scrolled: bool,
    /// A file was written that can be written back.
    pub written: bool,
    /// A version was loaded before the one that decides.
    pub loads: bool,
}

/// Why a violated session rule has no way out.
const NO_WAY_OUT: &str =
    "a violated session rule stops no call; the decision (pane 6) says what satisfies it";

pub(super) const fn never(_: &Facts) -> Option<&'static str> {
    None
}

pub(super) fn session(facts: &Facts) -> Option<&'static str> {
    (!facts.session).then_some("no session is open")
}

pub(super) fn scrolled(facts: &Facts) -> Option<&'static str> {
    (!facts.scrolled).then_some("this is the left edge")
}

pub(super) fn judged(facts: &Facts) -> Option<&'static str> {
    session(facts).or((!facts.judged).then_some("this session is not judged yet"))
}

pub(super) fn finding(facts: &Facts) -> Option<&'static str> {
    judged(facts).or((!facts.finding).then_some("no rule stops or reports this"))
}

pub(super) fn rule(facts: &Facts) -> Option<&'static str> {
    (!facts.rule).then_some("no rule applies to this")
}

pub(super) fn cause(facts: &Facts) -> Option<&'static str> {
    finding(facts).or((!facts.cause).then_some("this finding is not based on an earlier call"))
}

pub(super) fn body(facts: &Facts) -> Option<&'static str> {
    session(facts).or((!facts.body).then_some("this row has no text of its own"))
}

pub(super) fn result(facts: &Facts) -> Option<&'static str> {
    (!facts.result).then_some("this is no result; a contract looks into the results of earlier calls")
}

pub(super) fn source(facts: &Facts) -> Option<&'static str> {
    (!facts.source).then_some("no rule is concerned; a recording is opened from the transcript")
}

pub(super) fn search(facts: &Facts) -> Option<&'static str> {
    (!facts.search).then_some("there is no search to repeat; `/` searches")
}

pub(super) fn watched(facts: &Facts) -> Option<&'static str> {
    (!facts.watched).then_some("no open input is a file that can be watched")
}

pub(super) fn compared(facts: &Facts) -> Option<&'static str> {
    (!facts.compared).then_some("no base to compare with; `db` chooses one")
}

pub(super) fn texts(facts: &Facts) -> Option<&'static str> {
    let why = match (facts.base, facts.live) {
        (true, true) => "the base `live` has no policy text",
        (true, false) => "the base `recorded` has no policy text",
        (false, _) => "no base to compare with; `db` chooses one",
    };
    (!facts.texts).then_some(why)
}

pub(super) fn loads(facts: &Facts) -> Option<&'static str> {
    (!facts.loads).then_some("the policy was loaded only once; `db` compares with another version")
}

pub(super) fn call(facts: &Facts) -> Option<&'static str> {
    judged(facts).or((!facts.call).then_some("no call is selected"))
}

pub(super) fn told(facts: &Facts) -> Option<&'static str> {
    if facts.finding { judged(facts) } else { decided(facts) }
}

pub(super) fn chosen(facts: &Facts) -> Option<&'static str> {
    session(facts).or((!facts.call).then_some("no call is selected"))
}

pub(super) fn written(facts: &Facts) -> Option<&'static str> {
    (!facts.written).then_some("there is no written rule to undo")
}

pub(super) fn decided(facts: &Facts) -> Option<&'static str> {
    if facts.not_taken { judged(facts) } else { call(facts) }
}

pub(super) fn witness(facts: &Facts) -> Option<&'static str> {
    (!facts.witness).then_some("this is neither stopped nor decided differently, so there is nothing to show")
}

pub(super) fn stopped(facts: &Facts) -> Option<&'static str> {
    let is_rule = facts.finding && !facts.call && !facts.not_taken;
    let why = if is_rule { NO_WAY_OUT } else { "no rule stops this call, so there is nothing to get out of" };
    (!facts.stopped).then_some(why)
}

pub(super) fn undo(facts: &Facts) -> Option<&'static str> {
    (!facts.undo).then_some("no what-if step to undo")
}

pub(super) fn what_if(facts: &Facts) -> Option<&'static str> {
    (!facts.what_if).then_some("there is no what-if; this is the recording")
}

pub(super) fn marked(facts: &Facts) -> Option<&'static str> {
    (!facts.marked).then_some("no row has a bookmark; `+` and a letter set one")
}

pub(super) fn back(facts: &Facts) -> Option<&'static str> {
    (!facts.back).then_some("no jump to go back from")
}

pub(super) fn forward(facts: &Facts) -> Option<&'static str> {
    (!facts.forward).then_some("no jump to go forward to")
}
