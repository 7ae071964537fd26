//! Changes the model for a message: no I/O, no clock. Effects outside are returned.

pub(super) mod asking;
pub(super) mod cite;
pub(super) mod compare;
pub(super) mod copy;
pub(super) mod count;
pub(super) mod derive;
pub(super) mod enter;
pub(super) mod export;
pub(super) mod frames;
pub(super) mod go;
pub(super) mod judge;
pub(super) mod jump;
pub(super) mod live;
pub(super) mod load;
pub(super) mod marks;
pub(super) mod mouse;
pub(super) mod overlays;
pub(super) mod paste;
pub(super) mod prompt;
pub(super) mod recordings;
pub(super) mod restore;
pub(super) mod save;
pub(super) mod search;
pub(super) mod sideways;
pub(super) mod suppose;
pub(super) mod table;
pub(super) mod values;
pub(super) mod welcome;
pub(super) mod witness;

use super::effect::Effect;
use super::keys::{self, Command, Key, Meaning};
use super::layout::Pane;
use super::list::Go;
use super::message::Msg;
use super::model::survey::Tab;
use super::model::{Model, Note, Welcome};
use super::popup::{body, cases, findings, help, hits, loads, palette, problems, reference};
use super::popup::{suggest::acts as suggest, survey, tester, texts, way_out};
use crate::report::words;
use rulestep_engine::run::Mode;

/// Changes the model and returns the effects.
pub fn update(model: &mut Model, msg: Msg) -> Vec<Effect> {
    update_all(model, std::iter::once(msg))
}

/// The same for several messages without drawing between them: derived state is computed once.
pub fn update_all(model: &mut Model, messages: impl Iterator<Item = Msg>) -> Vec<Effect> {
    #[cfg(debug_assertions)]
    let _closed = rulestep_engine::run::closed::Closed::begin();
    let mut effects = Vec::new();
    messages.for_each(|message| take(model, message, &mut effects));
    restore::go_back(model);
    welcome::begin(model);
    judge::again(model, &mut effects);
    if std::mem::take(&mut model.work.outdated) {
        effects.push(Effect::LoadSessions);
    }
    suppose::ask(model, &mut effects);
    if model.table_is_due() {
        model.arrange();
        table::keep(model);
    }
    overlays::ask(model, &mut effects);
    derive::derive(model);
    frames::ask(model, &mut effects);
    effects
}

/// Takes in a message.
fn take(model: &mut Model, message: Msg, effects: &mut Vec<Effect>) {
    match message {
        Msg::Key(key) => pressed(model, key, effects),
        Msg::Mouse(mouse) => {
            if let Some(command) = mouse::moved(model, mouse) {
                run(model, command, effects);
            }
        }
        Msg::Paste(text) => paste::pasted(model, &text),
        Msg::Typed(text) => {
            for (at, c) in text.char_indices() {
                let key = Key::char(c);
                // A typed key goes into the prompt as it is, except the one that changes the order.
                if model.dialog.prompt.is_some() && !table::turns_order(model, key) {
                    paste::typed(model, text.get(at..).unwrap_or_default());
                    break;
                }
                effects.extend(update(model, Msg::Key(key)));
            }
        }
        Msg::Resize(size) => model.size = size,
        Msg::ChordWaits => {
            model.dialog.which_key = !model.dialog.pending.is_empty();
            // After a while a digit was the number of a pane.
            model.dialog.count = model.dialog.count.filter(|count| !count.is_pane());
        }
        Msg::Policy { loaded, at } => load::policy(model, *loaded, at, effects),
        Msg::Base { name, read } => compare::read(model, name, read, effects),
        Msg::Watch(told) => live::told(model, told, effects),
        Msg::Recordings(event) => recordings::told(model, event, effects),
        Msg::Judged { generation, sessions } => load::judged(model, generation, sessions),
        Msg::Compared { generation, sessions } => load::compared(model, generation, sessions),
        Msg::Supposed { number, answer } => suppose::judged(model, number, answer),
        Msg::Witness { number, found } => witness::found(model, number, found),
        Msg::Frames { number, made } => frames::arrived(model, number, made),
        Msg::Hidden { number, turn } => frames::found(model, number, turn),
        Msg::Survey { number, counted, survey, findings } => {
            survey::arrived(model, number, (counted, survey), findings);
        }
        Msg::Answer(answer) => answer(model),
        Msg::Written { write, undo } => suggest::written(model, *write, undo, effects),
        Msg::Cases { number, cases } => cases::arrived(model, number, *cases),
        Msg::Composed { ask, text } => asking::composed(model, ask, &text, effects),
        Msg::Found { number, searched, hits } => hits::found(model, number, searched, hits),
        Msg::Taken { file } => save::taken(model, &file, effects),
        Msg::Unrestored { id, error } => drop(model.unrestored(&id, &error)),
        Msg::Note { failed, text } => model.dialog.note = Some(Note { failed, text }),
        Msg::End => effects.push(Effect::Quit),
    }
}

