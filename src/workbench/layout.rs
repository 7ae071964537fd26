//! The layout of the screen: a pure function of the terminal's size and of what is open.
//!
//! Position, verdict counts and the line about a policy that does not load have a place at every size.

use ratatui::layout::{Rect, Size};

/// A pane, in the order of its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pane {
    /// The sessions, with their counts.
    Sessions,
    /// The messages and calls of the open session.
    Transcript,
    /// The visible and hidden tools at the selected turn.
    Tools,
    /// The tools that earlier calls forbade.
    Forbidden,
    /// The preconditions of tools.
    Preconditions,
    /// The decision about the selected call, and its reason.
    Decision,
    /// The text of the rule that decided.
    Policy,
    /// The changes of the last edit.
    Changes,
    /// A pane that shows what a pane consists of.
    #[cfg(test)]
    Toy,
}

/// How much fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Everything at once.
    Wide,
    /// The transcript and one other pane.
    Medium,
    /// One pane, without a frame.
    Narrow,
    /// Only a line that says what size is needed.
    TooSmall,
}

/// What the layout depends on besides the size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayoutState {
    /// The pane that has the keys.
    pub focus: Pane,
    /// The pane beside the transcript if only one fits there.
    pub side: Pane,
    /// The focused pane takes the others' room.
    pub zoom: bool,
    /// There is something to say about the policy that must stay in sight.
    pub problem: bool,
    /// The policy was edited, so there is something to see of what that changed.
    pub changes: bool,
    /// An unwritten rule is under the cursor, so its preview has something to show.
    pub preview: bool,
}

/// Rectangles inside the terminal that do not overlap, except overlays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// How much fits.
    pub shape: Shape,
    /// Position, mode and verdict counts.
    pub header: Rect,
    /// The numbers of all panes, where not all are seen.
    pub tabs: Option<Rect>,
    /// Panes on screen.
    pub panes: Vec<(Pane, Rect)>,
    /// The body of the selected row, if there is room to read it beside the transcript.
    pub body: Option<Rect>,
    /// The strip with a place for every call.
    pub timeline: Option<Rect>,
    /// The problem of the policy.
    pub problem: Option<Rect>,
    /// Keys.
    pub footer: Option<Rect>,
    /// The area of overlays: over the panes, never over the lines above and below.
    pub overlay: Rect,
    /// The preview of a rule's effect, below the overlay with the rule.
    pub preview: Option<Rect>,
}

/// Least size of each shape, in columns and rows.
pub const WIDE: Size = Size { width: 110, height: 30 };
/// See [`WIDE`].
pub const MEDIUM: Size = Size { width: 70, height: 18 };
/// See [`WIDE`].
pub const NARROW: Size = Size { width: 40, height: 8 };

/// From this size on the body of the selected row is beside the transcript, and the list of sessions has room for whole
/// ids.
const LARGE: Size = Size { width: 180, height: 45 };
/// Columns of the list of sessions then: an id of 36 columns with its counts.
const WHOLE_ID: u16 = 49;

/// From this many rows on there is room for a second pane beside the transcript.
const TALL: u16 = 28;

/// From this height on a narrow screen has a row to spare for the timeline.
const NARROW_TIMELINE: u16 = 12;

impl Pane {
    /// Every pane, in the order of its number.
    pub const ALL: [Self; 8] = [
        Self::Sessions,
        Self::Transcript,
        Self::Tools,
        Self::Forbidden,
        Self::Preconditions,
        Self::Decision,
        Self::Policy,
        Self::Changes,
    ];

    /// The number of panes.
    pub const COUNT: usize = Self::ALL.len() + cfg!(test) as usize;

    /// The key that goes there.
    pub const fn number(self) -> u8 {
        self as u8 + 1
    }

    /// The pane `by` places further, around the end.
    pub fn step(self, by: isize) -> Self {
        let at = (self as isize + by).rem_euclid(Self::ALL.len() as isize);
        Self::ALL.into_iter().find(|pane| *pane as isize == at).unwrap_or(self)
    }
}

impl Layout {
    /// The area of this pane, if it is on screen.
    pub fn pane(&self, pane: Pane) -> Option<Rect> {
        self.panes.iter().find(|(known, _)| *known == pane).map(|(_, rect)| *rect)
    }

    /// Columns that a pane has for its rows; 0 if it is not on screen.
    pub fn width(&self, pane: Pane) -> usize {
        self.inner(pane).map_or(0, |inner| usize::from(inner.width))
    }

    /// Whether panes have frames.
    pub fn framed(&self) -> bool {
        matches!(self.shape, Shape::Wide | Shape::Medium)
    }

