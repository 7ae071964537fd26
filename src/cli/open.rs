//! `toolgate [SESSIONS]...`: the workbench, or what `replay` prints where there is no terminal.

use super::args::{Format, Open};
use super::replay::{Asked, judge};
use super::screen::Screen;
use super::{Exit, Failure};
use crate::report::Scope;

/// Opens.
pub fn run(asked: Open, screen: &mut Screen) -> Result<Exit, Failure> {
    let asked = Asked {
        recordings: &asked.recordings,
        policies: &asked.policies,
        mode: asked.judging.mode.into(),
        format: Format::Text,
        scope: Scope::Findings,
        jobs: 0,
    };
    judge(&asked, screen)
}
