use super::*;

const SCOPES: [Scope; 7] =
    [Scope::Panes, Scope::Policy, Scope::Body, Scope::Findings, Scope::Help, Scope::Texts, Scope::Survey];

fn keys(text: &str) -> Vec<Key> {
    chord::parse(text).unwrap()
}

#[test]
fn rows_stand_at_their_commands_place() {
    for (at, row) in TABLE.iter().enumerate() {
        assert_eq!(row.command as usize, at);
        assert_eq!(row.command.row().name, row.name);
    }
}

#[test]
fn no_chord_clashes_with_another_or_begins_it() {
    for scope in SCOPES {
        let chords: Vec<_> =
            in_scope(scope).flat_map(|row| row.keys.iter().map(|key| (row.command, keys(key)))).collect();
        for (at, (command, one)) in chords.iter().enumerate() {
            for (other_command, other) in &chords[at + 1..] {
                let clash = one.starts_with(other) || other.starts_with(one);
                assert!(!clash, "{scope:?}: {command:?} and {other_command:?}");
            }
        }
    }
}

#[test]
fn every_command_is_reached_and_documented() {
    for row in TABLE {
        // Commands with an argument are run by name; all others have keys too.
        assert!(!row.keys.is_empty() || row.argument.is_some(), "{}", row.name);
        assert!(!row.doc.is_empty(), "{}", row.name);
        assert!(row.doc.len() <= 72 && !row.doc.ends_with('.'), "{}", row.doc);
        let scope = if row.scope == Scope::All { Scope::Panes } else { row.scope };
        for key in row.keys {
            let (chord, meant) = match row.argument {
                Some(Argument::Letter) => (format!("{key}a"), Meaning::Letter(row.command, 'a')),
                _ => ((*key).to_owned(), Meaning::Command(row.command)),
            };
            assert_eq!(Keymap::default().meaning(&keys(&chord), scope), meant, "{key}");
        }
    }
    let mut names: Vec<_> = TABLE.iter().map(|row| row.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), TABLE.len());
}

#[test]
fn the_policy_pane_has_a_key_of_its_own_before_those_of_all_panes() {
    let meaning = |key, scope| Keymap::default().meaning(&keys(key), scope);
    assert_eq!(meaning("K", Scope::Policy), Meaning::Command(Command::Reference));
    assert_eq!(meaning("K", Scope::Panes), Meaning::Command(Command::PreviousTurn));
    assert_eq!(meaning("J", Scope::Policy), Meaning::Command(Command::NextTurn));
    // None of its own chords begins one of the others, or continues one of those.
    let of = |scope| TABLE.iter().filter(move |row| row.scope == scope).flat_map(|row| row.keys);
    for own in of(Scope::Policy) {
        for other in of(Scope::Panes).chain(of(Scope::All)).filter(|other| *other != own) {
            assert!(
                !keys(own).starts_with(&keys(other)) && !keys(other).starts_with(&keys(own)),
                "{own} {other}"
            );
        }
    }
}

#[test]
fn chords_go_on() {
    let Meaning::Prefix(rest) = Keymap::default().meaning(&keys("]"), Scope::Panes) else {
        panic!("no prefix")
    };
    assert!(rest.contains(&("f".into(), Command::NextFinding)));
    assert_eq!(Keymap::default().meaning(&keys("]q"), Scope::Panes), Meaning::Nothing);
    assert_eq!(Keymap::default().meaning(&keys("yp"), Scope::Body), Meaning::Command(Command::CopyPath));
    assert_eq!(Keymap::default().meaning(&keys("yp"), Scope::Panes), Meaning::Nothing);
    assert_eq!(Keymap::default().meaning(&keys("z"), Scope::Panes), Meaning::Command(Command::Zoom));
}

#[test]
fn what_cannot_be_used_says_why() {
    let none = Facts::default();
    assert_eq!((Command::Cause.row().missing)(&none), Some("no session is open"));
    let open = Facts { session: true, judged: true, ..none };
    assert_eq!((Command::Cause.row().missing)(&open), Some("no rule stops or reports this"));
    assert_eq!((Command::Down.row().missing)(&none), None);
}

#[test]
fn markdown_has_every_command() {
    let text = markdown();
    for row in TABLE {
        assert!(text.contains(row.doc));
    }
}
