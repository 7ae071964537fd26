//! Forms of files.

use crate::call::{Act, Extent};
use crate::choose::pathspecs;
use crate::facts::At;
use crate::options::Arguments;
use crate::path::is_relative;
use crate::scene::{Effects, Scene, add, mention};
use crate::word::{Piece, Word};

/// The words that name files in such a form.
pub fn words(at: &At, arguments: &Arguments<'_>, operands: &[Word]) -> Vec<Word> {
    match at {
        At::AttachedAll => operands.iter().filter_map(at_value).collect(),
        At::AttachedRest => operands.iter().skip(1).filter_map(at_value).collect(),
        At::AttachedValues => {
            arguments.options.iter().filter_map(|given| given.value.as_ref()).filter_map(at_value).collect()
        }
        At::Attached(names) => arguments.values_of(names).filter_map(at_value).collect(),
        At::Plain(names) => {
            arguments.values_of(names).filter(|word| !word.to_string().contains('=')).cloned().collect()
        }
        At::Fields(names) => arguments.values_of(names).flat_map(fields).collect(),
        At::Settings(names, keys) => super::settings(arguments, names, keys).collect(),
        At::Lines(names) => {
            let ranges = arguments.values_of(names).filter_map(|range| Some(range.split_once(':')?.1));
            ranges.map(|path| path.split_once(':').map_or(path.clone(), |(_, path)| path)).collect()
        }
        At::Packed(ends) => operands.iter().filter_map(|word| packed(word, ends)).collect(),
        At::New => operands.iter().filter(|word| !word.is_there()).cloned().collect(),
        At::Revisions => operands.iter().map(of_revision).collect(),
        _ => Vec::new(),
    }
}

/// Adds files in forms that affect them perhaps, or only partly.
pub fn touched(
    act: Act,
    at: &At,
    arguments: &Arguments<'_>,
    operands: &[Word],
    scene: &Scene<'_>,
    found: &mut Effects,
) -> bool {
    match at {
        At::Downloads(names) => {
            let folder = arguments.values_of(names).last();
            folder.into_iter().for_each(|folder| in_folder(folder, scene, found));
            downloads(operands, folder, scene, found);
        }
        At::Clone => cloned(operands, scene, found),
        At::Mounts(names) => {
            arguments.values_of(names).for_each(|value| mount(act, value, scene, found));
        }
        At::Paths => paths(act, arguments, operands, scene, found),
        At::Pathspecs(names) => {
            let pattern = usize::from(!arguments.has_any(names));
            pathspecs(operands.get(pattern..).unwrap_or_default(), scene, found);
        }
        _ => return false,
    }
    true
}

/// The folder that an option names, relative to the command's own.
pub fn folder<'w>(named: impl Iterator<Item = &'w Word>, scene: &Scene<'_>) -> Option<Word> {
    let one = |folder: Option<Word>, word: &Word| {
        let mut own = folder.unwrap_or_else(|| scene.folder.clone());
        if !is_relative(word) {
            return Some(Word { many: false, ..word.clone() });
        }
        own.push("/");
        own.append(word);
        Some(Word { many: false, ..own })
    };
    named.fold(None, one)
}

/// The name of a file within a folder: it keeps its name.
pub fn within(folder: &Word, file: &Word) -> Option<Word> {
    let mut named = file.clone();
    if let Some(Piece::Text(text)) = named.pieces.last_mut() {
        text.truncate(text.trim_end_matches('/').len());
    }
    named.pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
    // For `host:file`, the folder of the file is on another host.
    let mut name = named.base();
    if let Some((_, file)) = name.split_once(':') {
        name = file;
    }
    if name.pieces.is_empty() || name.pieces == [Piece::Home] || matches!(name.known(), Some("." | "..")) {
        return None;
    }
    let mut path = folder.clone();
    if !matches!(path.pieces.last(), Some(Piece::Text(text)) if text.ends_with('/')) {
        path.push("/");
    }
    path.append(&name);
    Some(Word { many: false, ..path })
}

