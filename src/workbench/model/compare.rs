//! The comparison that the person asked for: with what, and what either version makes of what is selected.

use std::sync::Arc;

use super::texts::Texts;
use crate::compare::{Base, Comparison};

/// What the version that decides is compared with, because the person said so.
#[derive(Default)]
pub struct Compare {
    /// The base; while there is none, an edit is compared with the version before it.
    pub base: Option<Chosen>,
    /// The name of one that is being read. The one chosen before stands until it is there.
    pub reading: Option<String>,
    /// The texts of two versions, once somebody has asked for them.
    pub texts: Option<(Arc<Comparison>, Arc<Texts>)>,
    /// They were asked for, and open when they are there.
    pub opens_texts: bool,
}

/// A base and what it is called.
#[derive(Clone)]
pub struct Chosen {
    /// As it was asked for, or when it was loaded.
    pub name: String,
    /// What it is.
    pub base: Base,
}
