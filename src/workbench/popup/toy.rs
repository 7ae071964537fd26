//! A toy popup: the calls of the open session, filtered by their tools. It is used by the test below, and shows the
//! parts of a popup.

use super::spec::{Asks, Popup, acts};
use crate::compare::ChangePlace;
use crate::workbench::effect::{Effect, Job};
use crate::workbench::keys::Command;
use crate::workbench::layout::Pane;
use crate::workbench::line::place;
use crate::workbench::list::List;
use crate::workbench::model::Model;
use crate::workbench::paint::Row;
use crate::workbench::rows::{Hint, Rows, Space, hints};
use crate::workbench::theme::Role;
use crate::workbench::update::{go, jump};
use rulestep_base::session::Call;

/// The popup.
#[derive(Default)]
pub(super) struct ToyView {
    pub list: List,
    filter: String,
    asked: bool,
    longest: Option<usize>,
    renewed: usize,
}

impl ToyView {
    fn calls<'m>(&self, model: &'m Model) -> Vec<&'m Call> {
        let calls = model.session().map(|session| session.calls.as_slice()).unwrap_or_default();
        calls.iter().filter(|call| call.tool.contains(&self.filter)).collect()
    }
}

impl Rows for ToyView {
    fn len(&self, model: &Model) -> usize {
        self.calls(model).len()
    }

    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>> {
        let mut row = space.row(model);
        if let Some(call) = self.calls(model).get(at) {
            row.gap(1).put(Role::Text, &call.tool).gap(2).put(Role::TextDim, &place(call.at));
        }
        vec![row]
    }

    fn text(&self, model: &Model, at: usize) -> Option<String> {
        self.calls(model).get(at).map(|call| call.tool.to_string())
    }

    fn instead(&self, _: &Model) -> Vec<(Role, String)> {
        vec![(Role::TextDim, "no tool has this name".to_owned())]
    }
}

impl Popup for ToyView {
    fn title(&self, _: &Model, _: usize) -> String {
        "Toy".to_owned()
    }

    fn note(&self, model: &Model) -> String {
        format!("{}, longest {}", self.len(model), self.longest.unwrap_or_default())
    }

    fn hints(&self) -> &'static [Hint] {
        hints![Open "go to the call", Search "filter", Quit "close"]
    }

    acts![Open Do(enter), Redraw Choose(|_| Some(Command::Help))];

    fn asks(&self) -> Option<Asks> {
        (!self.asked).then_some(ask as Asks)
    }

    fn renew(&mut self, _: &Model) {
        self.renewed += 1;
    }

    fn filter(&self) -> Option<&str> {
        Some(&self.filter)
    }

    fn sift(&mut self, _: &Model, words: String) {
        self.filter = words;
    }
}

/// Searches for the longest name of a tool on another thread.
fn ask(model: &mut Model, effects: &mut Vec<Effect>) {
    let (number, session) = (model.work.next_number(), model.session().cloned());
    let Some(view) = model.dialog.top_mut::<ToyView>() else { return };
    view.asked = true;
    effects.push(Effect::Job(Job::new(number, "looking for the longest name", move |_| {
        let longest = session?.calls.iter().map(|call| call.tool.len()).max();
        Some(Box::new(move |model| {
            model.dialog.views_mut().for_each(|view: &mut ToyView| view.longest = longest)
        }))
    })));
}

fn enter(model: &mut Model) {
    let Some(view) = model.dialog.take::<ToyView>() else { return };
    let Some(at) = view.calls(model).get(view.list.cursor).map(|call| call.at) else { return };
    jump::to(model, model.place.open, Ok(ChangePlace::Call(at)));
    go::focus(model, Pane::Transcript);
}

mod tests {
    use super::*;
    use crate::workbench::testing::*;
    use crate::workbench::update::overlays;

    /// Its key would do this.
    fn open(width: u16, height: u16) -> Model {
        let mut model = opened(width, height, "mono", vec![refunds(), clean()]);
        model.dialog.open(ToyView::default());
        model
    }

    fn view(model: &Model) -> &ToyView {
        model.dialog.top().unwrap_or_else(|| panic!("{}", screen(model)))
    }

    /// Code that does not know it draws, moves in, filters, copies, updates and closes it.
    #[test]
    fn a_popup_is_one_file_and_its_row() {
        for (width, height) in [(120, 40), (80, 24), (40, 8)] {
            let mut model = open(width, height);
            assert!(press(&mut model, "j").is_empty(), "what it asks for is done by whoever does all work");
            assert!(matches!(press(&mut model, "yy").as_slice(),
                [Effect::Copy { text, .. }] if text == "issue_refund"));
            let seen = screen(&model);
            assert!(seen.contains(" Toy ") && seen.contains("check_eligibility  T1.1"), "{seen}");
            assert!(seen.contains("3, longest 17"), "{seen}");
            assert!(width < 70 || seen.contains("go to the call"), "{seen}");
            overlays::renew(&mut model);
            assert_eq!((view(&model).list.cursor, view(&model).renewed), (1, 1));

            press(&mut model, "?");
            assert!(screen(&model).contains("Help"), "{}", screen(&model));
            press(&mut model, "q Ctrl-l");
            assert!(screen(&model).contains("Help"), "a key of its own chooses another command");
            press(&mut model, "q /");
            typed(&mut model, "nothing");
            assert!(screen(&model).contains("no tool has this name"), "{}", screen(&model));
            press(&mut model, "Ctrl-u");
            typed(&mut model, "issue");
            press(&mut model, "Enter");
            assert_eq!((view(&model).len(&model), view(&model).list.cursor), (2, 0));
            press(&mut model, "Enter");
            assert!(model.dialog.overlays.is_empty() && model.place.focus == Pane::Transcript);
            assert_eq!(model.call().map(|call| &*call.tool), Some("issue_refund"));

            model.dialog.open(ToyView::default());
            press(&mut model, "Esc");
            assert!(model.dialog.overlays.is_empty());
        }
    }
}
