//! A toy format: each line is a call of one session, with its result. It is used by the test below, and shows the parts
//! of a format.

use crate::contract::out::Out;
use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Unit};
use crate::input::shallow::Node;
use rulestep_base::session::Body;
use rulestep_base::session::build::{Builder, Mark};

/// The row of the table of formats.
pub(crate) const FORMAT: Format = Format {
    name: "toy",
    title: "calls of a toy",
    source: "a line each",
    absent_without_results: false,
    marks_failures: true,
    recognise: |sample| sample.objects().any(|line| line.has("toy")),
    reader: |setting| Box::new(Toy { setting: setting.clone(), open: None }),
};

struct Toy {
    setting: Setting,
    open: Option<Builder>,
}

impl Reader for Toy {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let Some(tool) = unit.members.get("toy").and_then(Node::text) else {
            return out.diagnostics(self.setting.foreign(unit, "no call of a toy"));
        };
        let builder = self.open.get_or_insert_with(|| self.setting.session("", unit, out));
        let body = |key| unit.members.get(key).map_or(Body::MISSING, |node| Body::json(node.json()));
        builder.at_line(unit.line).response(None, Body::MISSING, None);
        builder.call(None, &tool, body("with"), None);
        builder.result(None, body("gave"), Mark::default(), None);
    }

    fn end(&mut self, out: &mut Out) {
        self.open.take().into_iter().for_each(|builder| out.session(builder));
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use serde_json::json;

    use crate::{Options, named, open};
    use rulestep_base::diagnostic::code;

    /// This file, a `mod` and a row are the whole format: it is recognised among the others, found by its name, and
    /// reports what it cannot read.
    #[test]
    fn a_format_is_one_file_and_its_row() {
        let file = b"{\"toy\": \"deploy\", \"with\": {\"to\": \"live\"}, \"gave\": \"done\"}\n{\"else\": 1}\n{\"toy\": \"check\"}\n";
        for format in [None, named("toy")] {
            let options = Options { format, ..Options::default() };
            let mut reading = open("deploy.jsonl", Box::new(Cursor::new(file)), &options).unwrap();
            assert_eq!(reading.format(), "toy");
            let sessions: Vec<_> = reading.by_ref().collect();
            let [session] = &sessions[..] else { panic!("{sessions:?}") };
            let tools: Vec<_> = session.calls.iter().map(|call| (&*call.tool, call.at.turn)).collect();
            assert_eq!(tools, [("deploy", 1), ("check", 2)]);
            assert_eq!(session.calls[0].arguments.value(), Some(&json!({"to": "live"})));
            assert_eq!(session.calls[0].output.shown(), "done");
            let told: Vec<_> = reading.diagnostics().iter().map(|told| (told.code, told.severity)).collect();
            assert!(told.iter().any(|(code, _)| *code == code::DAMAGED_LINE), "{told:?}");
        }
    }
}
