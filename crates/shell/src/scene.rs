//! Where a command runs, and its effects there.

use super::call::{Act, Extent, Host, Touch};
use super::path::{ENVIRONMENT, Place, Root, is_relative};
use super::word::Word;

/// The effects of a command.
#[derive(Debug, Default)]
pub struct Effects {
    /// The files it works on.
    pub touches: Vec<Touch>,
    /// The files it works on if a `cd` before it has failed.
    pub mentions: Vec<Touch>,
    /// The hosts it connects to.
    pub reaches: Vec<Host>,
    /// Whether its effects are defined elsewhere.
    pub opaque: bool,
}

impl Effects {
    /// Takes the possible effects: they depend on a word.
    pub fn perhaps(&mut self, other: Effects, doubt: &str) {
        let all = other.touches.into_iter().chain(other.mentions);
        let new = all.filter(|touch| !self.touches.contains(touch));
        self.mentions.extend(new);
        let is_new = |host: &Host| !self.reaches.contains(host);
        if other.reaches.iter().any(is_new) && self.reaches.iter().all(|host| host.to_string() != doubt) {
            self.reaches.push(Host::Unknown(doubt.to_owned()));
        }
        self.opaque |= other.opaque;
    }

    /// Takes what another reading of the same words says: what both say holds, and what one says is perhaps so.
    pub fn or(&mut self, other: Effects, doubt: &str) {
        let (both, own): (Vec<Touch>, Vec<Touch>) =
            std::mem::take(&mut self.touches).into_iter().partition(|touch| other.touches.contains(touch));
        let others = other.touches.into_iter().filter(|touch| !both.contains(touch));
        self.mentions.extend(own.into_iter().chain(others).chain(other.mentions));
        self.touches = both;
        if self.reaches != other.reaches {
            let mut hosts: Vec<Host> = std::mem::take(&mut self.reaches)
                .into_iter()
                .filter(|host| other.reaches.contains(host))
                .collect();
            hosts.push(Host::Unknown(doubt.to_owned()));
            self.reaches = hosts;
        }
        self.opaque |= other.opaque;
    }
}

/// Where a command runs.
pub struct Scene<'s> {
    /// Its folder.
    pub folder: &'s Word,
    /// The folders in which it runs instead if a `cd` before it has failed.
    pub instead: &'s [Word],
    /// Where the session began.
    pub root: &'s Root,
    /// Variables set for it.
    pub assigned: &'s [(String, Word)],
    /// Repositories that `git` knows by a name.
    pub remotes: &'s [(String, Word)],
    /// Whether it runs on another machine or in a container.
    pub elsewhere: bool,
    /// Whether something feeds its standard input.
    pub fed: bool,
}

impl<'s> Scene<'s> {
    /// For files, whatever variables are set.
    pub fn of_files(folder: &'s Word, instead: &'s [Word], root: &'s Root) -> Scene<'s> {
        Scene { folder, instead, root, assigned: &[], remotes: &[], elsewhere: false, fed: false }
    }
}

/// Device files, which are not counted as files.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "-"];

/// Adds a file.
pub fn add(act: Act, extent: Extent, word: &Word, scene: &Scene<'_>, found: &mut Effects) {
    if is_device(word) {
        return;
    }
    let mut touches = touches(act, extent, word, scene);
    found.touches.extend(touches.next());
    found.mentions.extend(touches);
    // `/proc/self/environ`.
    let process = word.strip_prefix("/proc/").filter(|_| act == Act::Reads);
    if process.is_some_and(|rest| rest.to_string().ends_with("/environ")) {
        add(act, Extent::Itself, &environment(&Word::pattern("*")), scene, found);
    }
}

/// Adds a file that is perhaps affected.
pub fn mention(act: Act, extent: Extent, word: &Word, scene: &Scene<'_>, found: &mut Effects) {
    if !is_device(word) {
        found.mentions.extend(touches(act, extent, word, scene));
    }
}

/// A file as seen from the command's folder, then from the folders in which it runs instead.
fn touches<'a>(
    act: Act,
    extent: Extent,
    word: &'a Word,
    scene: &'a Scene<'_>,
) -> impl Iterator<Item = Touch> + 'a {
    let others = scene.instead.iter().filter(|_| is_relative(word));
    let folders = std::iter::once(scene.folder).chain(others);
    folders.map(move |folder| Touch { act, place: Place::new(word, folder, scene.root), extent })
}

fn is_device(word: &Word) -> bool {
    word.known()
        .is_some_and(|name| DEVICES.contains(&name) || name.is_empty() || name.starts_with("/dev/fd/"))
}

/// A variable of the environment as a file.
pub fn environment(name: &Word) -> Word {
    let mut word = Word::text(ENVIRONMENT);
    word.append(name);
    word
}
