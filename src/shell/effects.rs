//! The table of facts, applied to the words of a command.

use super::call::{Act, Host, Touch};
use super::facts::{self, At, Does, Net, Program};
use super::options::{Arguments, Style, arguments};
use super::path::{ENVIRONMENT, Place, Root};
use super::word::{Piece, Word};

/// What a command does.
#[derive(Debug, Default)]
pub struct Effects {
    /// The files it works on.
    pub touches: Vec<Touch>,
    /// The hosts it connects to.
    pub reaches: Vec<Host>,
    /// Whether what it does is written elsewhere.
    pub opaque: bool,
}

/// Where a command runs.
pub struct Scene<'s> {
    /// Its folder.
    pub folder: &'s Word,
    /// Where the session began.
    pub root: &'s Root,
    /// Variables set for it.
    pub assigned: &'s [(String, Word)],
}

/// The words of a command as its rows read them.
pub fn parsed(rows: &[&'static Program], args: &[Word]) -> (Arguments, Vec<&'static Program>, usize) {
    let style = rows.first().map_or(Style::Gnu, |row| row.style);
    // `cargo +nightly test`.
    let args = match args {
        [first, rest @ ..]
            if first.start().starts_with('+') && rows.iter().any(|row| row.names == "cargo") =>
        {
            rest
        }
        args => args,
    };
    let read = |rows: &[&'static Program]| {
        let takes: Vec<&str> = rows.iter().map(|row| row.takes).collect();
        let knows = |name: &str| rows.iter().any(|row| row.flags.split([' ', '=']).any(|flag| flag == name));
        arguments(args, &takes, &knows, style)
    };
    let general: Vec<&Program> = rows.iter().filter(|row| row.sub.is_empty()).copied().collect();
    let first = read(&general);
    let mut chosen = general;
    let mut skipped = 0;
    for row in rows.iter().filter(|row| !row.sub.is_empty()) {
        let lengths =
            row.sub.split('|').filter(|sub| leads(&first.operands, sub)).map(|sub| sub.split(' ').count());
        if let Some(length) = lengths.max() {
            chosen.push(row);
            skipped = skipped.max(length);
        }
    }
    let arguments = if skipped > 0 { read(&chosen) } else { first };
    (arguments, chosen, skipped)
}

fn leads(operands: &[Word], sub: &str) -> bool {
    sub.split(' ').enumerate().all(|(at, wanted)| operands.get(at).and_then(Word::known) == Some(wanted))
}

/// What the command does.
pub fn effects(name: &str, args: &[Word], scene: &Scene<'_>) -> Effects {
    let mut found = Effects::default();
    if matches!(name, "find" | "gfind") {
        find(args, scene, &mut found);
        return found;
    }
    let rows = facts::program(name);
    if rows.is_empty() {
        found.opaque = facts::wrappers(name).next().is_none() && !facts::is_shell(name);
        return found;
    }
    let (arguments, chosen, skipped) = parsed(rows, args);
    let operands = arguments.operands.get(skipped..).unwrap_or_default();
    for does in chosen.iter().flat_map(|row| row.does) {
        apply(does, &arguments, operands, scene, &mut found);
    }
    special(name, &arguments, operands, scene, &mut found);
    found
}

fn apply(does: &Does, arguments: &Arguments, operands: &[Word], scene: &Scene<'_>, found: &mut Effects) {
    match does {
        Does::With(names, inner) if arguments.has(names) => apply(inner, arguments, operands, scene, found),
        Does::Without(names, inner) if !arguments.has(names) => {
            apply(inner, arguments, operands, scene, found)
        }
        Does::With(..) | Does::Without(..) => {}
        Does::Opaque => found.opaque = true,
        Does::Reaches(net) => reach(*net, arguments, operands, scene, found),
        Does::Reads(at) => touch(Act::Reads, false, *at, arguments, operands, scene, found),
        Does::Writes(at) => touch(Act::Writes, false, *at, arguments, operands, scene, found),
        Does::Deletes(at) => touch(Act::Deletes, false, *at, arguments, operands, scene, found),
        Does::DeletesDeep(at) => touch(Act::Deletes, true, *at, arguments, operands, scene, found),
    }
}

/// Files that stand for no file.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "-"];

/// Adds a file.
pub fn add(act: Act, deep: bool, word: &Word, scene: &Scene<'_>, found: &mut Effects) {
    if word
        .known()
        .is_some_and(|name| DEVICES.contains(&name) || name.is_empty() || name.starts_with("/dev/fd/"))
    {
        return;
    }
    found.touches.push(Touch { act, place: Place::new(word, scene.folder, scene.root), deep });
}

fn touch(
    act: Act,
    deep: bool,
    at: At,
    arguments: &Arguments,
    operands: &[Word],
    scene: &Scene<'_>,
    found: &mut Effects,
) {
    let local = || operands.iter().filter(|word| !is_remote(word));
    let words: Vec<Word> = match at {
        At::All => operands.to_vec(),
        At::First => operands.first().cloned().into_iter().collect(),
        At::Rest => match operands {
            // Nobody knows how many words the first one is.
            [first, ..] if first.many => operands.to_vec(),
            _ => operands.iter().skip(1).cloned().collect(),
        },
        At::Last => {
            operands.last().filter(|last| operands.len() > 1 || last.many).cloned().into_iter().collect()
        }
        At::ButLast => match operands {
            [only] if only.many => vec![only.clone()],
            [rest @ .., _] => rest.to_vec(),
            [] => Vec::new(),
        },
        At::Value(names) => arguments.values(names).cloned().collect(),
        At::Attached(names) => arguments.values(names).filter_map(at_value).collect(),
        At::Field(name) => operands.iter().filter_map(|word| word.strip_prefix(name)).collect(),
        At::Environment if operands.is_empty() => vec![environment(&Word::pattern("*"))],
        At::Environment => operands.iter().map(environment).collect(),
        At::Local => local().cloned().collect(),
        At::LocalLast => operands.last().filter(|word| !is_remote(word)).cloned().into_iter().collect(),
        At::LocalButLast => match operands {
            [rest @ .., _] => rest.iter().filter(|word| !is_remote(word)).cloned().collect(),
            [] => Vec::new(),
        },
    };
    words.iter().for_each(|word| add(act, deep, word, scene, found));
}

fn environment(name: &Word) -> Word {
    let mut word = Word::text(ENVIRONMENT);
    word.append(name);
    word
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

/// Whether a word names a file on another host: `host:path`, or a URL.
fn is_remote(word: &Word) -> bool {
    word.split_once(':').is_some_and(|(host, _)| {
        !host.pieces.is_empty()
            && !host.pieces.iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains('/')))
    })
}