/// `@FILE`, `name=@FILE`, `name=<FILE`, `name@FILE`.
fn at_value(word: &Word) -> Option<Word> {
    let start = word.start();
    let mark = if start.starts_with('@') {
        0
    } else {
        let place = start.find(['@', '<', '='])?;
        let rest = start.get(place..)?;
        match rest.strip_prefix('=') {
            Some(rest) if rest.starts_with(['@', '<']) => place + 1,
            Some(_) => return None,
            None => place,
        }
    };
    let mut file = word.after(mark + 1);
    // `;type=…` belongs to the form, not to the name.
    if let Some((name, _)) = file.split_once(';') {
        file = name;
    }
    Some(file)
}

/// The files of `KEY=FILE,KEY=FILE`.
fn fields(word: &Word) -> Vec<Word> {
    word.parts().into_iter().map(|part| part.split_once('=').map_or(part, |(_, file)| file)).collect()
}

/// Files of any name in a folder that an option names.
fn in_folder(folder: &Word, scene: &Scene<'_>, found: &mut Effects) {
    let extent = if folder.unclear().is_some() { Extent::Itself } else { Extent::Inside };
    add(Act::Writes, extent, folder, scene, found);
}

/// Files that are called as at the end of their URLs.
fn downloads(urls: &[Word], folder: Option<&Word>, scene: &Scene<'_>, found: &mut Effects) {
    let here = Word::text(".");
    for url in urls {
        // `?` and `*` of a URL are patterns for a shell, which leaves them where no file fits.
        let gaps = url.pieces.iter().any(|piece| matches!(piece, Piece::Unknown(_) | Piece::Home));
        let url = if gaps { url.clone() } else { Word::text(url.to_string()) };
        let mut path = url.split_once('?').map_or_else(|| url.clone(), |(path, _)| path);
        if let Some((_, after)) = path.split_once(':').filter(|(_, after)| after.start().starts_with("//")) {
            path = after.after(2);
        }
        // A host alone has no name for a file.
        let has_path =
            path.split_once('/').is_some_and(|(_, rest)| !rest.pieces.is_empty()) && !path.is_folder();
        if has_path && let Some(file) = within(folder.unwrap_or(&here), &path) {
            let extent = if file.unclear().is_some() { Extent::IfFolder } else { Extent::Itself };
            add(Act::Writes, extent, &file, scene, found);
        }
    }
}

/// Operands of which the first may be a branch: one word alone is perhaps a path.
fn paths(act: Act, arguments: &Arguments<'_>, operands: &[Word], scene: &Scene<'_>, found: &mut Effects) {
    let certain = arguments.ended.unwrap_or(usize::MAX).saturating_sub(arguments.skipped);
    for (at, word) in operands.iter().enumerate().filter(|(_, word)| word.unclear().is_none()) {
        if at > 0 || at >= certain {
            add(act, Extent::Itself, word, scene, found);
            mention(act, Extent::Within, word, scene, found);
        } else {
            let extent = if word.is_known_folder() { Extent::Within } else { Extent::Itself };
            mention(act, extent, word, scene, found);
        }
    }
}

