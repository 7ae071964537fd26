//! Values of types that a format is not known to have: left out, and told once for each type.

use std::collections::BTreeMap;

use crate::recording::contract::out::Out;
use crate::recording::contract::setting::Setting;
use crate::session::Damage;
use crate::source::quoted;

/// The types, each with the line of the first such value and how many there were.
#[derive(Default)]
pub struct Unknown(BTreeMap<String, (u32, u64)>);

/// Types that are distinguished; a file with more of them is something else.
const MOST: usize = 32;

impl Unknown {
    /// A value of this type stands on this line.
    pub fn note(&mut self, kind: &str, line: u32) {
        let kind = if self.0.len() < MOST || self.0.contains_key(kind) { kind } else { "…" };
        let (_, count) = self.0.entry(kind.to_owned()).or_insert((line, 0));
        *count += 1;
    }

    /// Says what was left out.
    pub fn tell(&mut self, setting: &Setting, out: &mut Out) {
        for (kind, (line, count)) in std::mem::take(&mut self.0) {
            let message = match count {
                1 => format!("the type {} is not known; it is left out", quoted(&kind)),
                _ => format!(
                    "the type {} is not known; {count} are left out, and the first is here",
                    quoted(&kind)
                ),
            };
            out.diagnostic(setting.damaged_line(line, Damage::calls(message)));
        }
    }
}
