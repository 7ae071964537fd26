//! What the table of facts cannot say of a program.

use super::call::{Act, Extent, Host};
use super::host::host;
use super::options::Arguments;
use super::path::is_relative;
use super::scene::{Effects, Scene, add, environment};
use super::word::{Piece, Word};

/// What a table cannot say.
pub fn special(name: &str, arguments: &Arguments<'_>, operands: &[Word], scene: &Scene<'_>, found: &mut Effects) {
    let all = |found: &mut Effects| {
        add(Act::Reads, Extent::Itself, &environment(&Word::pattern("*")), scene, found)
    };
    match name {
        "set" | "export" | "declare" | "typeset"
            if operands.is_empty() && (name != "set" || arguments.options.is_empty()) =>
        {
            all(found);
        }
        "yarn" | "yarnpkg" | "bundle" | "bundler"
            if arguments.operands.is_empty() && !arguments.has("--version -v --help -h") =>
        {
            found.reaches.push(Host::Elsewhere(format!("the registry of {name}")));
        }
        "curl" => {
            // `FROM:PORT:TO:PORT`, and `NAME:PORT:ADDRESS`.
            for word in arguments.values("--connect-to --resolve") {
                let to = word.split_once(':').and_then(|(_, rest)| rest.split_once(':'));
                found.reaches.extend(to.and_then(|(_, to)| host(&to, true)));
            }
        }
        // `http POST HOST FIELD=VALUE HEADER:VALUE`.
        "http" | "https" | "xh" | "xhs" | "httpie" => {
            let method = |word: &&Word| {
                word.known().is_some_and(|name| {
                    !name.is_empty() && name.chars().all(|letter| letter.is_ascii_uppercase())
                })
            };
            let first = operands.iter().find(|word| !method(word));
            found.reaches = first.and_then(|word| host(word, true)).into_iter().collect();
        }
        "dig" | "nslookup" | "host" | "drill" => {
            // Types and classes are no names.
            found.reaches.retain(|host| !matches!(host, Host::Named(word) if word.known().is_some_and(|name| !name.contains(['.', ':']) && name != "localhost")));
        }
        "ping" => found.reaches.truncate(1),
        "socat" => socat(operands, scene, found),
        "psql" | "pg_dump" | "pg_dumpall" | "pg_restore" | "pg_isready" | "pgbench" | "vacuumdb" => {
            found
                .reaches
                .extend(operands.iter().chain(arguments.values("-d --dbname")).flat_map(connections));
        }
        "mongosh" | "mongo" | "cqlsh" => {
            let addresses = operands.iter().filter(|word| is_dotted(word));
            found.reaches.extend(addresses.filter_map(|word| host(word, true)));
        }
        "docker" | "podman" | "nerdctl" => docker(&arguments.operands, found),
        "ssh" | "autossh" | "scp" | "sftp" => {
            for word in arguments.values("-o").filter_map(|word| {
                let (name, value) = word.split_once('=').or_else(|| word.split_once(' '))?;
                let name = name.known()?.trim().to_lowercase();
                matches!(name.as_str(), "hostname" | "proxyjump").then_some(value)
            }) {
                found.reaches.extend(jumps(&word));
            }
            for word in arguments.values("-J -W") {
                found.reaches.extend(jumps(word));
            }
        }
        _ => {}
    }
}

/// The folder that an option names, from where the command runs.
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

