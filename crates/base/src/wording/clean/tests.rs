//! The text that reaches the screen, checked against the Unicode tables of another crate and by reading marks back.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::pieces::STACKED;
use super::*;
use proptest::prelude::*;
use regex::Regex;

fn plain(text: &str) -> String {
    show(text, Marks::Unicode).text()
}

#[test]
fn marks_what_cannot_be_seen() {
    let cases = [
        ("plain text", "plain text", "plain text"),
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m", "^[[31mred^[[0m"),
        ("a\r\nb\n", "a␍↵b↵", "a^M\\nb\\n"),
        ("\x7f\u{9b}2J", "␡⟨U+009B⟩2J", "^?<U+009B>2J"),
        ("abc\u{202e}cba", "abc⟨U+202E⟩cba", "abc<U+202E>cba"),
        ("zero\u{200b}width\u{feff}", "zero⟨U+200B⟩width⟨U+FEFF⟩", "zero<U+200B>width<U+FEFF>"),
        ("\u{301}x", "⟨U+0301⟩x", "<U+0301>x"),
        ("e\u{301}", "e\u{301}", "e\u{301}"),
        ("tag\u{e0041}", "tag⟨U+E0041⟩", "tag<U+E0041>"),
        ("a\tb\tc", "a   b   c", "a   b   c"),
        ("⚠\u{fe0f} ok", "⚠ ok", "⚠ ok"),
        ("漢字 ✓", "漢字 ✓", "漢字 ✓"),
    ];
    for (text, unicode, ascii) in cases {
        assert_eq!(show(text, Marks::Unicode).text(), unicode, "{text:?}");
        assert_eq!(show(text, Marks::Ascii).text(), ascii, "{text:?}");
    }
}

#[test]
fn names_keep_both_ends() {
    let cases = [
        ("refund-124", 10, "refund-124"),
        ("banking/user_task_0/injection_task_3", 15, "banking…_task_3"),
        ("banking/user_task_0", 4, "b…_0"),
        ("banking", 2, "…g"),
        ("banking", 1, "…"),
        ("banking", 0, ""),
        ("注文の返金についての相談", 9, "注文…相談"),
        ("a\u{1b}[31mred\u{1b}[0m end", 9, "a␛[3… end"),
    ];
    for (name, width, shown) in cases {
        assert_eq!(ends(name, width, Marks::Unicode).text(), shown, "{name:?} {width}");
    }
    let long = "x".repeat(1 << 20);
    assert_eq!(ends(&long, 5, Marks::Ascii).text(), "xx`xx");
}

#[test]
fn a_mark_is_told_from_the_same_text_written_out() {
    let shown = show("⟨U+202E⟩\u{202e}", Marks::Unicode);
    let marks: Vec<bool> = shown.runs.iter().map(|run| run.mark).collect();
    assert_eq!(marks, [false, true]);
}

#[test]
fn stacked_accents_do_not_climb() {
    let zalgo = format!("a{}", "\u{301}".repeat(10));
    assert_eq!(plain(&zalgo).matches("⟨U+0301⟩").count(), 10 - STACKED);
}

#[test]
fn cuts_by_columns() {
    let cases =
        [("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("漢字漢字", 5, "漢字…"), ("漢字", 3, "漢…")];
    for (text, width, want) in cases {
        assert_eq!(fit(text, width, Marks::Unicode).text(), want);
    }
    assert_eq!(fit("漢字", 1, Marks::Unicode).text(), "…");
    assert_eq!(fit("漢字", 0, Marks::Unicode).text(), "");
    assert_eq!(fit("abc", 2, Marks::Ascii).text(), "a`");
}

#[test]
fn wraps_at_spaces() {
    let lines = |text: &str, width| -> Vec<String> {
        wrap(text, width, 99, Marks::Unicode).iter().map(CleanLine::text).collect()
    };
    assert_eq!(lines("the order may not be refunded", 11), ["the order ", "may not be ", "refunded"]);
    assert_eq!(lines("abcdefgh", 3), ["abc", "def", "gh"]);
    assert_eq!(lines("find_order_items now", 13), ["find_order_", "items now"]);
    assert_eq!(lines("see contracts/exchange.yaml:7", 14), ["see ", "contracts/", "exchange.", "yaml:7"]);
    assert_eq!(lines("one\r\n\ntwo", 9), ["one", "", "two"]);
    assert_eq!(lines("abc def", 3), ["abc", "def"]);
    assert_eq!(lines("", 3), [""]);
    assert_eq!(lines("漢字", 1), ["…", "…"]);
    assert_eq!(wrap("a b c d", 1, 2, Marks::Unicode).len(), 2);
}

/// Characters that must not reach the screen, by the tables of `regex` and not by ours: controls, formats, private
/// ones, separators, blanks except the space itself, those that Unicode draws as nothing, and code points that are not
/// characters. The last ones have a blank glyph or none, and Unicode has no property for that.
fn unseen() -> Regex {
    Regex::new(
        r"[\p{Cc}\p{Cf}\p{Co}\p{Z}\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\x{2800}\x{FFFC}\x{16FE4}\x{1D159}\x{13441}\x{13442}--[ ]]",
    )
    .unwrap()
}

/// Every one; of the planes without any character, some.
fn characters() -> impl Iterator<Item = char> {
    let empty = |c: &char| ('\u{40000}'..'\u{e0000}').contains(c);
    ('\0'..=char::MAX)
        .filter(move |c| !empty(c) || u32::from(*c) % 251 == 0 || u32::from(*c) & 0xfff0 == 0xfff0)
}

/// Marks spelt out become characters again; `plain` collects the text outside marks.
fn read_back(shown: &CleanLine, marks: Marks) -> String {
    let mut text = String::new();
    for run in &shown.runs {
        if !run.mark {
            text.push_str(&run.text);
            continue;
        }
        let mut rest = run.text.as_str();
        while let Some(first) = rest.chars().next() {
            let taken = match (marks, first) {
                (Marks::Unicode, '⟨') | (Marks::Ascii, '<') => {
                    let close = if marks == Marks::Unicode { '⟩' } else { '>' };
                    let (code, _) = rest.split_once(close).unwrap();
                    let (_, digits) = code.split_once("U+").unwrap();
                    text.push(char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap());
                    code.len() + close.len_utf8()
                }
                (Marks::Unicode, '↵') => {
                    text.push('\n');
                    first.len_utf8()
                }
                (Marks::Unicode, '␡') => {
                    text.push('\x7f');
                    first.len_utf8()
                }
                // Pictures of controls are in the order of the controls.
                (Marks::Unicode, _) => {
                    text.push(char::from_u32(u32::from(first) - 0x2400).unwrap());
                    first.len_utf8()
                }
                (Marks::Ascii, '\\') => {
                    assert!(rest.starts_with("\\n"), "{rest}");
                    text.push('\n');
                    2
                }
                (Marks::Ascii, _) => {
                    let named = rest.strip_prefix('^').unwrap().bytes().next().unwrap();
                    text.push(char::from(named ^ 0x40));
                    2
                }
            };
            rest = &rest[taken..];
        }
    }
    text
}

/// Every character there is, alone and between letters: it is there as it is, or as a mark that names it.
#[test]
fn every_character_is_itself_or_a_mark() {
    let unseen = unseen();
    let (mut marked, mut buffer) = (0, [0; 4]);
    for c in characters().filter(|c| *c != '\t') {
        let alone = c.encode_utf8(&mut buffer);
        let hidden = unseen.is_match(alone);
        marked += usize::from(hidden);
        let between = format!("a{c}b");
        for marks in [Marks::Unicode, Marks::Ascii] {
            for text in [&*alone, between.as_str()] {
                let shown = show(text, marks);
                assert!(!unseen.is_match(&shown.text()), "U+{:04X} in {shown:?}", u32::from(c));
                let drawing = matches!(c, '\u{fe0e}' | '\u{fe0f}') && text.len() > alone.len();
                let expected = if drawing { "ab" } else { text };
                assert_eq!(read_back(&shown, marks), expected, "U+{:04X}", u32::from(c));
            }
        }
        let plain = show(alone, Marks::Unicode).runs.iter().all(|run| !run.mark);
        // A mark for a visible character would make harmless text unreadable. A character without width is drawn over
        // the one before it, and alone it needs a mark.
        assert!(hidden != plain || UnicodeWidthStr::width(&*alone) == 0, "U+{:04X}", u32::from(c));
    }
    // All private ones, and enough of the others that the classes are what they should be.
    assert!(marked > 137_468 + 4_096, "{marked}");
}

fn nasty() -> impl Strategy<Value = String> {
    let special = prop::sample::select(vec![
        '\x1b',
        '\n',
        '\r',
        '\0',
        '\u{7f}',
        '\u{9b}',
        '\u{a0}',
        '\u{202e}',
        '\u{2066}',
        '\u{200d}',
        '\u{2800}',
        '\u{3000}',
        '\u{3164}',
        '\u{feff}',
        '\u{fffc}',
        '\u{301}',
        '\u{fe0f}',
        '\u{e0100}',
        '\u{e0041}',
        '漢',
        '👩',
        '\u{1f1e6}',
        'ᄀ',
        '\u{1160}',
        '\u{11a8}',
        '\u{e000}',
        '⟨',
        '␛',
    ]);
    prop::collection::vec(prop_oneof![any::<char>(), special, prop::char::range(' ', '~')], 0..60)
        .prop_map(|chars| chars.into_iter().filter(|c| *c != '\t').collect())
}

/// Without the two characters that only ask for another drawing of the one before.
fn without_drawing(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '\u{fe0e}' | '\u{fe0f}')).collect()
}

fn without_spaces(text: &str) -> String {
    text.replace(' ', "")
}

/// Columns by grapheme, as ratatui places cells.
fn cells(text: &str) -> usize {
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

proptest! {
    #[test]
    fn what_is_shown_says_what_was_there(text in nasty(), columns in 0_usize..40) {
        let unseen = unseen();
        for marks in [Marks::Unicode, Marks::Ascii] {
            let whole = show(&text, marks);
            prop_assert!(!unseen.is_match(&whole.text()), "{:?}", whole);
            prop_assert!(whole.runs.iter().all(|run| !run.text.is_empty()));
            prop_assert!(whole.runs.windows(2).all(|two| two[0].mark != two[1].mark), "runs are joined");
            prop_assert_eq!(without_drawing(&read_back(&whole, marks)), without_drawing(&text));
            prop_assert!(cells(&whole.text()) <= whole.width, "{:?}", whole);
            prop_assert_eq!(whole.width, width(&text, marks, usize::MAX));
            prop_assert_eq!(width(&text, marks, columns), whole.width.min(columns));
        }
    }

    #[test]
    fn what_is_cut_is_a_start_and_says_so(text in nasty(), columns in 0_usize..40) {
        for marks in [Marks::Unicode, Marks::Ascii] {
            let (whole, cut) = (show(&text, marks), fit(&text, columns, marks));
            prop_assert!(cut.width <= columns && cells(&cut.text()) <= columns);
            if whole.width <= columns {
                prop_assert_eq!(&cut, &whole);
            } else if columns > 0 {
                let shown = cut.text();
                let start = shown.strip_suffix(marks.ellipsis());
                prop_assert!(start.is_some_and(|start| whole.text().starts_with(start)), "{:?}", cut);
                // What is cut off next would not have left room for the ellipsis.
                let next = pieces(&text, marks, 0).scan(0, |at, piece| {
                    *at += piece.width;
                    Some(*at)
                });
                prop_assert_eq!(cut.width, 1 + next.take_while(|at| *at < columns).last().unwrap_or(0));
            }
        }
    }

    #[test]
    fn both_ends_are_those_of_the_text(text in nasty(), columns in 1_usize..40) {
        let (whole, shown) = (show(&text, Marks::Ascii), ends(&text, columns, Marks::Ascii));
        prop_assert!(shown.width <= columns && cells(&shown.text()) <= columns);
        if whole.width <= columns {
            prop_assert_eq!(&shown, &whole);
        } else {
            // A backtick may be in the text as well: some split at one must fit.
            let (whole, shown) = (whole.text(), shown.text());
            let fits = shown.match_indices('`').any(|(at, _)| {
                whole.starts_with(&shown[..at]) && whole.ends_with(&shown[at + 1..])
            });
            prop_assert!(fits, "{} in {}", shown, whole);
        }
    }

    #[test]
    fn lines_lose_nothing_but_spaces(text in nasty(), columns in 12_usize..40) {
        let unseen = unseen();
        for marks in [Marks::Unicode, Marks::Ascii] {
            let lines = wrap(&text, columns, usize::MAX, marks);
            let mut joined = String::new();
            for line in &lines {
                let shown = line.text();
                prop_assert!(!unseen.is_match(&shown));
                prop_assert!(line.width <= columns && cells(&shown) <= columns, "{:?}", line);
                joined.push_str(&shown);
            }
            let whole: String = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).map(|line| show(line, marks).text()).collect();
            prop_assert_eq!(without_spaces(&joined), without_spaces(&whole));
            let few = wrap(&text, columns, 2, marks);
            prop_assert_eq!(few.as_slice(), &lines[..lines.len().min(2)]);
        }
    }

    /// Parts that end with rows are wrapped by themselves as they are in the whole.
    #[test]
    fn parts_that_end_with_rows_have_the_rows_of_the_whole(
        words in proptest::collection::vec("[a-zé漢]{1,5}[,/]?", 0..40), columns in 12_usize..40, rows in 1_usize..4,
    ) {
        let text = words.join(" ");
        let whole = wrap(&text, columns, usize::MAX, Marks::Unicode);
        let (part, rest) = text.split_at(filled(&text, columns, rows, Marks::Unicode));
        let own = wrap(part, columns, usize::MAX, Marks::Unicode);
        if rest.is_empty() {
            prop_assert!(own == whole && whole.len() <= rows, "{:?}", whole);
        } else {
            prop_assert_eq!(&own[..rows], &whole[..rows]);
            // A blank at its end, whose place the end of a row takes, has no row.
            prop_assert!(own.len() == rows || own.len() == rows + 1 && own[rows].width == 0, "{:?}", own);
        }
    }

    #[test]
    fn parts_of_any_text_have_no_more_rows_than_were_asked_for(
        text in nasty(), columns in 12_usize..40, rows in 1_usize..4,
    ) {
        let text = text.replace(['\n', '\r'], " ");
        for marks in [Marks::Unicode, Marks::Ascii] {
            let end = filled(&text, columns, rows, marks);
            prop_assert!(end > 0 || text.is_empty());
            let own = wrap(&text[..end], columns, usize::MAX, marks);
            prop_assert!(own.iter().filter(|row| row.width > 0).count() <= rows, "{:?}", own);
        }
    }

    #[test]
    fn a_tab_reaches_the_next_stop(before in "[a-z漢]{0,9}", column in 0_usize..9) {
        let text = format!("{before}\tx");
        let pieces: Vec<_> = pieces(&text, Marks::Unicode, column).collect();
        let at: usize = pieces[..pieces.len() - 1].iter().map(|piece| piece.width).sum();
        prop_assert_eq!((column + at) % 4, 0);
        let tab = &pieces[pieces.len() - 2];
        prop_assert!((1..=4).contains(&tab.width) && tab.text.len() == tab.width && !tab.mark);
    }
}
