//! Files and variables that a word names in a program's own way: within a URL, a form, a mount, a script.

use super::call::{Act, Extent};
use super::choose::tracked;
use super::options::Arguments;
use super::scene::{Effects, Scene, add, environment, mention};
use super::special::within;
use super::word::{Piece, Word};

/// Adds what such words of a program name. `words` are all of them, `operands` those after the subcommand.
pub fn named(
    name: &str,
    words: &[Word],
    arguments: &Arguments<'_>,
    operands: &[Word],
    scene: &Scene<'_>,
    found: &mut Effects,
) {
    let reads = |word: &Word, found: &mut Effects| add(Act::Reads, Extent::Itself, word, scene, found);
    match name {
        "curl" => curl(arguments, operands, scene, found),
        "wget" if !arguments.has("--spider") => {
            let folder = arguments.values("-P --directory-prefix").last();
            folder.into_iter().for_each(|folder| in_folder(folder, scene, found));
            if !arguments.has("-O --output-document -i --input-file") {
                downloads(operands, folder, scene, found);
            }
        }
        "http" | "https" | "xh" | "xhs" | "httpie" => {
            // The first is the URL, or after the method.
            let items = operands.iter().filter(|word| !word.start().contains("://")).skip(1);
            items.filter_map(at_value).for_each(|file| reads(&file, found));
        }
        "aws" | "az" | "vault" | "consul" => {
            let values = arguments.options.iter().filter_map(|given| given.value.as_ref());
            let files = operands.iter().chain(values).filter(|_| name != "aws").filter_map(at_value);
            files.for_each(|file| reads(&file, found));
        }
        "docker" | "podman" | "nerdctl" => mounts(words, scene, found),
        "kubectl" | "oc" | "k" | "helm" | "gcloud" => {
            // `KEY=FILE`, several with `,`.
            for word in arguments.values("--from-file --set-file --metadata-from-file") {
                for part in word.known().into_iter().flat_map(|text| text.split(',')) {
                    let file = part.split_once('=').map_or(part, |(_, file)| file);
                    reads(&Word::text(file), found);
                }
            }
        }
        "ssh" | "scp" | "sftp" | "autossh" | "ssh-copy-id" => {
            for word in arguments.values("-o") {
                let (key, value) =
                    word.known().and_then(|text| text.split_once(['=', ' '])).unwrap_or_default();
                if matches!(key.to_lowercase().as_str(), "identityfile" | "certificatefile") {
                    reads(&Word::text(value.trim()), found);
                }
            }
        }
        "rsync" => {
            // `-e 'ssh -i KEY'`.
            for word in arguments.values("-e --rsh") {
                let text = word.to_string();
                let mut parts = text.split(' ').skip_while(|part| *part != "-i").skip(1);
                parts.next().into_iter().for_each(|file| reads(&Word::text(file), found));
            }
        }
        "gzip" | "gunzip" | "bzip2" | "bunzip2" | "xz" | "unxz" | "zstd" | "unzstd"
            if !arguments.has("-c --stdout -l --list -t --test -o") =>
        {
            let unpacks = name.contains("un") || arguments.has("-d --decompress --uncompress");
            for word in operands {
                unpacked(name, unpacks, word)
                    .iter()
                    .for_each(|file| add(Act::Writes, Extent::Itself, file, scene, found));
            }
        }
        // Without a dash, `e` shows the environment of each process.
        "ps" => {
            let letters = words.first().and_then(Word::known).unwrap_or_default();
            if letters.contains('e') && letters.chars().all(|letter| letter.is_ascii_lowercase()) {
                variable(None, scene, found);
            }
        }
        "declare" | "typeset" | "export" | "readonly" if arguments.has("-p") => {
            operands.iter().for_each(|name| reads(&environment(name), found));
            if operands.is_empty() {
                variable(None, scene, found);
            }
        }
        _ => {}
    }
}

