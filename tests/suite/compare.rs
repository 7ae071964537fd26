//! What changes between two versions: cases worked out by hand, with kind and origin.

mod cases;
mod edits;
mod rules;

use std::sync::Arc;

use rulestep::compare::{Base, Change, Comparison, SessionDiff, Side};
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Origin, Results, Session, Tool};
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::run::Mode;

/// A version of documents, one after the other in one file.
pub fn version(text: &str) -> Arc<Policy> {
    files(&[("p.yaml", text)])
}

/// A version of files.
pub fn files(files: &[(&str, &str)]) -> Arc<Policy> {
    let file = |(name, text): &(&str, &str)| PolicyFile {
        name: (*name).into(),
        relative: (*name).into(),
        text: (*text).into(),
        named: false,
    };
    let files: Vec<PolicyFile> = files.iter().map(file).collect();
    let loaded = Policy::load(&files, None);
    loaded.policy.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics))
}

/// A session in short: turns between `|`, calls by the names of their tools, each `ok` unless `!` (error), `-` (refused) or
/// `?` (no result) follows. What was offered stands before `:`; without it nothing was, so nothing is narrowed.
pub fn session(text: &str) -> Arc<Session> {
    let (offered, turns) = text.split_once(':').unwrap_or(("", text));
    let origin = Origin { file: "s.json".into(), index: 0, format: "native", line: 1 };
    let mut builder = Builder::new("s", origin);
    builder.facts().results = Results::Recorded;
    let tool = |name: &str| Tool { name: name.into(), description: None, parameters: None };
    builder.offered(1, offered.split_whitespace().map(tool).collect::<Vec<_>>());
    builder.said("user", Body::text("go on"), None);
    for turn in turns.split('|') {
        builder.response(None, Body::text("well"), None);
        let mut results = Vec::new();
        for call in turn.split_whitespace() {
            let name = call.trim_end_matches(['!', '-', '?']);
            let id = format!("{}{}", builder.next_turn(), results.len());
            builder.call(Some(&id), name, Body::text("{}"), None);
            results.push((id, call.strip_prefix(name).unwrap().to_owned()));
        }
        for (id, mark) in results.into_iter().filter(|(_, mark)| mark != "?") {
            let refused = (mark == "-").then_some("marked");
            let mark = Mark { error: mark == "!", refused };
            builder.result(Some(&id), Body::text("done"), mark, None);
        }
    }
    Arc::new(builder.finish())
}

/// A change in short: `1.1 refund deny → allow newly_allowed primary p.yaml#/preconditions/0`.
pub fn short(change: &Change, comparison: &Comparison) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.push(match (change.at.call(), change.at.turn()) {
        (Some(call), _) => format!("{}.{}", call.turn, call.call),
        (None, Some(turn)) => turn.to_string(),
        (None, None) => "end".to_owned(),
    });
    parts.extend(change.tool.as_ref().map(|tool| tool.to_string()));
    let word = |side| change.stand(side).answer.word().unwrap_or("none");
    parts.push(format!("{} → {}", word(Side::Base), word(Side::New)));
    parts.push(format!("{} {}", change.kind.word(), change.origin.word()));
    if change.counterfactual {
        parts.push("counterfactual".to_owned());
    }
    if let Some(at) = change.rule {
        parts.push(comparison.side(at.side).unwrap().rules().get(at.rule).unwrap().id.to_string());
    }
    parts.join(" ")
}

/// All changes in short.
pub fn all(compared: &SessionDiff, comparison: &Comparison) -> Vec<String> {
    compared.changes().iter().map(|change| short(change, comparison)).collect()
}

/// Compares two texts over a session in short.
pub fn compare(base: &str, new: &str, text: &str, mode: Mode) -> Vec<String> {
    let base = if base == "recorded" { Base::Recorded } else { Base::Version(version(base)) };
    let comparison = Comparison::new(base, version(new));
    all(&comparison.session(&session(text), mode), &comparison)
}

#[test]
fn tools_that_a_recording_neither_lists_nor_calls_are_counted_apart() {
    use rulestep::compare::{Kind, Totals};

    let (base, new) = (
        version("tool: refund\npreconditions: [{requires_prior_tool: check}]\n"),
        version("{tool: other, forbids_after: [other]}"),
    );
    let comparison = Comparison::new(Base::Version(base), new);
    let unlisted = |text: &str| {
        let mut unlisted = Session::clone(&session(text));
        unlisted.offered.clear();
        Arc::new(unlisted)
    };
    for (session, inferred, own) in [
        (unlisted("look | look"), 2, 0),
        (unlisted("look | check | refund"), 0, 2),
        (session("refund look: look | look"), 0, 2),
    ] {
        let compared = comparison.session(&session, Mode::Enforce);
        let mut totals = Totals::default();
        totals.add(compared.changes());
        let count = totals.of(Kind::NewlyVisible);
        assert_eq!((count.inferred, count.sum()), (inferred, own));
        assert_eq!(totals.changed, u64::from(own > 0));
        let marked = compared.changes().iter().filter(|change| change.inferred).count();
        assert_eq!(marked as u64, inferred);
    }
}

#[test]
fn a_minimal_example_gains_no_reason() {
    // Without the user's word the plan matches as well, and fixing the contract would no longer let the call pass.
    let policy = files(&[
        ("a.yaml", "tool: refund\npreconditions: [{requires_prior_tool: check}]\n"),
        (
            "plan.yaml",
            "tool: refund\nrejectionPlan: {conditions: [{type: regex, regex: go, target: {role: user, position: -1}, negate: true}]}\n",
        ),
    ]);
    let session = session("look | refund");
    let found = rulestep::witness::denial(&session, &policy, Mode::Enforce, 1, 2000).unwrap();
    assert!(found.minimal);
    let said: Vec<_> = found.session().messages.iter().map(|message| &*message.role).collect();
    assert!(said.contains(&"user"), "{said:?}");
    let replay = rulestep_engine::replay::Replay::new(found.session(), &policy, Mode::Enforce);
    let codes: Vec<_> =
        replay.call(0).unwrap().decision.findings.iter().map(|finding| finding.code.as_str()).collect();
    assert_eq!(codes, ["prior_tool_missing"]);
}

/// One thing after the other can go, each only once the one before it is gone, and earlier than where the sweep is by then.
#[test]
fn a_minimal_example_is_swept_until_nothing_more_can_go() {
    let origin = Origin { file: "s.json".into(), index: 0, format: "native", line: 1 };
    let mut builder = Builder::new("s", origin);
    builder.said("user", Body::text("M1"), None);
    for turn in ["T0", "T1"] {
        builder.response(None, Body::text(turn), None);
    }
    builder.said("user", Body::text("M2"), None);
    builder.response(None, Body::text("pay"), None);
    let session = builder.finish();
    let shows = |edited: &rulestep_base::session::edit::EditResult| {
        let has = |text| edited.session.messages.iter().any(|message| message.content.said() == Some(text));
        let only_without = |kept, gone| has(kept) || !has(gone);
        has("pay") && only_without("T1", "M2") && only_without("M1", "T1") && only_without("T0", "M1")
    };
    let found = rulestep::witness::shrink(&session, None, 2000, &mut |edited| shows(edited)).unwrap();
    let left: Vec<_> = found.session().messages.iter().map(|message| message.content.shown()).collect();
    assert_eq!((left, found.minimal), (vec!["pay"], true));
}
