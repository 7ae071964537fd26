//! Pastes: what a prompt takes of one, what it says of the rest, and that keys do not wait for it.

use std::time::{Duration, Instant};

use super::*;
use crate::workbench::update::update;

fn value(model: &Model) -> &str {
    model.dialog.prompt.as_ref().map_or("", |prompt| prompt.input.value())
}

fn cut(model: &Model) -> &str {
    model.dialog.prompt.as_ref().and_then(|prompt| prompt.cut.as_deref()).unwrap_or_default()
}

fn paste(model: &mut Model, text: &str) {
    feed(model, Msg::Paste(text.to_owned()));
}

#[test]
fn a_prompt_takes_the_first_line_and_says_what_it_cut() {
    let long = "é".repeat(6_000);
    let cases = [
        ("one line", "one line", ""),
        ("\r\n\n  two\twords\r\nand more\n\nlines", "  two words", "pasted the first of 3 lines"),
        ("bell\x07 and \x1b[2J", "bell and [2J", ""),
        (long.as_str(), &long[..10_000], "pasted 5,000 characters of 6,000 characters"),
        (&format!("{long}\nx"), &long[..10_000], "pasted 5,000 characters of the first of 2 lines"),
        ("\n \n", "", ""),
    ];
    for keys in ["/", "db", "xa", "F /", "? /"] {
        for (text, taken, said) in cases {
            let mut model = model();
            press(&mut model, keys);
            press(&mut model, "Ctrl-u");
            paste(&mut model, text);
            assert_eq!((value(&model), cut(&model)), (taken, said), "{keys} {text:.20}");
            let footer = screen(&model).lines().last().unwrap_or_default().to_owned();
            assert!(footer.contains(said), "{footer}");
            press(&mut model, "x");
            assert_eq!((value(&model), cut(&model)), (format!("{taken}x").as_str(), ""), "{keys}");
        }
    }
}

#[test]
fn a_paste_goes_in_at_the_cursor_and_a_prompt_holds_no_more_than_its_limit() {
    let mut model = model();
    press(&mut model, "/");
    typed(&mut model, "ORD!");
    press(&mut model, "Left");
    paste(&mut model, "-124");
    assert_eq!(value(&model), "ORD-124!");
    press(&mut model, "y");
    assert_eq!(value(&model), "ORD-124y!");
    for _ in 0..3 {
        paste(&mut model, &"z".repeat(9_000));
    }
    assert_eq!((value(&model).len(), cut(&model)), (10_000, "pasted 0 characters of 9,000 characters"));
}

#[test]
fn no_command_is_made_of_a_paste() {
    for keys in ["", "F", "b", "!"] {
        let mut model = model();
        press(&mut model, keys);
        let before = screen(&model);
        paste(&mut model, "q\nm\nxd");
        assert_eq!(note(&model), "6 pasted characters ignored: only a prompt takes a paste");
        press(&mut model, "Esc");
        press(&mut model, keys);
        assert_eq!(screen(&model), before, "{keys}");
    }
}

#[test]
fn keys_that_arrive_together_are_text_from_the_prompt_on() {
    let mut model = model();
    update(&mut model, Msg::Typed("j/ORD-124".to_owned()));
    assert_eq!((value(&model), model.dialog.query.as_deref()), ("ORD-124", Some("ORD-124")));
    assert_eq!(at(&model), "T2.2 issue_refund");
    press(&mut model, "Esc");
    assert_eq!(at(&model), "T2.1 issue_refund", "where `j` had gone");
    let effects = update(&mut model, Msg::Typed("qq".to_owned()));
    assert!(matches!(effects.as_slice(), [crate::workbench::effect::Effect::Quit, ..]));
}

/// Tens of milliseconds where nothing else runs; each took a minute and more.
#[test]
fn keys_are_answered_at_once_whatever_was_pasted() {
    let mut made = Builder::new("s", Origin { file: "s.json".into(), index: 0, format: "native", line: 1 });
    for _ in 0..40 {
        made.response(None, Body::text("a".repeat(20_000)), None);
    }
    let session = made.finish();
    let pastes =
        ["a".repeat(1_000_000), "a ".repeat(500_000), "漢字\u{301}".repeat(200_000), "\n".repeat(1_000_000)];
    for keys in ["", "/", "F /", "? /", "db", "xa"] {
        for text in &pastes {
            let mut model = opened(120, 40, "mono", vec![session.clone(), refunds()]);
            press(&mut model, "} j");
            press(&mut model, keys);
            if keys == "/" {
                press(&mut model, "Esc { /");
            }
            for msg in [Msg::Paste(text.clone()), Msg::Typed(text.clone()), Msg::Key(Key::char('x'))] {
                if keys.is_empty() && matches!(msg, Msg::Typed(_)) {
                    // Without a prompt these are commands; the thread that reads keys makes a paste of so many.
                    continue;
                }
                let begun = Instant::now();
                feed(&mut model, msg);
                drawn(&model);
                let took = begun.elapsed();
                assert!(took < Duration::from_secs(5), "{keys} {text:.10} {took:?}");
            }
        }
    }
}
