//! What lies over the panes, a file each: what it shows, what is copied there.

mod body;
mod cases;
mod findings;
mod help;
mod hits;
mod loads;
mod palette;
mod problems;
mod reference;
mod suggest;
mod survey;
mod tester;
mod texts;
mod way_out;

use super::layout::shrink;
use super::list::List;
use super::model::cases::CasesView;
use super::model::hits::HitsView;
use super::model::overlay::{BodyView, FindingsView, HelpView, LoadsView, ProblemsView, ReferenceView};
use super::model::palette::PaletteView;
use super::model::suggest::{DraftView, SuggestView};
use super::model::survey::SurveyView;
use super::model::tester::TesterView;
use super::model::texts::TextsView;
use super::model::way_out::WayOutView;
use super::model::{Model, Overlay};
use super::rows::{Hint, Rows, Space};

/// What has a cursor and a scroll of its own.
pub trait Listed {
    /// Both of them.
    fn list(&self) -> List;

    /// The same, to change them.
    fn list_mut(&mut self) -> &mut List;
}

macro_rules! listed {
    ($($view:ident)+) => {$(impl Listed for $view {
        fn list(&self) -> List {
            self.list
        }

        fn list_mut(&mut self) -> &mut List {
            &mut self.list
        }
    })+};
}
listed!(
    BodyView CasesView DraftView FindingsView HelpView HitsView LoadsView PaletteView ProblemsView ReferenceView SuggestView SurveyView
    TesterView TextsView WayOutView
);

/// Rows in a frame of their own, over the panes.
pub trait Window: Rows + Listed {
    /// What is on the upper edge, in an area of this width.
    fn title(&self, model: &Model, width: usize) -> String;

    /// What is at its end.
    fn note(&self, model: &Model) -> String;

    /// Rows of the screen that each row takes at least.
    fn tall(&self) -> usize {
        1
    }

    /// Rows of the screen that one of them takes.
    fn height(&self, _model: &Model, _at: usize, _space: &Space<'_>) -> usize {
        self.tall()
    }

    /// Columns by which it is scrolled sideways at a time, from where it is.
    fn stride(&self, model: &Model) -> usize {
        model.overlay_space(self.list()).width / 2
    }

    /// The keys most wanted in it.
    fn hints(&self) -> &'static [Hint];

    /// The words that every row shown contains, where rows are sifted instead of searched.
    fn filter(&self) -> Option<&str> {
        None
    }

    /// What is wrong with the filter that is typed, if the rows could not be sifted by it.
    fn refused(&self) -> Option<&str> {
        None
    }

    /// Keeps the rows that contain these words.
    fn sift(&mut self, _model: &Model, _words: String) {}
}

impl Overlay {
    /// What is seen of it.
    pub fn window(&self) -> &dyn Window {
        match self {
            Self::Body(view) => &**view,
            Self::Findings(view) => view,
            Self::Help(view) => view,
            Self::Problems(view) => view,
            Self::Loads(view) => view,
            Self::Hits(view) => &**view,
            Self::Texts(view) => &**view,
            Self::Palette(view) => view,
            Self::Survey(view) => view,
            Self::Cases(view) => view,
            Self::WayOut(view) => view,
            Self::Suggest(view) => &**view,
            Self::Tester(view) => &**view,
            Self::Reference(view) => view,
            Self::Draft(view) => &**view,
        }
    }

    /// The same, to change it.
    pub fn window_mut(&mut self) -> &mut dyn Window {
        match self {
            Self::Body(view) => &mut **view,
            Self::Findings(view) => view,
            Self::Help(view) => view,
            Self::Problems(view) => view,
            Self::Loads(view) => view,
            Self::Hits(view) => &mut **view,
            Self::Texts(view) => &mut **view,
            Self::Palette(view) => view,
            Self::Survey(view) => view,
            Self::Cases(view) => view,
            Self::WayOut(view) => view,
            Self::Suggest(view) => &mut **view,
            Self::Tester(view) => &mut **view,
            Self::Reference(view) => view,
            Self::Draft(view) => &mut **view,
        }
    }

    /// Cursor and scroll.
    pub fn list(&self) -> List {
        self.window().list()
    }
}

impl Model {
    /// The room for the rows of an overlay.
    pub fn overlay_space(&self, list: List) -> Space<'_> {
        let inner = shrink(self.layout().overlay);
        let (width, height) = (usize::from(inner.width), usize::from(inner.height));
        Space::new(list, width, height, self.dialog.out(), self.dialog.query.as_deref())
    }
}
