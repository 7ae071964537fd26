//! What sequence rules add to the data: deadlines, steps, and what a rule asks.

use serde::Serialize;

use crate::monitor::order::Order;
use crate::session::CallRef;

/// A call that must come soon.
#[derive(Serialize)]
pub(super) struct DeadlineLine<'a> {
    pub rule: &'a str,
    pub kind: &'static str,
    pub tool: &'a str,
    pub since: Option<CallRef>,
    pub left: u64,
    pub open: u64,
}

/// How far a sequence has come.
#[derive(Serialize)]
pub(super) struct StepLine<'a> {
    pub rule: &'a str,
    pub kind: &'static str,
    pub done: u64,
    pub of: u64,
    pub next: Option<&'a str>,
}

/// What a rule asks, and what it counts.
#[derive(Serialize)]
pub(super) struct OrderLine<'a> {
    pub asks: &'a Order,
    pub count: u64,
}
