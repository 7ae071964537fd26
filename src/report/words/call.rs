//! A call in one line: its tool, and what distinguishes it from other calls of that tool.
//!
//! The most informative arguments come first: a command, a file, an address, a query, ids. A long value is cut in its
//! middle, because values that belong together mostly begin alike and differ at an end.

use std::borrow::Cow;

use serde_json::Value;

use rulestep_base::session::{Body, Call};
use rulestep_base::wording::clean::{self, CleanLine, Marks};

/// Columns that the call of a report takes.
pub const WIDTH: usize = 100;
/// Columns that an argument's name takes.
const KEY: usize = 24;
/// Fewest columns of a value: in less room nothing can be read.
const LEAST: usize = 8;
/// Most arguments that share the room: each should be readable.
const SHARED: usize = 3;

/// `issue_refund(order_id: "ORD-124")`, in at most [`WIDTH`] columns.
#[must_use]
pub fn call(call: &Call) -> String {
    in_line(&call.tool, &call.arguments, WIDTH, Marks::Unicode).text()
}

/// `issue_refund(order_id: "ORD-124")`, in at most `width` columns.
#[must_use]
pub fn in_line(tool: &str, arguments: &Body, width: usize, marks: Marks) -> CleanLine {
    let mut line = clean::ends(tool, (width / 2).max(LEAST).min(width), marks);
    let Some(room) = width.checked_sub(line.width + 2) else { return line };
    line.append(plain("("));
    line.append(self::arguments(arguments, room, marks));
    line.append(plain(")"));
    line
}

/// `order_id: "ORD-124", amount: 50`, in at most `width` columns; empty without arguments. Text that is not JSON
/// is shown as it was recorded.
#[must_use]
pub fn arguments(arguments: &Body, width: usize, marks: Marks) -> CleanLine {
    match arguments.parsed() {
        Some(Value::Object(fields)) => {
            let mut fields: Vec<(&str, &Value)> =
                fields.iter().map(|(key, value)| (key.as_str(), value)).collect();
            fields.sort_by_key(|(key, _)| rank(key));
            object(&fields, width, marks)
        }
        Some(other) => clean::ends(&json(other, width), width, marks),
        None => clean::ends(&snipped(arguments.raw(), width), width, marks),
    }
}

/// The arguments one after the other. Each leaves the next few as much room as they need, up to an equal share; a less
/// informative one leaves its room to the others.
fn object(fields: &[(&str, &Value)], width: usize, marks: Marks) -> CleanLine {
    let mut line = CleanLine::default();
    for (place, (key, value)) in fields.iter().enumerate() {
        let tells = rank(key) < OTHER;
        let next = fields.get(place + 1..).unwrap_or_default();
        let rivals = next.iter().take_while(|(key, _)| !tells || rank(key) < OTHER).take(SHARED - 1);
        let rivals: Vec<usize> = rivals.map(|(key, value)| columns(key, value, width, marks)).collect();
        if place > 0 {
            line.append(plain(", "));
        }
        let key = named(key, marks);
        let text = json(value, width);
        // `, …`, should the next one not fit.
        let more = if next.is_empty() { 0 } else { 3 };
        let left = width.saturating_sub(line.width + key.width + more);
        let share = left / (rivals.len() + 1);
        let room = left - rivals.iter().map(|columns| (*columns).min(share)).sum::<usize>().min(left);
        if room < clean::width(&text, marks, LEAST) {
            if line.width < width {
                line.append(CleanLine::mark(marks.ellipsis()));
            }
            break;
        }
        line.append(key);
        line.append(clean::ends(&text, room, marks));
    }
    line
}

/// Columns of an argument that is shown whole, with the separator before it; counted up to `width`.
fn columns(key: &str, value: &Value, width: usize, marks: Marks) -> usize {
    2 + named(key, marks).width + clean::width(&json(value, width), marks, width)
}

fn named(key: &str, marks: Marks) -> CleanLine {
    let mut key = clean::ends(key, KEY, marks);
    key.append(plain(": "));
    key
}

fn plain(text: &str) -> CleanLine {
    clean::show(text, Marks::Unicode)
}

/// A value as JSON. Of a long text no more than `width` columns can need, with something left out of its middle.
fn json(value: &Value, width: usize) -> String {
    match value {
        Value::String(text) => Value::String(snipped(text, width).into_owned()).to_string(),
        other => other.to_string(),
    }
}

/// Both ends of a text that is too long for `width` columns, so that not all of it is processed.
fn snipped(text: &str, width: usize) -> Cow<'_, str> {
    // A column may hold a letter with several accents.
    let most = (width + 1) * 8;
    if text.len() <= most * 8 {
        return text.into();
    }
    let head = text.char_indices().nth(most).map_or(text.len(), |(at, _)| at);
    let tail = text.char_indices().rev().nth(most - 1).map_or(0, |(at, _)| at);
    match (text.get(..head), text.get(tail..)) {
        (Some(start), Some(end)) if head < tail => format!("{start}{end}").into(),
        _ => text.into(),
    }
}

