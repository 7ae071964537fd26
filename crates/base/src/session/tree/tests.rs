use super::*;
use crate::session::build::{Builder, Mark};
use crate::session::{Body, Origin};

/// A session: a turn for each list of calls, each `TOOL` or `TOOL=MARK` (`-` refused, `?` without a result), the turns at these
/// instants, the results one millisecond later.
fn session(id: &str, parent: Option<&str>, turns: &[(Option<Millis>, &[&str])]) -> Session {
    let origin = Origin { file: "all.jsonl".into(), index: 0, format: "native", line: 1 };
    let mut build = Builder::new(id, origin);
    if let Some(parent) = parent {
        build.parent(parent);
    }
    build.said("user", Body::text(format!("do the work of {id}")), None);
    for (number, (at, calls)) in turns.iter().enumerate() {
        build.response(None, Body::MISSING, *at);
        for (nth, call) in calls.iter().enumerate() {
            let (tool, _) = call.split_once('=').unwrap_or((call, ""));
            let (tool, arguments) = match tool.split_once(':') {
                Some((tool, child)) => (tool, format!(r#"{{"prompt": "do the work of {child}"}}"#)),
                None => (tool, "{}".to_owned()),
            };
            build.call(Some(&format!("{id}-{number}-{nth}")), tool, Body::json(&arguments), *at);
        }
        for (nth, call) in calls.iter().enumerate().filter(|(_, call)| !call.ends_with("=?")) {
            let refused = call.ends_with("=-").then_some("marked");
            let (mark, at) = (Mark { refused, ..Mark::default() }, at.map(|at| at + 1));
            build.result(Some(&format!("{id}-{number}-{nth}")), Body::text("done"), mark, at);
        }
    }
    build.finish()
}

/// Events of other sessions, as `TOOL@INDEX` for the beginning of a call and `TOOL.@INDEX` for its end.
fn seen(sessions: &[Session], from: &str) -> Vec<String> {
    let joined = join(sessions.to_vec());
    let own = joined.iter().find(|session| *session.id == *from).unwrap();
    let elsewhere = own.elsewhere.as_ref().unwrap();
    let word = |event: &Happening| {
        let tool = &elsewhere.call(event.call).unwrap().1.tool;
        format!("{tool}{}@{}", if event.ended { "." } else { "" }, event.before)
    };
    elsewhere.happened().iter().map(word).collect()
}

fn sight(sessions: &[Session], of: &str) -> TreeSight {
    let joined = join(sessions.to_vec());
    joined.iter().find(|session| *session.id == *of).unwrap().facts.tree.clone()
}

#[test]
fn times_say_what_came_first() {
    let main =
        session("main", None, &[(Some(10), &["read"]), (Some(20), &["Task:sub"]), (Some(90), &["push"])]);
    let sub = session("sub", Some("main"), &[(Some(30), &["test"]), (Some(40), &["curl", "no=-", "late=?"])]);
    let all = [main, sub];
    assert_eq!(seen(&all, "main"), ["test@2", "curl@2", "late@2", "test.@2", "curl.@2"]);
    assert_eq!(seen(&all, "sub"), ["read@0", "Task@0", "read.@0", "Task.@0", "push@4", "push.@4"]);
    assert_eq!(sight(&all, "main"), TreeSight::Whole);
}

#[test]
fn at_equal_times_a_call_has_begun_and_not_ended() {
    let main = session("main", None, &[(Some(10), &["a"]), (Some(20), &["b"])]);
    let sub = session("sub", Some("main"), &[(Some(10), &["x"]), (Some(19), &["y"])]);
    // `y` has its result at 20, when `b` is proposed.
    assert_eq!(seen(&[main, sub], "main"), ["x@0", "y@1", "x.@1", "y.@2"]);
}

#[test]
fn without_times_a_subagent_is_where_it_was_started() {
    let main = session(
        "main",
        None,
        &[
            (None, &["read"]),
            (None, &["Task:one", "Task:two", "side"]),
            (None, &["Task:three"]),
            (None, &["push"]),
        ],
    );
    let sub = |id| session(id, Some("main"), &[(None, &["test"])]);
    let all = [main, sub("one"), sub("two"), sub("three")];
    // They began with the calls that started them, and have ended when the model goes on.
    assert_eq!(seen(&all, "main"), ["test@2", "test@3", "test.@4", "test.@4", "test@5", "test.@5"]);
    let of_one = seen(&all, "one");
    // Siblings that run in parallel may have begun before, and have ended after; so may the calls of their parent.
    assert!(
        of_one.starts_with(&["read@0".to_owned()]) && of_one.contains(&"read.@0".to_owned()),
        "{of_one:?}"
    );
    for word in ["side@0", "side.@1", "test@0", "test.@1", "push@1", "push.@1"] {
        assert!(of_one.contains(&word.to_owned()), "{word}: {of_one:?}");
    }
    assert_eq!(
        of_one.iter().filter(|word| *word == "test@1").count(),
        1,
        "the third one is later: {of_one:?}"
    );
    assert_eq!(sight(&all, "two"), TreeSight::Whole);
}

#[test]
fn what_is_missing_is_said_from_where_on() {
    let sub = session("sub", Some("main"), &[(Some(1), &["a"])]);
    let why: Arc<str> = "the parent session `main` was not read".into();
    assert_eq!(sight(std::slice::from_ref(&sub), "sub"), TreeSight::since(0, why));
    let main =
        session("main", None, &[(Some(0), &["a", "Task:sub", "b"]), (Some(9), &["Task:other=-", "c"])]);
    assert_eq!(
        sight(&[main.clone(), sub.clone()], "main"),
        TreeSight::Whole,
        "what was refused started nothing"
    );
    let why: Arc<str> = "the session of the subagent that turn 1 started was not read".into();
    assert_eq!(sight(std::slice::from_ref(&main), "main"), TreeSight::since(2, why));
    // Of two sessions with the name of the parent it is the one in the same file; if neither is, it is unknown.
    let mut far = main.clone();
    far.origin.file = "far/away.jsonl".into();
    assert_eq!(sight(&[main.clone(), far.clone(), sub.clone()], "sub"), TreeSight::Whole);
    let mut near = far.clone();
    near.origin.file = "near/by.jsonl".into();
    assert!(sight(&[near, far, sub], "sub").gap(0).is_some());
    let told = join(vec![session("sub", Some("main"), &[])]).remove(0).diagnostics.remove(0);
    assert_eq!(told.code, code::TREE_INCOMPLETE);
}

#[test]
fn sessions_that_name_each_other_are_one_tree() {
    let (one, two) = (
        session("one", Some("two"), &[(Some(1), &["a"])]),
        session("two", Some("one"), &[(Some(2), &["b"])]),
    );
    let alone = session("alone", None, &[(Some(3), &["c"])]);
    let all = [one, two, alone];
    assert_eq!(seen(&all, "one"), ["b@1", "b.@1"]);
    assert!(seen(&all, "alone").is_empty());
}
