//! The next start begins where the last one ended.

use super::*;
use crate::explore::table::{Column, GroupKind};
use crate::workbench::model::saved::SavedPlace;
use crate::workbench::theme::{Depth, Theme};
use crate::workbench::update::restore::begin;

/// A session with this many calls, each with a text of its own.
fn session(id: &str, file: &str, calls: &[&str]) -> Arc<Session> {
    let mut made = Builder::new(id, Origin { file: file.into(), index: 0, format: "native", line: 1 });
    made.said("user", Body::text("a secret of the recording"), None);
    for (at, text) in calls.iter().enumerate() {
        let id = format!("c{at}");
        made.response(None, Body::MISSING, None);
        made.call(Some(&id), "lookup_order", Body::text(format!(r#"{{"note": "{text}"}}"#)), None);
        made.result(Some(&id), Body::text("the answer"), Mark::default(), None);
    }
    Arc::new(made.finish())
}

/// A workbench that starts, with nothing read yet.
fn started(place: &SavedPlace) -> Model {
    let mut model = Model::new(crate::workbench::model::Opening {
        theme: Theme::builtin("mono", Depth::None).unwrap(),
        size: ratatui::layout::Size::new(120, 40),
        policy_name: "contracts".to_owned(),
        mode: Mode::Enforce,
    });
    begin(&mut model, place.clone());
    model
}

fn read(model: &mut Model, sessions: &[&Arc<Session>]) {
    for (done, session) in sessions.iter().enumerate() {
        let file = session.origin.file.to_string();
        read_part(model, &file, vec![Arc::clone(session)], Vec::new(), (done + 1, sessions.len()));
    }
    read_all(model);
}

fn sessions() -> [Arc<Session>; 2] {
    [session("one", "a.json", &["x", "y"]), session("two", "b.json", &["p", "q", "r", "s"])]
}

/// On the result of the third call of the second session, with the list as it is asked to be.
fn left() -> SavedPlace {
    let [one, two] = sessions();
    let mut model = opened(120, 40, "mono", vec![Session::clone(&one), Session::clone(&two)]);
    press(&mut model, "} j j Down 5 S");
    typed(&mut model, "calls");
    press(&mut model, "Enter t f");
    typed(&mut model, "lookup");
    press(&mut model, "Enter 5");
    assert!(matches!(model.row().unwrap().kind, RowKind::Result(2)));
    SavedPlace::of(&model).unwrap()
}

#[test]
fn everything_is_as_it_was() {
    let place = left();
    let text = place.to_text();
    assert!(!text.contains("secret") && !text.contains("answer") && !text.contains("note"), "{text}");
    assert_eq!(SavedPlace::parse(&text), Ok(place.clone()));
    let [one, two] = sessions();
    let mut model = started(&place);
    read(&mut model, &[&one, &two]);
    assert_eq!((&*model.entry().unwrap().name, model.place.focus), ("two", Pane::Preconditions));
    assert!(matches!(model.row().unwrap().kind, RowKind::Result(2)), "{}", screen(&model));
    let table = &model.archive.table;
    assert_eq!((table.sort, table.group), (Some((Column::Calls, true)), Some(GroupKind::File)));
    assert_eq!(table.filter.text(), "lookup");
    assert!(note(&model).starts_with("back in two, call 3, filtered"), "{}", note(&model));
    assert_eq!(SavedPlace::of(&model), Some(place), "closed at once, it is the same place");
}

#[test]
fn what_has_changed_is_said() {
    let place = left();
    let [one, _] = sessions();
    for (calls, index, told) in [
        // Calls came before it, and after it.
        (&["new", "p", "q", "r", "s", "t"][..], 3, "back in two, call 4"),
        // It is gone: the one in its place.
        (&["p", "q", "other", "s"][..], 2, "has changed since the last visit"),
        (&["p"][..], 0, "has changed since the last visit"),
    ] {
        let mut model = started(&place);
        read(&mut model, &[&one, &session("two", "b.json", calls)]);
        assert_eq!(model.call().map(|call| call.at.index), Some(index));
        assert!(note(&model).contains(told), "{}", note(&model));
    }
    // Without any call, without the session, without its file.
    let mut model = started(&place);
    read(&mut model, &[&one, &session("two", "b.json", &[])]);
    assert_eq!(&*model.entry().unwrap().name, "two");
    let mut model = started(&place);
    read(&mut model, &[&one, &session("three", "b.json", &["p"])]);
    assert_eq!(&*model.entry().unwrap().name, "three");
    assert_eq!(
        note(&model),
        "the session two of the last visit is gone; this is the first session of its file"
    );
    let mut model = started(&place);
    read(&mut model, &[&one]);
    assert_eq!(note(&model), "the session two of the last visit is gone; so is its file");
    assert_eq!(model.place.open, 0);
}

/// A user who goes somewhere while the recordings are being read stays there.
#[test]
fn a_key_ends_it() {
    let [one, two] = sessions();
    let mut model = started(&left());
    read_part(&mut model, "a.json", vec![Arc::clone(&one)], Vec::new(), (1, 2));
    assert_eq!(SavedPlace::of(&model), None, "closed now, the last place is kept");
    press(&mut model, "2 j");
    read_part(&mut model, "b.json", vec![Arc::clone(&two)], Vec::new(), (2, 2));
    read_all(&mut model);
    assert_eq!((model.place.open, at(&model).as_str()), (0, "T2.1 lookup_order"));
}

#[test]
fn texts_that_are_no_place() {
    let text = left().to_text();
    for (from, to) in [
        ("rulestep.place/1", "rulestep.place/2"),
        ("\"focus\":5", "\"focus\":9"),
        ("\"focus\":5", "\"focus\":0"),
        ("\"zoom\":false", "\"zoom\":false,\"more\":1"),
        ("\"row\":", "\"row\":-"),
        ("{", ""),
    ] {
        assert!(text.contains(from), "{from} in {text}");
        assert!(SavedPlace::parse(&text.replacen(from, to, 1)).is_err(), "{from} {to}");
    }
    // What nobody knows any more is as if nothing was chosen; a filter that is none is reported.
    let odd = text
        .replace("\"calls\"", "\"colour\"")
        .replace("lookup", "nokey:x")
        .replace("\"file\",", "\"moon\",");
    let mut model = started(&SavedPlace::parse(&odd).unwrap());
    assert!(note(&model).contains("filter of the last visit"), "{}", note(&model));
    let [one, two] = sessions();
    read(&mut model, &[&one, &two]);
    assert_eq!(model.archive.table.sort, None);
    assert_eq!(&*model.entry().unwrap().name, "two");
}