/// Reads what `file:` URLs name.
pub fn urls(words: &[Word], scene: &Scene<'_>, found: &mut Effects) {
    for word in words {
        let url = word.split_once('=').map(|(_, value)| value).filter(|_| word.start().starts_with("--"));
        let url = url.as_ref().unwrap_or(word);
        for scheme in ["file://localhost/", "file://", "fileb://"] {
            // Schemes are alike in any case.
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

/// `@FILE`, `name=@FILE`, `name=<FILE`, `name@FILE`.
pub fn at_value(word: &Word) -> Option<Word> {
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

fn variable(name: Option<&str>, scene: &Scene<'_>, found: &mut Effects) {
    let name = name.map_or_else(|| Word::pattern("*"), Word::text);
    add(Act::Reads, Extent::Itself, &environment(&name), scene, found);
}

fn curl(arguments: &Arguments<'_>, operands: &[Word], scene: &Scene<'_>, found: &mut Effects) {
    // Without `=` it is a file, not a cookie.
    for word in arguments.values("-b --cookie").filter(|word| !word.to_string().contains('=')) {
        add(Act::Reads, Extent::Itself, word, scene, found);
    }
    if let Some(folder) = arguments.values("--output-dir").last() {
        in_folder(folder, scene, found);
    }
    if arguments.has("-O --remote-name --remote-name-all") {
        downloads(operands, arguments.values("--output-dir").last(), scene, found);
    }
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

/// `-v HOST:CONTAINER[:ro]`, `--mount type=bind,src=HOST,…`, `--secret id=x,src=FILE`: what a container sees of this machine.
fn mounts(words: &[Word], scene: &Scene<'_>, found: &mut Effects) {
    let mut before: Option<&str> = None;
    for word in words {
        let given = match word.known().is_none_or(|text| !text.starts_with('-')) {
            true => before.map(|option| (option.to_owned(), word.clone())),
            false => None,
        };
        let joined = word.split_once('=').map(|(option, value)| (option.to_string(), value));
        let short = word
            .strip_prefix("-v")
            .filter(|rest| !rest.pieces.is_empty())
            .map(|rest| ("-v".to_owned(), rest));
        before = word.known();
        let given = given.or(joined.filter(|(option, _)| option.starts_with("--"))).or(short);
        let Some((option, value)) = given else { continue };
        let (host, writes) = match option.as_str() {
            "-v" | "--volume" => {
                let Some((host, rest)) = value.split_once(':') else { continue };
                // Without `/` it is a volume's name.
                let path = matches!(host.pieces.first(), Some(Piece::Home | Piece::Unknown(_)));
                if !path && !host.start().starts_with('.') && !host.start().contains('/') {
                    continue;
                }
                let read_only = rest
                    .to_string()
                    .rsplit(':')
                    .next()
                    .is_some_and(|mode| mode.split(',').any(|part| part == "ro"));
                (host, !read_only)
            }
            "--mount" | "--secret" | "--ssh" => {
                let mut rest = Some(value.clone());
                let mut host = None;
                while let Some(part) = rest.take() {
                    let (field, others) =
                        part.split_once(',').map_or((part, None), |(field, rest)| (field, Some(rest)));
                    host = host.or(["src=", "source="].iter().find_map(|key| field.strip_prefix(key)));
                    rest = others;
                }
                let Some(host) = host else { continue };
                let text = value.to_string();
                if option == "--mount" && !text.contains("type=bind") {
                    continue;
                }
                (host, option == "--mount" && !text.contains("readonly") && !text.ends_with(",ro"))
            }
            _ => continue,
        };
        // Of `$(pwd)` alone nothing is known but that it is common.
        if host.is_open() {
            continue;
        }
        add(Act::Reads, Extent::Below, &host, scene, found);
        if writes && host.unclear().is_none() {
            mention(Act::Writes, Extent::Itself, &host, scene, found);
            // That a project is mounted says nothing of what is written in it.
            if host.known() != Some(".") {
                mention(Act::Writes, Extent::Within, &host, scene, found);
            }
        }
    }
}

/// What a packer makes of a file.
fn unpacked(name: &str, unpacks: bool, word: &Word) -> Option<Word> {
    let suffix = match name {
        "gzip" | "gunzip" => ".gz",
        "bzip2" | "bunzip2" => ".bz2",
        "zstd" | "unzstd" => ".zst",
        _ => ".xz",
    };
    let mut made = word.clone();
    if !unpacks {
        made.push(suffix);
        return Some(made);
    }
    let Some(Piece::Text(text)) = made.pieces.last_mut() else { return None };
    let kept = text.strip_suffix(suffix)?.len();
    text.truncate(kept);
    Some(made)
}

/// The folder into which a repository is copied: named, or called as at the end of its address.
fn cloned(address: &Word, folder: Option<&Word>, scene: &Scene<'_>, found: &mut Effects) {
    let named = || {
        let mut path = within(&Word::text("."), address)?;
        if let Some(Piece::Text(text)) = path.pieces.last_mut() {
            text.truncate(text.strip_suffix(".git").unwrap_or(text).len());
        }
        Some(path)
    };
    let Some(folder) = folder.cloned().or_else(named).filter(|folder| folder.unclear().is_none()) else {
        return;
    };
    add(Act::Writes, Extent::Itself, &folder, scene, found);
    add(Act::Writes, Extent::Within, &folder, scene, found);
}

/// Files of the working tree that `git` prints, or puts in the place of what is there. A revision that is not known is no file.
pub fn git(words: &[Word], arguments: &Arguments<'_>, scene: &Scene<'_>, found: &mut Effects) {
    let [sub, rest @ ..] = arguments.operands.as_slice() else { return };
    let text = arguments.has("-p --patch -u -U --unified -c --cc -W --function-context -G -S");
    let shown = match (sub.known().unwrap_or_default(), rest) {
        ("show" | "diff" | "blame" | "annotate" | "cat-file" | "hash-object", rest) => rest,
        ("archive" | "format-patch", [_, rest @ ..]) => rest,
        ("log" | "whatchanged" | "reflog", rest) if text => rest,
        ("stash", [show, rest @ ..]) if show.known() == Some("show") => rest,
        ("grep", rest) => {
            let pattern = usize::from(!arguments.has("-e -f"));
            tracked(rest.get(pattern..).unwrap_or_default(), scene, found);
            return;
        }
        ("restore", rest) if arguments.has("-W --worktree") || !arguments.has("-S --staged") => {
            for word in rest {
                add(Act::Writes, Extent::Itself, word, scene, found);
                mention(Act::Writes, Extent::Within, word, scene, found);
            }
            return;
        }
        ("clone", [address, rest @ ..]) => {
            cloned(address, rest.first(), scene, found);
            return;
        }
        ("submodule", [add, address, rest @ ..]) if add.known() == Some("add") => {
            cloned(address, rest.first(), scene, found);
            return;
        }
        ("checkout", rest) if !arguments.has("-b -B --orphan") => {
            let paths = words.iter().rposition(|word| word.known() == Some("--"));
            let named = paths.and_then(|at| words.get(at + 1..)).unwrap_or_default();
            for (at, word) in rest.iter().enumerate().filter(|(_, word)| word.unclear().is_none()) {
                // One word alone may be a branch.
                match at > 0 || named.contains(word) {
                    true => {
                        add(Act::Writes, Extent::Itself, word, scene, found);
                        mention(Act::Writes, Extent::Within, word, scene, found);
                    }
                    false if word.is_known_folder() => {
                        mention(Act::Writes, Extent::Within, word, scene, found)
                    }
                    false => mention(Act::Writes, Extent::Itself, word, scene, found),
                }
            }
            return;
        }
        _ => &[],
    };
    let lines = arguments.values("-L").filter_map(|range| Some(range.split_once(':')?.1));
    let lines: Vec<Word> =
        lines.map(|path| path.split_once(':').map_or(path.clone(), |(_, path)| path)).collect();
    for word in shown.iter().chain(&lines).filter(|word| word.unclear().is_none()) {
        add(Act::Reads, Extent::Itself, &of_revision(word), scene, found);
    }
}

/// The path of `REVISION:PATH`, or the word itself.
pub fn of_revision(word: &Word) -> Word {
    word.split_once(':').map(|(_, path)| path).filter(|path| !path.pieces.is_empty()).unwrap_or_else(|| word.clone())
}