/// The rank of ordinary arguments.
const OTHER: u8 = 5;

/// How informative an argument is, by its name: 0 the most.
fn rank(key: &str) -> u8 {
    let plain: String =
        key.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect();
    match plain.as_str() {
        "command" | "cmd" | "commands" => 0,
        "filepath" | "path" | "filename" | "file" | "targetfile" | "notebookpath" => 1,
        "url" | "uri" => 2,
        "query" | "pattern" => 3,
        "id" | "ids" => 4,
        _ if ["_id", "_ids", "-id", "Id", "Ids", "ID"].iter().any(|end| key.ends_with(end)) => 4,
        _ => OTHER,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;
    use unicode_width::UnicodeWidthStr;

    use super::*;

    fn shown(tool: &str, arguments: &str, width: usize) -> String {
        in_line(tool, &Body::text(arguments), width, Marks::Unicode).text()
    }

    #[test]
    fn what_tells_most_comes_first() {
        let cases = [
            ("{}", "t()"),
            ("", "t()"),
            ("null", "t(null)"),
            ("[1,2]", "t([1,2])"),
            ("not json", "t(not json)"),
            (r#"{"amount":5.0,"order_id":"ORD-124"}"#, r#"t(order_id: "ORD-124", amount: 5.0)"#),
            (
                r#"{"timeout":1,"paid":true,"orderId":7,"void":null}"#,
                "t(orderId: 7, timeout: 1, paid: true, void: null)",
            ),
            (
                r#"{"id":"a","q":1,"query":"b","uri":"c","filename":"d","cmd":"e"}"#,
                r#"t(cmd: "e", filename: "d", uri: "c", query: "b", id: "a", q: 1)"#,
            ),
            (r#"{"command":"a\nb \"c\" \u001b[31m"}"#, r#"t(command: "a\nb \"c\" \u001b[31m")"#),
            ("{\"a\u{202e}b\":\"c\u{200b}d\"}", r#"t(a⟨U+202E⟩b: "c⟨U+200B⟩d")"#),
        ];
        for (arguments, want) in cases {
            assert_eq!(shown("t", arguments, 100), want, "{arguments}");
        }
    }

    #[test]
    fn long_values_are_cut_in_the_middle_and_share_the_room() {
        let long = |text: &str| text.repeat(400);
        let cases = [
            (
                format!(r#"{{"content":"{}","file_path":"/home/a/x.rs"}}"#, long("z")),
                40,
                r#"t(file_path: "/home/a/x.rs", …)"#,
            ),
            (
                format!(r#"{{"content":"{}","file_path":"/home/a/x.rs"}}"#, long("z")),
                56,
                r#"t(file_path: "/home/a/x.rs", content: "zzzzzzz…zzzzzzz")"#,
            ),
            (
                format!(r#"{{"command":"{}","url":"{}"}}"#, long("ab"), long("cd")),
                48,
                r#"t(command: "abababa…bababab", url: "cdcd…dcdcd")"#,
            ),
            (
                format!(r#"{{"order_id":"1","command":"{}"}}"#, long("漢字")),
                40,
                r#"t(command: "漢字…漢字", order_id: "1")"#,
            ),
            (long("no json "), 20, "t(no json …no json )"),
        ];
        for (arguments, width, want) in cases {
            assert_eq!(shown("t", &arguments, width), want);
        }
        assert_eq!(shown(&long("tool"), "{}", 20), "tool…ltool()");
    }

    #[test]
    fn a_long_argument_costs_no_more_than_its_ends() {
        let body = Body::text(format!(r#"{{"command":"{}"}}"#, "a".repeat(8 << 20)));
        assert!(body.parsed().is_some());
        let start = std::time::Instant::now();
        for _ in 0..1000 {
            let shown = in_line("Bash", &body, 80, Marks::Unicode);
            assert_eq!(shown.width, 80);
        }
        assert!(start.elapsed().as_secs() < 10, "1000 lines took {:?}", start.elapsed());
    }

    proptest! {
        #[test]
        fn a_call_fits_and_hides_nothing(
            tool in ".{0,20}", keys in prop::collection::vec(("(command|order_id|.{0,30})", ".{0,60}"), 0..6), width in 0_usize..120,
        ) {
            let fields: serde_json::Map<String, Value> =
                keys.into_iter().map(|(key, value)| (key, Value::String(value))).collect();
            let body = Body::text(Value::Object(fields).to_string());
            for marks in [Marks::Unicode, Marks::Ascii] {
                let line = in_line(&tool, &body, width, marks);
                let cells: usize = line.text().graphemes(true).map(UnicodeWidthStr::width).sum();
                prop_assert!(line.width <= width && cells <= width, "{line:?}");
                prop_assert!(!line.text().chars().any(char::is_control));
            }
        }
    }
}