    /// The part of this pane that holds rows.
    pub fn inner(&self, pane: Pane) -> Option<Rect> {
        self.pane(pane).map(|rect| if self.framed() { shrink(rect) } else { rect })
    }
}

/// The shape that fits into `size`.
pub fn shape(size: Size) -> Shape {
    if fits(size, WIDE) {
        Shape::Wide
    } else if fits(size, MEDIUM) {
        Shape::Medium
    } else if fits(size, NARROW) {
        Shape::Narrow
    } else {
        Shape::TooSmall
    }
}

fn fits(size: Size, least: Size) -> bool {
    size.width >= least.width && size.height >= least.height
}

/// The layout on a terminal of `size`.
pub fn layout(size: Size, state: &LayoutState) -> Layout {
    let mut rest = Rect::new(0, 0, size.width, size.height);
    let shape = shape(size);
    let header = take_top(&mut rest, 1);
    let mut made = Layout {
        shape,
        header,
        tabs: None,
        panes: Vec::new(),
        body: None,
        timeline: None,
        problem: None,
        footer: None,
        overlay: rest,
        preview: None,
    };
    if shape == Shape::TooSmall {
        // The remaining rows are for the position first, then for the problem.
        made.footer = row(take_top(&mut rest, 1));
        made.problem = row(take_top(&mut rest, u16::from(state.problem)));
        made.overlay = Rect::default();
        return made;
    }
    made.footer = row(take_bottom(&mut rest, 1));
    made.problem = row(take_bottom(&mut rest, u16::from(state.problem)));
    if shape != Shape::Narrow || size.height >= NARROW_TIMELINE {
        made.timeline = row(take_bottom(&mut rest, 1));
    }
    made.overlay = rest;
    if state.preview && shape == Shape::Wide {
        made.preview = row(take_bottom(&mut made.overlay, share(rest.height, 33).clamp(8, 16)));
    }
    match shape {
        Shape::Wide if !state.zoom => wide(rest, state, fits(size, LARGE), &mut made),
        Shape::Medium if !state.zoom => medium(rest, state, &mut made),
        _ => {
            if shape != Shape::Wide {
                made.tabs = row(take_top(&mut rest, 1));
            }
            made.panes.push((state.focus, rest));
        }
    }
    made
}

/// A rectangle without its frame.
pub fn shrink(rect: Rect) -> Rect {
    Rect {
        x: rect.x.saturating_add(rect.width.min(1)),
        y: rect.y.saturating_add(rect.height.min(1)),
        width: rect.width.saturating_sub(2),
        height: rect.height.saturating_sub(2),
    }
}

fn wide(mut rest: Rect, state: &LayoutState, large: bool, made: &mut Layout) {
    let height = rest.height;
    let (bottom, middle) = (share(height, 22).clamp(6, 14), share(height, 33).clamp(8, 16));
    let mut middle = take_bottom(&mut rest, bottom + middle);
    let width = rest.width;
    let sessions = if large { WHOLE_ID } else { share(width, 24).clamp(26, 44) };
    made.panes.push((Pane::Sessions, take_left(&mut rest, sessions)));
    if large {
        let transcript = share(rest.width, 58);
        made.panes.push((Pane::Transcript, take_left(&mut rest, transcript)));
        made.body = row(rest);
    } else {
        made.panes.push((Pane::Transcript, rest));
    }
    // The decision is what is read most: it has the height of both rows.
    let mut left = take_left(&mut middle, share(width, 68));
    made.panes.push((Pane::Decision, middle));
    let mut below = take_bottom(&mut left, bottom);
    // Before any edit the rule has the whole width.
    let second = match state.focus {
        focus if made.pane(focus).is_some() => None,
        Pane::Tools | Pane::Forbidden | Pane::Preconditions | Pane::Policy => None,
        // A pane without a place of its own is shown in place of the changes.
        focus => Some(focus),
    };
    if let Some(second) = second.or(state.changes.then_some(Pane::Changes)) {
        let policy = share(below.width, 52);
        made.panes.push((Pane::Policy, take_left(&mut below, policy)));
        made.panes.push((second, below));
    } else {
        made.panes.push((Pane::Policy, below));
    }
    for (pane, percent) in [(Pane::Tools, 23), (Pane::Forbidden, 20)] {
        made.panes.push((pane, take_left(&mut left, share(width, percent))));
    }
    made.panes.push((Pane::Preconditions, left));
}

fn medium(mut rest: Rect, state: &LayoutState, made: &mut Layout) {
    let width = rest.width;
    made.panes.push((Pane::Transcript, take_left(&mut rest, share(width, 54))));
    made.tabs = row(take_top(&mut rest, 1));
    let side = if state.side == Pane::Transcript { Pane::Decision } else { state.side };
    if rest.height >= TALL {
        let below = share(rest.height, 40);
        made.panes.push((beside(side), take_bottom(&mut rest, below)));
    }
    made.panes.push((side, rest));
}