/// `HOST:CONTAINER[:ro]`, `type=bind,src=HOST,…`, `id=x,src=FILE`: what a container sees of this machine.
fn mount(act: Act, value: &Word, scene: &Scene<'_>, found: &mut Effects) {
    let text = value.to_string();
    let fields = text.split([',', ':']).any(|part| part.contains('='));
    let (host, writes) = if fields {
        let source = |part: &Word| ["src=", "source="].iter().find_map(|key| part.strip_prefix(key));
        let host = value.parts().iter().find_map(source);
        let is_other = !["type=bind", "type=file", "id="].iter().any(|field| text.contains(field));
        (host.filter(|_| !is_other), !text.contains("readonly") && !text.ends_with(",ro"))
    } else {
        let Some((host, rest)) = value.split_once(':') else { return };
        // Without `/` it is a volume's name.
        let path = matches!(host.pieces.first(), Some(Piece::Home | Piece::Unknown(_)));
        let named = !path && !host.start().starts_with('.') && !host.start().contains('/');
        let rest = rest.to_string();
        let read_only = rest.rsplit(':').next().is_some_and(|mode| mode.split(',').any(|part| part == "ro"));
        (Some(host).filter(|_| !named), !read_only)
    };
    let Some(host) = host else { return };
    match act {
        Act::Reads => add(Act::Reads, Extent::Below, &host, scene, found),
        Act::Writes | Act::Deletes if writes && host.unclear().is_none() => {
            mention(act, Extent::Itself, &host, scene, found);
            // A mounted project does not show what is written in it.
            if host.known() != Some(".") {
                mention(act, Extent::Within, &host, scene, found);
            }
        }
        Act::Writes | Act::Deletes => {}
    }
}

/// The output of a packer for a file: endings are `.gz`, or `.tgz=.tar` for one that becomes another.
fn packed(word: &Word, ends: &[String]) -> Option<Word> {
    let mut made = word.clone();
    let mut ends = ends.iter().map(|end| end.split_once('=').unwrap_or((end, "")));
    let first = ends.clone().next();
    match made.pieces.last_mut() {
        Some(Piece::Text(text)) => match ends.find(|(end, _)| text.ends_with(end)) {
            Some((end, instead)) => {
                text.truncate(text.len() - end.len());
                text.push_str(instead);
            }
            None => text.push_str(first?.0),
        },
        _ => made.push(first?.0),
    }
    Some(made)
}

/// The folder into which a repository is copied: named, or called as at the end of its address.
fn cloned(operands: &[Word], scene: &Scene<'_>, found: &mut Effects) {
    let named = |address: &Word| {
        let mut path = within(&Word::text("."), address)?;
        if let Some(Piece::Text(text)) = path.pieces.last_mut() {
            text.truncate(text.strip_suffix(".git").unwrap_or(text).len());
        }
        Some(path)
    };
    let named = || named(operands.first()?).filter(|folder| folder.unclear().is_none());
    if let Some(folder) = operands.get(1).cloned().or_else(named) {
        add(Act::Writes, Extent::Itself, &folder, scene, found);
        add(Act::Writes, Extent::Within, &folder, scene, found);
    }
}

/// Reads what `file:` URLs name.
pub fn urls(words: &[Word], scene: &Scene<'_>, found: &mut Effects) {
    for word in words {
        let url = word.split_once('=').map(|(_, value)| value).filter(|_| word.start().starts_with("--"));
        let url = url.as_ref().unwrap_or(word);
        for scheme in ["file://localhost/", "file://", "fileb://"] {
            // Case does not matter in schemes.
            let written = url.start().get(..scheme.len());
            if let Some(file) =
                written.filter(|start| start.eq_ignore_ascii_case(scheme)).map(|start| url.after(start.len()))
            {
                let mut path = Word::text(if scheme.ends_with("localhost/") { "/" } else { "" });
                path.append(&file);
                add(Act::Reads, Extent::Itself, &path, scene, found);
                break;
            }
        }
    }
}

/// The path of `REVISION:PATH`, or the word itself.
fn of_revision(word: &Word) -> Word {
    word.split_once(':')
        .map(|(_, path)| path)
        .filter(|path| !path.pieces.is_empty())
        .unwrap_or_else(|| word.clone())
}

/// A file in the folder in which a program runs.
pub fn below(name: &Word) -> Word {
    let mut path = Word::text("./");
    path.append(name);
    path
}

/// A fixed path, with `~` for the home folder and `*` for any name.
pub fn at_home(path: &str) -> Word {
    match path.strip_prefix("~/") {
        Some(rest) => Word::at_home(&Word::pattern(rest)),
        None => Word::pattern(path),
    }
}