/// What a file is called within a folder: it keeps its name.
pub fn within(folder: &Word, file: &Word) -> Option<Word> {
    let mut named = file.clone();
    if let Some(Piece::Text(text)) = named.pieces.last_mut() {
        text.truncate(text.trim_end_matches('/').len());
    }
    named.pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
    // Of `host:file`, the folder of the file is on another host.
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

/// The hosts of `host=NAME dbname=NAME`.
fn connections(word: &Word) -> Vec<Host> {
    let Some(text) = word.known() else {
        let may = word.start().contains("host");
        return if may { vec![Host::Unknown(word.to_string())] } else { Vec::new() };
    };
    let fields = text.split_whitespace();
    let hosts = fields.filter_map(|field| field.strip_prefix("host=").or(field.strip_prefix("hostaddr=")));
    hosts.flat_map(|hosts| hosts.split(',')).filter_map(|name| host(&Word::text(name), true)).collect()
}

/// Whether what comes before a `/` looks like the name of a host.
fn is_dotted(word: &Word) -> bool {
    let first = word.split_once('/').map_or_else(|| word.clone(), |(first, _)| first);
    first.start().contains(['.', ':'])
}

/// Registries that images name, and where one logs in.
fn docker(operands: &[Word], found: &mut Effects) {
    let at = usize::from(matches!(operands.first().and_then(Word::known), Some("image" | "manifest")));
    let Some((sub, rest)) = operands.get(at..).and_then(<[Word]>::split_first) else { return };
    let hosts = rest.iter().filter(|word| match sub.known() {
        Some("push" | "pull") => word.split_once('/').is_some_and(|(first, _)| is_dotted(&first)),
        Some("login" | "logout") => true,
        _ => false,
    });
    found.reaches.extend(hosts.filter_map(|word| host(word, true)));
}

/// `HOST,USER@HOST:PORT`.
fn jumps(word: &Word) -> Vec<Host> {
    let mut rest = word.clone();
    let mut hosts = Vec::new();
    while let Some((first, others)) = rest.split_once(',') {
        hosts.extend(host(&first, true));
        rest = others;
    }
    hosts.extend(host(&rest, true));
    hosts
}

/// Both addresses of `socat`: `TCP:HOST:PORT`, `EXEC:COMMAND`, `OPEN:FILE`, a file.
fn socat(operands: &[Word], scene: &Scene<'_>, found: &mut Effects) {
    found.reaches.clear();
    for word in operands {
        let address = word.split_once(',').map_or_else(|| word.clone(), |(address, _)| address);
        let Some((kind, rest)) = address.split_once(':') else {
            if address.start().contains('/') {
                add(Act::Reads, Extent::Itself, &address, scene, found);
                add(Act::Writes, Extent::Itself, &address, scene, found);
            } else if address.unclear().is_some() {
                found.reaches.push(Host::Unknown(address.to_string()));
            }
            continue;
        };
        let kind = kind.to_string().to_uppercase();
        let listens =
            ["LISTEN", "RECV", "BIND"].iter().any(|name| kind.contains(name)) || kind.ends_with("-L");
        if matches!(kind.as_str(), "EXEC" | "SYSTEM" | "SHELL") {
            found.opaque = true;
        } else if matches!(kind.as_str(), "OPEN" | "FILE" | "GOPEN" | "CREATE" | "CREAT") {
            add(Act::Reads, Extent::Itself, &rest, scene, found);
            add(Act::Writes, Extent::Itself, &rest, scene, found);
        } else if !listens
            && ["TCP", "UDP", "SCTP", "DCCP", "OPENSSL", "SSL", "SOCKS", "PROXY", "IP"]
                .iter()
                .any(|name| kind.starts_with(name))
        {
            found.reaches.extend(host(&rest, true));
        }
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

/// The patterns of which one fits whatever `find` comes upon; `None` where it may be any name.
fn find_names(args: &[Word]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    // In every part of a choice there is one.
    let mut own = None;
    let mut words = args.iter();
    let mut negated = false;
    while let Some(word) = words.next() {
        match word.known() {
            Some("-o" | "-or" | ",") => names.push(own.take()?),
            Some("!" | "-not") => {
                negated = true;
                continue;
            }
            // What lies in it is not known well enough.
            Some("(") if negated => return None,
            Some(option) if FIND_VALUES.contains(&option) => {
                let value = words.next();
                if option == "-name" && !negated {
                    own = Some(value?.known()?.to_owned());
                }
            }
            _ => {}
        }
        negated = false;
    }
    names.push(own?);
    Some(names)
}

/// The files whose permissions `chmod` widens, or sets: to take some away writes nothing that was not there.
pub fn chmod(args: &[Word]) -> Vec<Word> {
    let is_mode = |word: &&Word| {
        let text = word.start();
        let letters = text.trim_start_matches(['u', 'g', 'o', 'a']);
        letters.starts_with(['+', '-', '='])
            && !text.starts_with("--")
            && !matches!(text, "-R" | "-v" | "-f" | "-c" | "-h")
            || text.starts_with(|letter: char| letter.is_ascii_digit())
    };
    let mode = if args.iter().any(|word| word.start().starts_with("--reference")) {
        None
    } else {
        args.iter().find(is_mode).or_else(|| args.iter().find(|word| !word.start().starts_with('-')))
    };
    let takes_away = mode.and_then(Word::known).is_some_and(|mode| {
        mode.split(',').all(|part| part.trim_start_matches(['u', 'g', 'o', 'a']).starts_with('-'))
    });
    if takes_away {
        return Vec::new();
    }
    let mut left = mode;
    let files = args.iter().filter(|word| {
        let is_it = left.is_some_and(|mode| std::ptr::eq(mode, *word));
        if is_it {
            left = None;
        }
        !is_it && !word.start().starts_with('-')
    });
    files.cloned().collect()
}

/// What `find` may come upon below a folder: the folder's name with what is known of theirs.
pub fn find_hits(args: &[Word]) -> Vec<Word> {
    let names = find_names(args);
    let roots = find_roots(args);
    let below = |root: &Word| match &names {
        Some(names) => hits(root, names),
        None => {
            let mut below = Word { many: false, ..root.clone() };
            below.push("/");
            below.pieces.push(Piece::Unknown("{}".to_owned()));
            vec![below]
        }
    };
    roots.iter().flat_map(below).collect()
}

/// Files of such names in a folder, and below it.
pub fn hits(folder: &Word, names: &[String]) -> Vec<Word> {
    let mut hits = Vec::new();
    for name in names {
        let mut direct = Word { many: false, ..folder.clone() };
        direct.push("/");
        let mut deeper = direct.clone();
        direct.append(&Word::pattern(name));
        hits.push(direct);
        deeper.pieces.push(Piece::Unknown("{}".to_owned()));
        deeper.push("/");
        deeper.append(&Word::pattern(name));
        hits.push(deeper);
    }
    hits
}

/// Whether with this word `find` may leave out some files.
fn narrows(word: &Word) -> bool {
    let plain = [
        "-delete",
        "-print",
        "-print0",
        "-depth",
        "-d",
        "-type",
        "f",
        "-xdev",
        "-mount",
        "-L",
        "-H",
        "-P",
        "-ls",
        "-mindepth",
        "-true",
        "-follow",
        "-noleaf",
    ];
    word.start().starts_with(['-', '!', '('])
        && !plain.contains(&word.start())
        && !word.start().starts_with("-O")
}

pub fn find(args: &[Word], scene: &Scene<'_>, found: &mut Effects) {
    let mut rest = args.iter();
    while let Some(word) = rest.next() {
        match word.known() {
            Some("-delete") => {
                for hit in find_hits(args) {
                    add(Act::Deletes, Extent::Itself, &hit, scene, found);
                }
                let all = !args.iter().any(narrows);
                for root in find_roots(args).iter().filter(|_| all) {
                    add(Act::Deletes, Extent::Below, root, scene, found);
                }
            }
            Some("-fprint" | "-fprint0" | "-fls" | "-fprintf") => {
                if let Some(file) = rest.next() {
                    add(Act::Writes, Extent::Itself, file, scene, found);
                }
            }
            Some(name) if FIND_VALUES.contains(&name) => drop(rest.next()),
            _ => {}
        }
    }
}