/// The pane that is shown together with another one if there is room for one more: the rule with the decision, else the
/// decision.
fn beside(side: Pane) -> Pane {
    match side {
        Pane::Tools | Pane::Forbidden | Pane::Preconditions | Pane::Decision => Pane::Policy,
        _ => Pane::Decision,
    }
}

fn share(whole: u16, percent: u16) -> u16 {
    u16::try_from(u32::from(whole) * u32::from(percent) / 100).unwrap_or(whole)
}

fn row(rect: Rect) -> Option<Rect> {
    (rect.height > 0 && rect.width > 0).then_some(rect)
}

fn take_top(rest: &mut Rect, height: u16) -> Rect {
    let height = height.min(rest.height);
    let taken = Rect { height, ..*rest };
    rest.y += height;
    rest.height -= height;
    taken
}

fn take_bottom(rest: &mut Rect, height: u16) -> Rect {
    let height = height.min(rest.height);
    rest.height -= height;
    Rect { y: rest.y + rest.height, height, ..*rest }
}

fn take_left(rest: &mut Rect, width: u16) -> Rect {
    let width = width.min(rest.width);
    let taken = Rect { width, ..*rest };
    rest.x += width;
    rest.width -= width;
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states() -> impl Iterator<Item = LayoutState> {
        Pane::ALL.into_iter().flat_map(|focus| {
            [(false, false), (true, false), (false, true), (true, true)].map(move |(zoom, problem)| {
                let side = if focus == Pane::Transcript { Pane::Decision } else { focus };
                LayoutState { focus, side, zoom, problem, changes: problem, preview: problem }
            })
        })
    }

    fn everything(layout: &Layout) -> Vec<Rect> {
        let lines =
            [Some(layout.header), layout.tabs, layout.timeline, layout.problem, layout.footer, layout.body];
        let panes = layout.panes.iter().map(|(_, rect)| *rect);
        lines.into_iter().flatten().chain(panes).filter(|rect| !rect.is_empty()).collect()
    }

    #[test]
    fn at_every_size_all_is_inside_and_nothing_overlaps() {
        for width in 0..=250 {
            for height in 0..=80 {
                let size = Size::new(width, height);
                let screen = Rect::new(0, 0, width, height);
                for state in states() {
                    let layout = layout(size, &state);
                    let rects = everything(&layout);
                    for (at, one) in rects.iter().enumerate() {
                        assert_eq!(one.intersection(screen), *one, "{size:?} {state:?}");
                        for other in &rects[at + 1..] {
                            assert!(!one.intersects(*other), "{size:?} {state:?} {one:?} {other:?}");
                        }
                    }
                    let lines = [layout.problem, layout.footer].into_iter().flatten();
                    for line in lines.chain([layout.header]).chain(layout.preview) {
                        assert!(!layout.overlay.intersects(line));
                    }
                }
            }
        }
    }

    #[test]
    fn what_must_be_seen_is_seen() {
        for width in 1..=250 {
            for height in 1..=80 {
                let size = Size::new(width, height);
                for state in states() {
                    let layout = layout(size, &state);
                    assert_eq!(layout.header.height, 1);
                    if layout.shape == Shape::TooSmall {
                        assert!(layout.footer.is_some() || height < 2);
                        assert!(!state.problem || layout.problem.is_some() || height < 3);
                        continue;
                    }
                    assert_eq!(layout.problem.is_some(), state.problem);
                    assert!(layout.footer.is_some());
                    let focused = layout.pane(state.focus).expect("the focused pane is on screen");
                    assert!(focused.width >= 20 && focused.height >= 4, "{size:?} {state:?} {focused:?}");
                }
            }
        }
    }

    #[test]
    fn wide_covers_the_screen_and_shows_every_pane() {
        for size in [WIDE, Size::new(120, 40), Size::new(200, 60)] {
            let (focus, side) = (Pane::Transcript, Pane::Decision);
            let state =
                LayoutState { focus, side, zoom: false, problem: true, changes: true, preview: false };
            let layout = layout(size, &state);
            assert!(Pane::ALL.iter().all(|pane| layout.pane(*pane).is_some()));
            let area: u32 = everything(&layout).iter().map(|rect| rect.area()).sum();
            assert_eq!(area, u32::from(size.width) * u32::from(size.height));
        }
    }

    #[test]
    fn panes_go_around() {
        assert_eq!(Pane::Changes.step(1), Pane::Sessions);
        assert_eq!(Pane::Sessions.step(-1), Pane::Changes);
    }
}