fn pressed(model: &mut Model, key: Key, effects: &mut Vec<Effect>) {
    model.dialog.note = None;
    // A user who goes somewhere is not moved elsewhere.
    (model.preferences.restore, model.preferences.welcome) = (None, Welcome::Over);
    match &model.dialog.prompt {
        Some(prompt) if prompt.ask.is_some() => return asking::key(model, key, effects),
        Some(_) if palette::is_open(model) => {
            match palette::key(model, key, effects) {
                Some((command, None)) => run(model, command, effects),
                Some((command, Some(value))) => {
                    if let Err(why) = values::run(model, command, &value, effects) {
                        palette::open_again(model, &format!("{} {value}", command.row().name), why);
                    }
                }
                None => {}
            }
            return;
        }
        Some(_) => return search::key(model, key, effects),
        None => {}
    }
    let digit = model.dialog.pending.is_empty() && count::is_digit(key);
    if digit {
        count::digit(model, key);
    }
    model.dialog.pending.push(key);
    let scope = model.scope_of_keys();
    match model.preferences.keymap.meaning(&model.dialog.pending, scope) {
        Meaning::Command(command) => {
            forget_chord(model);
            model.dialog.leaving &= matches!(command, Command::Quit | Command::Palette);
            match if digit { None } else { count::take(model, command) } {
                Some(times) => repeat(model, command, times, effects),
                None => run(model, command, effects),
            }
        }
        Meaning::Letter(command, letter) => {
            forget_chord(model);
            model.dialog.count = None;
            run_with(model, command, &letter.to_string(), effects);
        }
        Meaning::Prefix(_) => {}
        // A digit of a count that is no pane's number.
        Meaning::Nothing if digit => forget_chord(model),
        Meaning::Nothing => {
            model.dialog.count = None;
            if key.code != crossterm::event::KeyCode::Esc {
                let chord = keys::chord::spell(&model.dialog.pending);
                model.say(format!(
                    "`{chord}` has no function here; {} lists the keys",
                    model.key(Command::Help)
                ));
            }
            forget_chord(model);
        }
    }
}

/// Runs a command the requested number of times, or until it gets no farther.
fn repeat(model: &mut Model, command: Command, times: u32, effects: &mut Vec<Effect>) {
    if count::at_once(model, command, times) {
        return;
    }
    for _ in 0..times {
        let before = count::position(model);
        run(model, command, effects);
        derive::derive(model);
        if count::position(model) == before {
            return;
        }
    }
}

/// Whether this is the first warning that what-ifs would be lost.
fn warned(model: &mut Model) -> bool {
    let entries = model.archive.entries.iter();
    let lost =
        entries.filter(|entry| entry.supposed.top().is_some_and(|layer| layer.is_hypothetical())).count();
    if lost == 0 || std::mem::replace(&mut model.dialog.leaving, true) {
        return false;
    }
    let sessions = words::count(lost as u64, "other session");
    let (quit, save) = (model.key(Command::Quit), model.key(Command::Save));
    let text =
        format!("what-ifs of {sessions} would be lost; {quit} again quits, {save} saves one as a case");
    model.say(text);
    true
}

