//! The strip of calls where several share a column: it shows the strongest decision among them.

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;

use crate::compare::Base;
use crate::workbench::draw::timeline;
use crate::workbench::message::Msg;
use crate::workbench::testing::{feed, judged, loaded, press, typed};
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Origin};

const RULES: &str = "\
id: desk
forbidden:
  - {sequence: [deny], action: deny, reason: security:deny}
  - {sequence: [halt], action: halt, reason: security:halt}
---
policies: [{type: read_before_write, write_tools: [report]}]
";

/// The glyphs of as many columns, of calls that are named by their first letters: `d`enied, `h`alted, `r`eported, else
/// allowed; `|` ends a turn.
fn strip(calls: &str, columns: u16, mode: &str) -> String {
    strip_beside(calls, columns, mode, None)
}

/// The same, compared with a base.
fn strip_beside(calls: &str, columns: u16, mode: &str, base: Option<&str>) -> String {
    let mut made =
        Builder::new("strip", Origin { file: "s.json".into(), index: 0, format: "native", line: 1 });
    made.response(None, Body::MISSING, None);
    for (at, letter) in calls.chars().enumerate() {
        let tool = match letter {
            '|' => {
                made.response(None, Body::MISSING, None);
                continue;
            }
            'r' => "report",
            'd' => "deny",
            'h' => "halt",
            _ => "look",
        };
        let id = format!("c{at}");
        made.call(Some(&id), tool, Body::text("{}"), None);
        made.result(Some(&id), Body::text("done"), Mark::default(), None);
    }
    let mut model = judged(120, 40, "mono", loaded(RULES), vec![made.finish()]);
    press(&mut model, mode);
    if let Some(base) = base {
        press(&mut model, "db");
        typed(&mut model, "old");
        press(&mut model, "Enter");
        let base = Base::Version(loaded(base).policy.unwrap());
        feed(&mut model, Msg::Base { name: "old".to_owned(), read: Ok(base) });
    }
    let note = format!(" call 1/{} ", calls.replace('|', "").len()).len();
    let area = Rect::new(0, 0, columns + u16::try_from(note).unwrap() + 2, 1);
    let mut buf = Buffer::empty(area);
    timeline::draw(&model, &mut buf, area);
    let row: String = buf.content().iter().map(Cell::symbol).collect();
    row.trim().split_once(" call ").unwrap_or_else(|| panic!("no number of a call: {row}")).0.to_owned()
}

#[test]
fn a_column_shows_the_strongest_decision_of_its_calls() {
    for (calls, columns, glyphs) in [
        (".d.h..dh", 4, "✗■✓■"),
        ("hdd.d...", 4, "■✗✗✓"),
        ("hddd.h...", 3, "■■✓"),
        ("dddhdddd", 1, "■"),
        ("ddd.dddd", 1, "✗"),
        ("dh.d", 4, "✗■✓✗"),
    ] {
        assert_eq!(strip(calls, columns, "m"), glyphs, "{calls} in {columns}, shadow");
    }
    // A halt ends the session: what follows is not reached, which is more than allowed and less than stopped.
    for (calls, columns, glyphs) in
        [(".ddh....", 4, "✗■––"), ("..dh.", 1, "■"), ("dh......", 4, "■–––"), ("...h....", 4, "✓■––")]
    {
        assert_eq!(strip(calls, columns, ""), glyphs, "{calls} in {columns}, enforce");
    }
}

#[test]
fn a_change_is_marked_where_it_hides_no_stop() {
    let base = RULES.replace("[deny]", "[look]").replace("[halt]", "[none]");
    assert_eq!(strip_beside("d.h.", 4, "m", Some(&base)), "✗∆■∆");
}

/// A report about a call that runs is more than an allowed call, and less than a stopped one.
#[test]
fn a_report_is_seen_beside_calls_that_are_allowed() {
    for (calls, columns, glyphs) in [
        ("r.", 1, "!"),
        (".r", 1, "!"),
        ("r..r", 2, "!!"),
        ("rd", 1, "✗"),
        ("hr", 1, "■"),
        ("r.dr", 4, "!✓✗!"),
    ] {
        assert_eq!(strip(calls, columns, "m"), glyphs, "{calls} in {columns}");
    }
    // A call that is stopped only because an earlier one was is a stop.
    for (calls, columns, glyphs) in [("d|d.", 3, "✗~✓"), ("d|d.r", 2, "✗!"), ("d|.d", 2, "✗~")] {
        assert_eq!(strip(calls, columns, ""), glyphs, "{calls} in {columns}, enforce");
    }
}
