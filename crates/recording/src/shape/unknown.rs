//! Values of types that are unknown to a format: left out, and reported once for each type. Agents add such types with
//! every version, so only those in which something looks like a call are damage.

use std::collections::BTreeMap;

use crate::contract::out::Out;
use crate::contract::setting::Setting;
use crate::input::calls;
use crate::input::shallow::{Members, Node};
use rulestep_base::diagnostic::Loss;
use rulestep_base::session::Damage;
use rulestep_base::source::quoted;

/// The types, each with the first such value that may lose calls, else the first one, and how many there were.
#[derive(Default)]
pub struct Unknown(BTreeMap<String, Kind>);

struct Kind {
    line: u32,
    count: u64,
    loss: Loss,
}

/// Most types that are distinguished; a file with more of them is something else.
const MOST: usize = 32;

impl Unknown {
    /// A value of this type on this line.
    pub fn note(&mut self, kind: &str, value: Node<'_>, line: u32) {
        let is_call = value.tried().members().as_ref().is_none_or(calls::is_call);
        let may = calls::speaks_of_one(kind) && is_call || calls::are_in(value);
        self.add(kind, line, if may { Loss::MayHoldCalls } else { Loss::Harmless });
    }

    /// The same for an object.
    pub fn note_object(&mut self, kind: &str, members: &Members<'_>, line: u32) {
        let may = calls::speaks_of_one(kind) && calls::is_call(members) || calls::are_among(members);
        self.add(kind, line, if may { Loss::MayHoldCalls } else { Loss::Harmless });
    }

    /// The same at a place where every value of an unknown type may be a call.
    pub fn note_action(&mut self, kind: &str, line: u32) {
        self.add(kind, line, Loss::MayHoldCalls);
    }

    fn add(&mut self, kind: &str, line: u32, loss: Loss) {
        let kind = if self.0.len() < MOST || self.0.contains_key(kind) { kind } else { "…" };
        let known = self.0.entry(kind.to_owned()).or_insert(Kind { line, count: 0, loss });
        known.count += 1;
        if loss == Loss::MayHoldCalls && known.loss == Loss::Harmless {
            (known.line, known.loss) = (line, loss);
        }
    }

    /// Reports the omissions.
    pub fn tell(&mut self, setting: &Setting, out: &mut Out) {
        for (kind, Kind { line, count, loss }) in std::mem::take(&mut self.0) {
            let kind = quoted(&kind);
            let message = match count {
                1 => format!("the type {kind} is not known; it is left out"),
                _ => format!("the type {kind} is not known; {count} are left out, and one of them is here"),
            };
            out.diagnostic(setting.damaged_line(line, Damage::lost(loss, message)));
        }
    }
}
