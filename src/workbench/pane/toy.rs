//! A toy pane: the calls of the session, tool by tool. It is used by the tests below, and shows the parts of a pane.

use super::spec::{Enter, OF_LINES, PaneSpec};
use crate::workbench::line::{Line, place};
use crate::workbench::model::Model;
use crate::workbench::theme::Role;

/// The pane.
pub(super) const SPEC: PaneSpec = PaneSpec {
    title: "Toy",
    short: "Toy",
    note: |model| model.derived.called.len().to_string(),
    lines: |model, _| Some(lines(model)),
    enter: Enter::Call,
    ..OF_LINES
};

fn lines(model: &Model) -> Vec<Line> {
    let calls = model.session().map(|session| session.calls.as_slice()).unwrap_or_default();
    let line = |call: &rulestep_base::session::Call| {
        Line::new().text(Role::Text, &*call.tool).right(Role::TextDim, place(call.at)).call(call.at)
    };
    calls.iter().map(line).collect()
}

mod tests {
    use ratatui::layout::Size;

    use crate::workbench::effect::Effect;
    use crate::workbench::layout::Pane;
    use crate::workbench::message::Msg;
    use crate::workbench::model::Model;
    use crate::workbench::testing::*;

    /// Its key would do this.
    fn open(width: u16, height: u16) -> Model {
        let mut model = opened(width, height, "mono", vec![refunds(), clean()]);
        (model.place.focus, model.place.side) = (Pane::Toy, Pane::Toy);
        feed(&mut model, Msg::Resize(Size::new(width, height)));
        model
    }

    fn note(model: &Model) -> &str {
        model.dialog.note.as_ref().map_or("", |note| &note.text)
    }

    /// Code that does not know it draws, moves in, searches, copies and follows it.
    #[test]
    fn a_pane_is_one_file_and_its_row() {
        for (width, height) in [(120, 40), (80, 24), (58, 14), (40, 8)] {
            let mut model = open(width, height);
            let seen = screen(&model);
            assert!(seen.contains("check_eligibility") && seen.contains("T2.2"), "{seen}");
            assert!(width < 70 || seen.contains("9 Toy") && seen.contains(" 2 "), "{seen}");
            assert!(seen.contains("j/k row"), "{seen}");

            press(&mut model, "j");
            assert!(matches!(press(&mut model, "yy").as_slice(),
                [Effect::Copy { text, .. }] if text == "issue_refund T2.1"));
            press(&mut model, "gg /");
            typed(&mut model, "t2.2");
            press(&mut model, "Enter");
            assert_eq!((model.list(Pane::Toy).cursor, note(&model)), (2, "1 of 1"));
            press(&mut model, "l");
            assert_eq!(note(&model), "nothing is cut here");

            press(&mut model, "Enter");
            let at = |model: &Model| model.call().map(|call| call.at.index);
            assert_eq!(at(&model), Some(2));
            assert_eq!(model.list(Pane::Toy).cursor, 0, "another call, other lines");
            press(&mut model, "o");
            assert_eq!(at(&model), Some(0));
            press(&mut model, "}");
            assert!(screen(&model).contains("lookup_order"), "{}", screen(&model));
            press(&mut model, "Tab 6 q");
        }
    }

    #[test]
    fn its_lines_are_those_of_the_state_and_the_width() {
        let mut model = open(40, 8);
        let built = |model: &Model| model.built(Pane::Toy).map(Vec::len);
        assert_eq!(built(&model), Some(3));
        press(&mut model, "2");
        assert_eq!(screen(&model).matches("Toy").count(), 0);
        let mut narrow = open(40, 8);
        feed(&mut narrow, Msg::Resize(Size::new(39, 5)));
        assert_eq!(built(&narrow), None, "nothing is built that nobody sees");
    }
}
