//! The user's comparison: the base, and what each version decides about the selection.

use std::sync::Arc;

use super::texts::Texts;
use crate::compare::{Base, Comparison};

/// The base that the user has chosen.
#[derive(Default)]
pub struct Compare {
    /// The base; while there is none, an edit is compared with the version before it.
    pub base: Option<Chosen>,
    /// The name of a base that is being read. The earlier one stays until it is there.
    pub reading: Option<String>,
    /// The texts of two versions, once they are requested.
    pub texts: Option<(Arc<Comparison>, Arc<Texts>)>,
    /// Whether they open when they arrive.
    pub opens_texts: bool,
}

/// A base and its name.
#[derive(Clone)]
pub struct Chosen {
    /// The name that the user typed, or the time of loading.
    pub name: String,
    /// The base.
    pub base: Base,
}
