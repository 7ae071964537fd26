//! What both calls of a `before` must have in common: a file that they work on, or values of their arguments.

use std::collections::HashMap;

use serde_json::Value;

use super::asks::Part;
use super::commands;
use super::operand::{Look, Match, Side};
use crate::condition::path::Path;
use rulestep_base::session::value::canonical;
use rulestep_base::session::{Body, CallRef};

/// The common part.
#[derive(Debug, Clone)]
pub(super) enum Same {
    /// Nothing.
    Nothing,
    /// The file that both work on.
    File,
    /// The values at these paths of the arguments.
    Values(Vec<Path>),
}

impl PartialEq for Same {
    fn eq(&self, other: &Same) -> bool {
        match (self, other) {
            (Same::Nothing, Same::Nothing) | (Same::File, Same::File) => true,
            (Same::Values(one), Same::Values(other)) => {
                one.iter().map(Path::text).eq(other.iter().map(Path::text))
            }
            _ => false,
        }
    }
}

impl Same {
    /// The keys of a call that came first.
    pub fn names(&self, first: &Side, look: Look<'_>) -> Vec<String> {
        let mut names = Vec::new();
        match self {
            Same::Nothing => {}
            Same::File => first.files(look, |_, _, file| names.extend(file.names)),
            Same::Values(paths) => names.extend(keys(paths, first, look)),
        }
        names
    }

    /// Why a call lacks a `first` with the same keys, and the part that does.
    pub fn lacks(
        &self,
        first: &Side,
        then: &Side,
        bound: &HashMap<String, CallRef>,
        look: Look<'_>,
    ) -> Option<Option<Part>> {
        if then.means(look) != Match::Yes {
            return None;
        }
        let lacks = match self {
            Same::Nothing => false,
            Same::Values(paths) => !keys(paths, then, look).iter().any(|key| bound.contains_key(key)),
            Same::File => {
                let mut own: Vec<(usize, Vec<String>)> = Vec::new();
                first.files(look, |number, _, file| own.push((number, file.names)));
                let (mut any, mut lacks) = (false, false);
                then.files(look, |_, after, file| {
                    any = true;
                    let earlier = own.iter().filter(|(number, _)| after.contains(number));
                    let mut earlier = earlier.flat_map(|(_, names)| names);
                    let known = file.names.iter().any(|name| bound.contains_key(name))
                        || earlier.any(|name| file.names.contains(name));
                    lacks |= !known;
                });
                lacks || !any
            }
        };
        lacks.then(|| then.part(look))
    }

    /// The calls that came first and have the same.
    pub fn rests(&self, then: &Side, bound: &HashMap<String, CallRef>, look: Look<'_>) -> Vec<CallRef> {
        if !then.is(look) {
            return Vec::new();
        }
        let mut found: Vec<CallRef> =
            self.names(then, look).iter().filter_map(|name| bound.get(name).copied()).collect();
        found.sort();
        found.dedup();
        found
    }
}

/// The values at the paths, as one text; and as another one with the files that the call works on, which are the same however
/// their paths are written. No value of another kind is taken for a path: `ORD-1/../ORD-2` is no other way to write `ORD-2`.
fn keys(paths: &[Path], side: &Side, look: Look<'_>) -> Vec<String> {
    let Some(given) = look.arguments.and_then(Body::parsed) else { return Vec::new() };
    let values: Option<Vec<&Value>> = paths.iter().map(|path| path.one(given)).collect();
    let Some(values) = values else { return Vec::new() };
    let written = Value::Array(values.iter().map(|value| (*value).clone()).collect());
    let mut any = false;
    let as_paths = values.iter().map(|value| {
        let path = value.as_str().and_then(|text| commands::path(text, look, side.facts()));
        any |= path.is_some();
        path.map_or_else(|| (*value).clone(), Value::String)
    });
    let as_paths = Value::Array(as_paths.collect());
    let mut keys = vec![format!("values {}", canonical(&written))];
    keys.extend(any.then(|| format!("files {}", canonical(&as_paths))));
    keys
}