fn reach(net: Net, arguments: &Arguments, operands: &[Word], scene: &Scene<'_>, found: &mut Effects) {
    let hosts: Vec<Host> = match net {
        Net::Urls => operands.iter().filter_map(|word| host(word, true)).collect(),
        Net::First => operands.first().and_then(|word| host(word, true)).into_iter().collect(),
        Net::Remotes => {
            operands.iter().filter(|word| is_remote(word)).filter_map(|word| host(word, true)).collect()
        }
        Net::Value(names) => arguments.values(names).filter_map(|word| host(word, true)).collect(),
        Net::UrlValue(names) => arguments.values(names).filter_map(|word| host(word, false)).collect(),
        Net::Fixed(name) => vec![Host::Named(Word::text(name))],
        Net::Elsewhere(name) => vec![Host::Elsewhere(name.to_owned())],
        Net::Default(names, name) => {
            let given: Vec<Host> = arguments.values(names).filter_map(|word| host(word, true)).collect();
            if given.is_empty() { vec![Host::Named(Word::text(name))] } else { given }
        }
        Net::OperandOr(name) => match operands.first() {
            Some(word) if is_remote(word) => host(word, true).into_iter().collect(),
            Some(word) if word.start().starts_with(['/', '.']) => Vec::new(),
            Some(word) if word.unclear().is_some() => vec![Host::Unknown(word.to_string())],
            _ => vec![Host::Elsewhere(name.to_owned())],
        },
        Net::Variable(name) => {
            let set = scene.assigned.iter().filter(|(variable, _)| variable == name);
            set.filter_map(|(_, word)| host(word, true)).collect()
        }
    };
    found.reaches.extend(hosts);
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
    } else if rest.to_string().matches(':').count() < 2
        && let Some((name, _)) = rest.split_once(':')
    {
        rest = name;
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

/// What a table cannot say.
fn special(name: &str, arguments: &Arguments, operands: &[Word], scene: &Scene<'_>, found: &mut Effects) {
    let all = |found: &mut Effects| add(Act::Reads, false, &environment(&Word::pattern("*")), scene, found);
    match name {
        "set" | "export" | "declare" | "typeset"
            if operands.is_empty() && (name != "set" || arguments.options.is_empty()) =>
        {
            all(found);
        }
        // The archives of the old form: `tar czf out.tgz dir`.
        "tar" | "gtar" | "bsdtar" if arguments.options.is_empty() => {
            if let [letters, file, rest @ ..] = operands
                && let Some(letters) = letters.known().filter(|letters| letters.contains('f'))
            {
                let writes = letters.contains(['c', 'r', 'u']);
                add(if writes { Act::Writes } else { Act::Reads }, false, file, scene, found);
                rest.iter().filter(|_| writes).for_each(|word| add(Act::Reads, false, word, scene, found));
            }
        }
        "awk" | "gawk" | "mawk" | "nawk"
            if operands.first().is_some_and(|code| {
                code.to_string().contains(['|', '>']) || code.to_string().contains("system(")
            }) =>
        {
            found.opaque = true;
        }
        "dig" | "nslookup" | "host" | "drill" => {
            // Types and classes are no names.
            found.reaches.retain(|host| !matches!(host, Host::Named(word) if word.known().is_some_and(|name| !name.contains(['.', ':']) && name != "localhost")));
        }
        "ping" => found.reaches.truncate(1),
        _ => {}
    }
}

/// Words of `find` that take values.
const FIND_VALUES: [&str; 30] = [
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-regex",
    "-iregex",
    "-type",
    "-size",
    "-mtime",
    "-mmin",
    "-atime",
    "-ctime",
    "-newer",
    "-user",
    "-group",
    "-perm",
    "-maxdepth",
    "-mindepth",
    "-printf",
    "-fstype",
    "-links",
    "-inum",
    "-amin",
    "-cmin",
    "-lname",
    "-samefile",
    "-xtype",
    "-regextype",
    "-anewer",
];

/// The folders in which `find` looks.
pub fn find_roots(args: &[Word]) -> Vec<Word> {
    let options = |word: &&Word| matches!(word.known(), Some("-L" | "-H" | "-P"));
    let ends = |word: &&Word| !word.start().starts_with(['-', '(', '!']);
    let roots: Vec<Word> = args.iter().skip_while(options).take_while(ends).cloned().collect();
    if roots.is_empty() { vec![Word::text(".")] } else { roots }
}

/// What `find` may come upon below a folder: the folder's name with what is known of theirs.
pub fn find_hits(args: &[Word]) -> Vec<Word> {
    let mut name = None;
    let mut choices = false;
    for pair in args.windows(2) {
        if let [option, value] = pair {
            choices |= matches!(option.known(), Some("-o" | "-or" | "-not" | "!"));
            if option.known() == Some("-name") {
                name = value.known().map(str::to_owned);
            }
        }
    }
    let name = name.filter(|_| !choices);
    let mut hits = Vec::new();
    for root in find_roots(args) {
        let mut below = root.clone();
        below.many = false;
        match &name {
            Some(name) => {
                let mut direct = below.clone();
                direct.push("/");
                direct.append(&Word::pattern(name));
                hits.push(direct);
                below.push("/");
                below.pieces.push(Piece::Unknown("{}".to_owned()));
                below.push("/");
                below.append(&Word::pattern(name));
                hits.push(below);
            }
            None => {
                below.push("/");
                below.pieces.push(Piece::Unknown("{}".to_owned()));
                hits.push(below);
            }
        }
    }
    hits
}

fn find(args: &[Word], scene: &Scene<'_>, found: &mut Effects) {
    let mut rest = args.iter();
    while let Some(word) = rest.next() {
        match word.known() {
            Some("-delete") => {
                for hit in find_hits(args) {
                    add(Act::Deletes, false, &hit, scene, found);
                }
                for root in
                    find_roots(args).iter().filter(|_| !args.iter().any(|word| word.known() == Some("-name")))
                {
                    add(Act::Deletes, true, root, scene, found);
                }
            }
            Some("-fprint" | "-fprint0" | "-fls" | "-fprintf") => {
                if let Some(file) = rest.next() {
                    add(Act::Writes, false, file, scene, found);
                }
            }
            Some(name) if FIND_VALUES.contains(&name) => drop(rest.next()),
            _ => {}
        }
    }
}
