//! The calls of other sessions of the same recordings, for a session that is a fork: they show which of its calls were
//! copied.
//!
//! Nothing is read unless a session needs it, and then as little as possible: the file that has the name of the other
//! session, else those that name it at their beginning.

use std::collections::{HashMap, HashSet};
use std::io::Read as _;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::files::Input;
use rulestep_recording::{self as recording, Options, Others, call_digest};

/// Bytes at the beginning of a file in which it names its session.
const BEGINNING: u64 = 4096;

/// Digests of the calls of a session.
type Calls = Arc<HashSet<u64>>;

/// The files of a load, and the sessions that were looked up in them.
struct Loaded {
    names: Vec<Arc<str>>,
    options: Options,
    /// The files that have a text as an `id` at their beginning.
    named: OnceLock<HashMap<Box<str>, Vec<usize>>>,
    known: Mutex<HashMap<Box<str>, Option<Calls>>>,
}

/// Looks sessions up in these files, which are read with these options. `None` if there is at most one. Only the name
/// of each file is kept.
pub fn others<'i>(inputs: impl Iterator<Item = &'i Input>, options: &Options) -> Option<Others> {
    let names: Vec<_> =
        inputs.filter(|input| input.stamp().is_some()).map(|input| Arc::clone(&input.name)).collect();
    if names.len() < 2 {
        return None;
    }
    let options = Options { places: false, again: None, others: None, following: true, ..options.clone() };
    let loaded = Loaded { names, options, named: OnceLock::new(), known: Mutex::default() };
    Some(Arc::new(move |id: &str| loaded.calls(id)))
}

impl Loaded {
    fn calls(&self, id: &str) -> Option<Calls> {
        // Forks of one session look it up at the same time, and one of them reads it.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(id) {
            return known.clone();
        }
        let calls = self.find(id).map(Arc::new);
        known.insert(id.into(), calls.clone());
        calls
    }

    fn find(&self, id: &str) -> Option<HashSet<u64>> {
        let file_name =
            |name: &&Arc<str>| name.rsplit(['/', '\\']).next().is_some_and(|name| name.contains(id));
        let mut by_name = self.names.iter().filter(file_name);
        by_name.find_map(|name| self.read(name, id)).or_else(|| {
            let places = self.named.get_or_init(|| self.name()).get(id)?;
            places.iter().find_map(|place| self.read(self.names.get(*place)?, id))
        })
    }

    fn name(&self) -> HashMap<Box<str>, Vec<usize>> {
        let mut named: HashMap<Box<str>, Vec<usize>> = HashMap::new();
        for (place, name) in self.names.iter().enumerate() {
            let mut bytes = Vec::new();
            let Some(Ok(reader)) = Input::found(name).map(|input| input.open()) else { continue };
            // The part that was read before an error is good enough.
            let _ = reader.take(BEGINNING).read_to_end(&mut bytes);
            for id in ids(&String::from_utf8_lossy(&bytes)) {
                named.entry(id.into()).or_default().push(place);
            }
        }
        named
    }

    fn read(&self, name: &Arc<str>, id: &str) -> Option<HashSet<u64>> {
        let reader = Input::found(name)?.open().ok()?;
        let sessions = recording::open(Arc::clone(name), reader, &self.options).ok()?;
        let mut sessions = sessions.filter(|session| *session.id == *id);
        sessions.next().map(|session| session.calls.iter().map(call_digest).collect())
    }
}

/// The texts that are an `id` in a beginning of JSON.
fn ids(text: &str) -> impl Iterator<Item = &str> {
    text.split("\"id\"").skip(1).filter_map(|after| {
        let value = after.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
        value.split_once('"').map(|(id, _)| id)
    })
}
