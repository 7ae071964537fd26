//! Texts that name a key name the one that was chosen.

use super::*;
use crate::workbench::effect::Effect;
use crate::workbench::keys::{Command, Keymap, TABLE};
use crate::workbench::update::run;

/// Every command has another key, which nothing else on the screen looks like.
fn rebound() -> Keymap {
    let mut keymap = Keymap::default();
    for (at, row) in TABLE.iter().enumerate() {
        let letter = |at: usize| char::from(b'a' + u8::try_from(at).unwrap());
        if row.command != Command::QuitNow {
            keymap.bind(row.command, &[format!("Alt-{}Alt-{}", letter(at / 26), letter(at % 26))]);
        }
    }
    keymap
}

const DOES: [&str; 26] = [
    "goes", "again", "quits", "changes", "saves", "shows", "brings", "lists", "closes", "folds", "opens",
    "chooses", "compares", "groups", "searches", "go", "turns", "undoes", "takes", "ends", "reads", "loads",
    "waits", "marks", "returns", "all",
];

/// The default chords that a text names: alone in backticks, or as a word before what they do.
fn named(text: &str) -> Vec<&'static str> {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || "(;,║│".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    let rows = TABLE.iter().filter(|row| row.command != Command::QuitNow);
    let keys: Vec<&str> = rows.flat_map(|row| row.keys).copied().collect();
    let said = words.windows(2).filter(|pair| DOES.contains(&pair[1])).map(|pair| pair[0]);
    let quoted = text.split('`').skip(1).step_by(2);
    let is = |key: &&str, word: &str| word == *key || word.strip_suffix('a') == Some(key);
    let said = said.chain(quoted).filter_map(|word| keys.iter().find(|key| is(key, word)).copied());
    said.collect()
}

#[test]
fn a_default_key_in_a_text_is_seen() {
    assert_eq!(named("2 calls show it; q goes back"), ["q"]);
    assert_eq!(named("no base; `db` chooses one"), ["db"]);
    assert!(named("a question, quickly").is_empty());
}

/// Every command is run in every state that changes what there is to say, and every screen is read.
#[test]
fn no_text_names_a_key_that_was_given_away() {
    let states: [fn(&mut Model); 7] = [
        |_| {},
        |model| drop(press(model, "]f")),
        |model| drop(press(model, "]f xx")),
        |model| drop(press(model, "]f W")),
        |model| drop(press(model, "1 t j")),
        |model| {
            press(model, "f");
            typed(model, "zebra");
            press(model, "Enter");
        },
        |model| {
            with_cases(model, &CASES);
            press(model, "C Enter G Enter");
        },
    ];
    for (width, state) in states.map(|state| (120, state)).into_iter().chain([(58, states[0])]) {
        for row in TABLE {
            let mut model = opened(width, 40, "mono", vec![refunds(), clean()]);
            state(&mut model);
            model.preferences.keymap = rebound();
            let mut effects: Vec<Effect> = Vec::new();
            model.dialog.note = None;
            run(&mut model, row.command, &mut effects);
            let size = model.size;
            feed(&mut model, Msg::Resize(size));
            let mut seen = screen(&model);
            // The keys of a line that is typed cannot be given away.
            if model.dialog.prompt.is_some() {
                seen.truncate(seen.rfind('\n').unwrap_or_default());
            }
            let texts = [seen.as_str(), note(&model)];
            for text in texts {
                let named = named(text);
                assert!(named.is_empty(), "{width} {}: {named:?} in {text}", row.name);
            }
        }
    }
    // Where nothing is open.
    let mut model = opened(80, 24, "mono", Vec::new());
    model.preferences.keymap = rebound();
    for row in TABLE {
        let mut effects: Vec<Effect> = Vec::new();
        run(&mut model, row.command, &mut effects);
        model.dialog.prompt = None;
        let text = format!("{}\n{}", note(&model), screen(&model));
        assert!(named(&text).is_empty(), "{}: {text}", row.name);
        model.dialog.overlays.clear();
    }
    // What help says of each command, which nobody can see at once.
    for row in TABLE {
        let text = model.preferences.keymap.worded(row.doc).into_owned();
        assert!(named(&text).is_empty(), "{}: {text}", row.name);
    }
}
