//! Where a command runs, and what it is found to do there.

use super::call::{Act, Extent, Host, Touch};
use super::path::{ENVIRONMENT, Place, Root, is_relative};
use super::word::{Piece, Word};

/// What a command does.
#[derive(Debug, Default)]
pub struct Effects {
    /// The files it works on.
    pub touches: Vec<Touch>,
    /// Those that it works on where a `cd` before it has failed.
    pub mentions: Vec<Touch>,
    /// The hosts it connects to.
    pub reaches: Vec<Host>,
    /// Whether what it does is written elsewhere.
    pub opaque: bool,
}

/// Where a command runs.
pub struct Scene<'s> {
    /// Its folder.
    pub folder: &'s Word,
    /// The folders in which it runs instead where a `cd` before it has failed.
    pub instead: &'s [Word],
    /// Where the session began.
    pub root: &'s Root,
    /// Variables set for it.
    pub assigned: &'s [(String, Word)],
    /// Repositories that `git` knows by a name.
    pub remotes: &'s [(String, Word)],
}

impl<'s> Scene<'s> {
    /// Where files are, whatever is set.
    pub fn of_files(folder: &'s Word, instead: &'s [Word], root: &'s Root) -> Scene<'s> {
        Scene { folder, instead, root, assigned: &[], remotes: &[] }
    }
}

/// Files that stand for no file.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "-"];

/// Adds a file.
pub fn add(act: Act, extent: Extent, word: &Word, scene: &Scene<'_>, found: &mut Effects) {
    if is_device(word) {
        return;
    }
    let touch = |folder: &Word| Touch { act, place: Place::new(word, folder, scene.root), extent };
    found.touches.push(touch(scene.folder));
    if is_relative(word) {
        found.mentions.extend(scene.instead.iter().map(touch));
    }
    // `/proc/self/environ`.
    let process = word.strip_prefix("/proc/").filter(|_| act == Act::Reads);
    if process.is_some_and(|rest| rest.to_string().ends_with("/environ")) {
        add(act, Extent::Itself, &environment(&Word::pattern("*")), scene, found);
    }
}

/// Adds a file that is perhaps meant.
pub fn mention(act: Act, extent: Extent, word: &Word, scene: &Scene<'_>, found: &mut Effects) {
    if !is_device(word) {
        let touch = |folder: &Word| Touch { act, place: Place::new(word, folder, scene.root), extent };
        found.mentions.push(touch(scene.folder));
        if is_relative(word) {
            found.mentions.extend(scene.instead.iter().map(touch));
        }
    }
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

/// The host of a URL, or of a word that is taken as one with `bare`.
pub fn host(word: &Word, bare: bool) -> Option<Host> {
    let scheme = word.pieces.iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains("://")));
    // `?` and `[` of a URL are patterns for a shell, which leaves them as they are where no file fits.
    let mut rest = match word.pieces.iter().any(|piece| matches!(piece, Piece::Unknown(_) | Piece::Home)) {
        true => word.clone(),
        false => Word::text(word.to_string()),
    };
    if scheme {
        while let Some((before, after)) = rest.split_once(':') {
            rest = after;
            if let Some(after) = rest.strip_prefix("//") {
                if before.known() == Some("file") {
                    return None;
                }
                rest = after;
                break;
            }
        }
    } else if !bare {
        return word.is_open().then(|| Host::Unknown(word.to_string()));
    }
    if !scheme && rest.start().starts_with('/') {
        return None;
    }
    for end in ['/', '?', '#'] {
        if let Some((before, _)) = rest.split_once(end) {
            rest = before;
        }
    }
    while let Some((_, after)) = rest.split_once('@') {
        rest = after;
    }
    if let Some(inner) = rest.strip_prefix("[") {
        rest = inner.split_once(']').map_or(inner, |(address, _)| address);
    } else if let Some((name, after)) = rest.split_once(':')
        && (!after.to_string().contains(':') || is_module(&name, &after))
    {
        rest = name;
    }
    // `example.org.` is `example.org`.
    if let Some(Piece::Text(text)) = rest.pieces.last_mut()
        && text.len() > 1
        && text.ends_with('.')
    {
        text.pop();
    }
    if rest.pieces.is_empty() {
        return None;
    }
    for piece in &mut rest.pieces {
        if let Piece::Text(text) = piece {
            *text = text.to_lowercase();
        }
    }
    Some(Host::Named(rest))
}

/// Whether `name::module` of `rsync` was meant, and no address of IPv6 such as `fe80::1`.
fn is_module(name: &Word, after: &Word) -> bool {
    let hexadecimal = name.known().is_some_and(|name| name.chars().all(|letter| letter.is_ascii_hexdigit()));
    after.start().starts_with(':') && !hexadecimal
}