fn forget_chord(model: &mut Model) {
    model.dialog.pending.clear();
    model.dialog.which_key = false;
}

/// Runs a command with its arguments; returns why they cannot be taken.
fn run_with(model: &mut Model, command: Command, value: &str, effects: &mut Vec<Effect>) {
    if let Some(missing) = (command.row().missing)(&model.facts()) {
        let missing = model.preferences.keymap.worded(missing).into_owned();
        return model.say(missing);
    }
    if let Err(why) = values::run(model, command, value, effects) {
        model.fail(why);
    }
}

/// Runs a command, unless it cannot be used just now: then it says why.
pub(super) fn run(model: &mut Model, command: Command, effects: &mut Vec<Effect>) {
    if let Some(missing) = (command.row().missing)(&model.facts()) {
        let missing = model.preferences.keymap.worded(missing).into_owned();
        return model.say(missing);
    }
    if let Some(act) = model.dialog.popup().and_then(|popup| popup.act(command)) {
        let chosen = act.run(model, effects);
        return chosen.into_iter().for_each(|chosen| run(model, chosen, effects));
    }
    use Command as C;
    match command {
        C::NextCall => go::next(model, 1),
        C::PreviousCall => go::next(model, -1),
        C::Down => go::rows(model, Go::By(1)),
        C::Up => go::rows(model, Go::By(-1)),
        C::Right => sideways::step(model, true),
        C::Left => sideways::step(model, false),
        C::First => go::rows(model, Go::First),
        C::Last => go::rows(model, Go::Last),
        C::HalfDown => go::rows(model, Go::Halves(1)),
        C::HalfUp => go::rows(model, Go::Halves(-1)),
        C::PageDown => go::rows(model, Go::Halves(2)),
        C::PageUp => go::rows(model, Go::Halves(-2)),
        C::NextTurn => go::turn(model, true),
        C::PreviousTurn => go::turn(model, false),
        C::NextSession => go::session(model, 1),
        C::PreviousSession => go::session(model, -1),
        C::NextFinding => jump::finding(model, true),
        C::PreviousFinding => jump::finding(model, false),
        C::NextReport => jump::report(model, true),
        C::PreviousReport => jump::report(model, false),
        C::NextSameRule => jump::same_rule(model, true),
        C::PreviousSameRule => jump::same_rule(model, false),
        C::NextChange => jump::next_change(model, true),
        C::PreviousChange => jump::next_change(model, false),
        C::NextDisagreement => jump::disagreement(model, true),
        C::PreviousDisagreement => jump::disagreement(model, false),
        C::NextError => jump::error(model, true),
        C::PreviousError => jump::error(model, false),
        C::NextHidden => frames::hidden(model, true, effects),
        C::PreviousHidden => frames::hidden(model, false, effects),
        C::NextStop => jump::stop(model, true),
        C::PreviousStop => jump::stop(model, false),
        C::Cause => jump::cause(model),
        C::Back => jump::back(model),
        C::Forward => jump::forward(model),
        C::Open => {
            if model.dialog.overlays.is_empty() {
                enter::open(model);
            }
        }
        C::Body => body::open(model),
        C::Findings => findings::open(model),
        C::FilterSessions => table::begin_filter(model),
        C::SortSessions => palette::open(model, "sort-sessions "),
        C::GroupSessions => table::group(model),
        C::FoldSessions if model.place.focus == Pane::Transcript => suggest::mark(model),
        C::FoldSessions if model.place.focus != Pane::Sessions => {
            model.say("nothing is folded or chosen in this pane");
        }
        C::FoldSessions => table::fold_all(model),
        C::Test => tester::open(model),
        C::Suggest => suggest::open(model, effects),
        C::UndoWrite => suggest::undo(model, effects),
        C::SearchSessions => hits::begin(model),
        C::Overview => survey::open(model, Tab::Rules),
        C::Inventory => survey::open(model, Tab::List(0)),
        C::Cases => cases::open(model),
        C::Reference => reference::open(model),
        C::Problems => problems::open(model),
        C::Help => help::open(model),
        C::Palette => palette::open(model, ""),
        // A key cannot give their argument.
        C::Theme | C::GoTo | C::SetMark | C::GoMark | C::Export => {
            palette::open(model, &format!("{} ", command.row().name))
        }
        C::Search => search::begin(model),
        C::SearchNext => search::again(model, true),
        C::SearchPrevious => search::again(model, false),
        C::NextPane => go::focus(model, model.place.focus.step(1)),
        C::PreviousPane => go::focus(model, model.place.focus.step(-1)),
        C::PaneSessions => go::focus(model, Pane::Sessions),
        C::PaneTranscript => go::focus(model, Pane::Transcript),
        C::PaneTools => go::focus(model, Pane::Tools),
        C::PaneForbidden => go::focus(model, Pane::Forbidden),
        C::PanePreconditions => go::focus(model, Pane::Preconditions),
        C::PaneDecision => go::focus(model, Pane::Decision),
        C::PanePolicy => go::focus(model, Pane::Policy),
        C::PaneChanges => go::focus(model, Pane::Changes),
        C::Zoom => model.place.zoom = !model.place.zoom,
        C::Base => compare::ask(model, effects),
        C::LastLoad => loads::open(model, effects),
        C::EndCompare => compare::end(model, effects),
        C::Texts => texts::open(model, effects),
        // Their popups define what these do.
        C::Fold | C::FoldAll | C::UnfoldAll | C::NextBody | C::PreviousBody | C::WithOutput => {}
        C::NextHunk | C::PreviousHunk | C::GroupBy => {}
        C::NextTab | C::PreviousTab | C::FirstCall | C::SortRows => {}
        C::Redraw => effects.push(Effect::Redraw),
        C::Judge => live::again(model, effects),
        C::Live => live::toggle(model, effects),
        C::Mode => {
            model.basis.mode = if model.basis.mode == Mode::Enforce { Mode::Shadow } else { Mode::Enforce };
            let what = match model.basis.mode {
                Mode::Enforce => {
                    "enforce: a stopped call does not run, later calls see the message to the model"
                }
                Mode::Shadow => "shadow: what the recording says happened, happened",
            };
            model.say(what);
            compare::forget_bases(model);
            judge::judge_all(model, effects);
        }
        C::Edit => overlays::edit(model, effects),
        C::CopyRow | C::CopyJson | C::CopyRule | C::CopyPath | C::CopyExplain | C::CopyMarkdown => {
            copy::copy(model, command, effects)
        }
        C::Save => save::begin(model, effects),
        C::Witness => witness::begin(model, effects),
        C::WayOut => way_out::open(model, effects),
        C::WhatIfArguments => suppose::arguments(model, effects),
        C::WhatIfResult => suppose::result(model, effects),
        C::WhatIfOutcome => suppose::outcome(model),
        C::WhatIfDrop => suppose::drop_call(model),
        C::WhatIfNew => suppose::new_call(model, effects),
        C::WhatIfRule => suppose::switch(model),
        C::WhatIfUndo => suppose::undo(model),
        C::WhatIfNone => suppose::drop_all(model),
        C::Mouse => mouse::toggle(model, effects),
        C::Suspend => effects.push(Effect::Suspend),
        C::Close => {
            if !overlays::close(model) {
                suppose::leave(model, effects, false);
            }
        }
        C::Quit => {
            if !model.dialog.overlays.is_empty() {
                overlays::close(model);
            } else if std::mem::take(&mut model.place.zoom) {
                // The user sees that something was closed.
            } else if !suppose::leave(model, effects, true) && !warned(model) {
                effects.push(Effect::Quit);
            }
        }
        C::QuitNow => effects.push(Effect::Quit),
    }
}

#[cfg(test)]
mod tests;
