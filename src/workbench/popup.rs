//! The overlays, a file each: state, content, keys.
//!
//! A popup is its file and its row of `POPUPS`. Drawing, moving, search, the mouse, copying, closing and help use it
//! through [`Popup`].

pub mod body;
pub mod cases;
pub mod findings;
pub mod help;
pub mod hits;
pub mod loads;
pub mod palette;
pub mod problems;
pub mod reference;
mod spec;
pub mod suggest;
pub mod survey;
pub mod tester;
pub mod texts;
#[cfg(test)]
mod toy;
pub mod way_out;

use super::layout::shrink;
use super::list::{List, Listed};
use super::model::overlay::{BodyView, Dialog, Overlay};
use super::model::{Model, cases::CasesView, hits::HitsView, suggest as rules, survey::SurveyView};
use super::model::{tester::TesterView, texts::TextsView};
use super::rows::Space;

use self::spec::PopupSpec;
pub use self::spec::{Act, Asks, Popup, Preview};

/// A row a popup: its state, which has a field `list`.
macro_rules! popups {
    ($($(#[$when:meta])* $view:ty;)+) => {
        $($(#[$when])* impl Listed for $view {
            fn list(&self) -> List {
                self.list
            }

            fn list_mut(&mut self) -> &mut List {
                &mut self.list
            }
        })+

        /// The popups. No other state can be opened.
        const POPUPS: &[PopupSpec] = &[$($(#[$when])* PopupSpec::of::<$view>()),+];
    };
}
popups! {
    BodyView;
    CasesView;
    findings::FindingsView;
    help::HelpView;
    HitsView;
    loads::LoadsView;
    palette::PaletteView;
    problems::ProblemsView;
    reference::ReferenceView;
    rules::DraftView;
    rules::SuggestView;
    SurveyView;
    TesterView;
    TextsView;
    #[cfg(test)]
    toy::ToyView;
    way_out::WayOutView;
}

impl Overlay {
    /// The popup that it is.
    pub fn popup(&self) -> Option<&dyn Popup> {
        POPUPS.iter().find_map(|spec| (spec.seen)(&*self.0))
    }

    /// The same, to change it.
    pub fn popup_mut(&mut self) -> Option<&mut dyn Popup> {
        let spec = POPUPS.iter().find(|spec| (spec.seen)(&*self.0).is_some())?;
        (spec.changed)(&mut *self.0)
    }
}

impl Dialog {
    /// The topmost popup.
    pub fn popup(&self) -> Option<&dyn Popup> {
        self.overlays.last()?.popup()
    }

    /// The same, to change it.
    pub fn popup_mut(&mut self) -> Option<&mut dyn Popup> {
        self.overlays.last_mut()?.popup_mut()
    }
}

impl Model {
    /// The topmost overlay except lists of commands, which are about the one below them.
    pub fn beneath(&self) -> Option<&dyn Popup> {
        let open = self.dialog.overlays.iter().rev();
        open.filter_map(Overlay::popup).find(|popup| !popup.lists_commands())
    }

    /// The room for the rows of an overlay.
    pub fn overlay_space(&self, list: List) -> Space<'_> {
        let inner = shrink(self.layout().overlay);
        let (width, height) = (usize::from(inner.width), usize::from(inner.height));
        Space::new(list, width, height, self.dialog.out(), self.dialog.query.as_deref())
    }
}
