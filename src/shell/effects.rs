//! The table of facts, applied to the words of a command.

use super::call::{Act, Extent, Host, Touch};
use super::choose::choose;
use super::facts::{At, Does, Net, Program, is_foreign, is_shell};
use super::host::host;
use super::options::{Arguments, Style, arguments};
use super::path::Root;
use super::scene::{Effects, Scene, add, environment, mention};
use super::word::{Piece, Word};
use super::{addresses, named, prompt, special, url_glob};

/// The words of a command as its rows read them.
pub fn parsed(rows: &[&'static Program], args: &[Word]) -> (Arguments, Vec<&'static Program>, usize) {
    let style = rows.first().map_or(Style::Gnu, |row| row.style);
    let pairs =
        rows.iter().any(|row| row.names.split(' ').any(|name| name == "jq")).then(|| special::jq(args));
    let args = pairs.as_deref().unwrap_or(args);
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
        let begun: Vec<&str> = rows.iter().flat_map(|row| [row.takes, row.flags]).collect();
        arguments(args, &takes, &knows, &begun, style)
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
    let facts = &scene.root.facts;
    let own = facts.says_all_of(name);
    if matches!(name, "find" | "gfind") && !own {
        special::find(args, scene, &mut found);
        return found;
    }
    if name == "chmod" && !own {
        for file in special::chmod(args) {
            add(Act::Writes, Extent::Itself, &file, scene, &mut found);
        }
        return found;
    }
    let rows = facts.program(name);
    if rows.is_empty() {
        found.opaque = facts.wrappers(name).iter().all(|row| row.besides) && !is_shell(name);
        return found;
    }
    let old = if matches!(name, "tar" | "gtar" | "bsdtar") { special::old_tar(args) } else { None };
    let (mut arguments, chosen, skipped) = parsed(rows, old.as_deref().unwrap_or(args));
    if name == "curl" && !own {
        arguments = url_glob::globbed(arguments);
    }
    let operands = arguments.operands.get(skipped..).unwrap_or_default();
    let files = prompt::files(name, operands);
    let operands = files.as_deref().unwrap_or(operands);
    // Nothing is made where a folder is already.
    let missing: Vec<Word>;
    let operands = match name == "mkdir" && operands.iter().any(Word::is_there) {
        true => {
            missing = operands.iter().filter(|word| !word.is_there()).cloned().collect();
            missing.as_slice()
        }
        false => operands,
    };
    // Where `git -C FOLDER` runs.
    let folder = if name == "git" { special::folder("-C", &arguments, scene) } else { None };
    let scene = &Scene { folder: folder.as_ref().unwrap_or(scene.folder), ..*scene };
    for does in chosen.iter().flat_map(|row| row.does) {
        apply(does, &arguments, operands, scene, &mut found);
    }
    choose(name, &arguments, &mut found);
    // A link leaves everything where it is.
    let is_link = matches!(name, "ln" | "gln" | "link");
    if !is_link && chosen.iter().flat_map(|row| row.does).any(passes_on) {
        whole(&mut found);
    }
    let sub = arguments.operands.first().and_then(Word::known);
    if !own && skipped == 0 && sub.is_some_and(|sub| is_foreign(name, sub)) {
        found.opaque = true;
    }
    if !own {
        special::special(name, &arguments, operands, scene, &mut found);
        named::named(name, args, &arguments, operands, scene, &mut found);
        addresses::addresses(name, args, &arguments, operands, scene, &mut found);
        if name == "git" {
            named::git(args, &arguments, scene, &mut found);
        }
        if chosen.iter().flat_map(|row| row.does).any(is_reaching) {
            named::urls(args, scene, &mut found);
        }
    }
    if let Some(word) = operands.first().filter(|word| skipped == 0 && word.unclear().is_some())
        && rows.iter().any(|row| !row.sub.is_empty() && row.does.iter().any(is_reaching))
    {
        // Nobody knows which subcommand it is.
        found.reaches.push(Host::Unknown(word.to_string()));
    }
    if let Some((at, option)) = arguments.doubtful.as_ref().filter(|(at, _)| skipped == 0 && *at == 0)
        && let Some(rest) = operands.get(at + 1..)
        && rows.iter().any(|row| {
            row.sub.split('|').any(|sub| !sub.is_empty() && leads(rest, sub))
                && row.does.iter().any(is_reaching)
        })
    {
        // The first operand may be the value of an option that is not listed.
        found.reaches.push(Host::Unknown(option.clone()));
    }
    if only_tells(rows, args, &arguments, skipped) {
        return Effects { opaque: found.opaque, ..Effects::default() };
    }
    if !found.reaches.is_empty() {
        let given = operands.iter().filter(|word| is_address(word)).filter_map(|word| host(word, true));
        let through = scene.assigned.iter().filter(|(name, _)| is_proxy(name));
        let through = through.filter_map(|(_, word)| host(word, true));
        let more: Vec<Host> = given.chain(through).filter(|host| !found.reaches.contains(host)).collect();
        found.reaches.extend(more);
    }
    found
}

/// The name and address of a repository that `git remote add` or `set-url` gives one, or `-c remote.NAME.url=URL`.
pub fn remote(args: &[Word], root: &Root) -> Option<(String, Word)> {
    let (arguments, ..) = parsed(root.facts.program("git"), args);
    let set = arguments.values("-c").find_map(|word| {
        let (name, address) = word.split_once('=')?;
        let name = name.known()?.strip_prefix("remote.")?;
        let name = name.strip_suffix(".url").or(name.strip_suffix(".pushurl"))?;
        Some((name.to_owned(), address))
    });
    set.or_else(|| match arguments.operands.as_slice() {
        [config, rest @ ..] if config.known() == Some("config") => {
            let [name, address] = rest.get(rest.len().checked_sub(2)?..)? else { return None };
            let name = name.known()?.strip_prefix("remote.")?;
            let name = name.strip_suffix(".url").or(name.strip_suffix(".pushurl"))?;
            Some((name.to_owned(), address.clone()))
        }
        [remote, verb, name, address, ..]
            if remote.known() == Some("remote") && matches!(verb.known(), Some("add" | "set-url")) =>
        {
            Some((name.known()?.to_owned(), address.clone()))
        }
        _ => None,
    })
}

/// Whether nothing but its help or its version is printed. After an operand, many programs take `--help` for another one, or
/// pass it on.
fn only_tells(rows: &[&'static Program], args: &[Word], arguments: &Arguments, skipped: usize) -> bool {
    let asked = |name: &str, operands: usize| {
        let place = args.iter().position(|word| word.known() == Some(name)).filter(|_| arguments.has(name));
        place.and_then(|place| args.get(..place)).is_some_and(|before| {
            let (before, ..) = parsed(rows, before);
            before.operands.len() <= operands && before.doubtful.is_none() && before.open.is_none()
        })
    };
    asked("--help", skipped) || arguments.operands.is_empty() && asked("--version", 0)
}

/// Whether a word is the address of something on a host.
fn is_address(word: &Word) -> bool {
    let scheme =
        word.start().split_once("://").map(|(scheme, _)| scheme.rsplit('+').next().unwrap_or(scheme));
    scheme.is_some_and(|scheme| {
        matches!(scheme, "http" | "https" | "ftp" | "ftps" | "ssh" | "git" | "oci" | "svn" | "ws" | "wss")
    })
}

/// Whether a variable of the environment names a host through which others are reached.
fn is_proxy(name: &str) -> bool {
    ["http_proxy", "https_proxy", "all_proxy", "ftp_proxy"]
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
}

fn apply(does: &Does, arguments: &Arguments, operands: &[Word], scene: &Scene<'_>, found: &mut Effects) {
    match does {
        Does::With(names, inner) if arguments.may_have(names) => {
            apply(inner, arguments, operands, scene, found)
        }
        Does::Without(names, inner) if !arguments.has(names) => {
            apply(inner, arguments, operands, scene, found)
        }
        Does::With(..) | Does::Without(..) => {}
        Does::In(names, inner) => {
            let folder = special::folder(names, arguments, scene);
            let scene = Scene { folder: folder.as_ref().unwrap_or(scene.folder), ..*scene };
            apply(inner, arguments, operands, &scene, found);
        }
        Does::Opaque => found.opaque = true,
        Does::Reaches(net) => reach(*net, arguments, operands, scene, found),
        Does::Reads(at) => touch(Act::Reads, Extent::Itself, *at, arguments, operands, scene, found),
        Does::ReadsDeep(at) => touch(Act::Reads, Extent::Below, *at, arguments, operands, scene, found),
        Does::Writes(at) => touch(Act::Writes, Extent::Itself, *at, arguments, operands, scene, found),
        Does::WritesDeep(at) => touch(Act::Writes, Extent::Within, *at, arguments, operands, scene, found),
        Does::Deletes(at) => touch(Act::Deletes, Extent::Itself, *at, arguments, operands, scene, found),
        Does::DeletesDeep(at) => touch(Act::Deletes, Extent::Below, *at, arguments, operands, scene, found),
    }
}

fn touch(
    act: Act,
    extent: Extent,
    at: At,
    arguments: &Arguments,
    operands: &[Word],
    scene: &Scene<'_>,
    found: &mut Effects,
) {
    if let (Act::Writes, At::Into(names)) = (act, at) {
        // Where there are several, programs refuse them.
        if let Some(folder) = arguments.values(names).last() {
            into_folder(operands, folder, folder.unclear().is_none(), scene, found);
        }
        return;
    }
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
        At::Value(names) if act == Act::Reads => {
            let (there, here): (Vec<Word>, Vec<Word>) =
                arguments.values(names).cloned().partition(is_address);
            found.reaches.extend(there.iter().filter_map(|word| host(word, true)));
            here
        }
        At::Value(names) => arguments.values(names).cloned().collect(),
        At::Attached(names) => arguments.values(names).filter_map(named::at_value).collect(),
        At::Field(name) => operands.iter().filter_map(|word| word.strip_prefix(name)).collect(),
        At::Here => vec![Word::text(".")],
        At::AllOrHere if operands.is_empty() => vec![Word::text(".")],
        At::AllOrHere => operands.to_vec(),
        At::RestOrHere if operands.len() < 2 => vec![Word::text(".")],
        At::RestOrHere => operands.iter().skip(1).cloned().collect(),
        At::Into(names) => {
            let folder = arguments.values(names).last();
            let within = |folder| operands.iter().filter_map(move |word| special::within(folder, word));
            folder.into_iter().flat_map(within).collect()
        }
        At::Environment if operands.is_empty() => vec![environment(&Word::pattern("*"))],
        At::Environment => operands.iter().map(environment).collect(),
        At::Local => local().cloned().collect(),
        At::LocalLast => operands.last().filter(|word| !is_remote(word)).cloned().into_iter().collect(),
        At::LocalButLast => match operands {
            [rest @ .., _] => rest.iter().filter(|word| !is_remote(word)).cloned().collect(),
            [] => Vec::new(),
        },
    };
    if extent == Extent::Within {
        for word in &words {
            let certain = if word.is_known_folder() { Extent::Inside } else { Extent::Itself };
            add(act, certain, word, scene, found);
        }
        words.iter().for_each(|word| mention(act, extent, word, scene, found));
        return;
    }
    if act == Act::Writes
        && matches!(at, At::Last | At::LocalLast)
        && let ([target], [sources @ .., _]) = (words.as_slice(), operands)
        && !sources.is_empty()
        && !target.many
        && !arguments.has("-T --no-target-directory")
    {
        // A word may stand for none or several.
        let several = sources.iter().filter(|source| !source.many).count() > 1;
        return into_folder(
            sources,
            target,
            (several && target.unclear().is_none()) || target.is_known_folder(),
            scene,
            found,
        );
    }
    words.iter().for_each(|word| add(act, extent, word, scene, found));
}

/// What is written into a folder, or to what is perhaps one: there, files keep their names.
fn into_folder(sources: &[Word], target: &Word, known: bool, scene: &Scene<'_>, found: &mut Effects) {
    if !known {
        add(Act::Writes, Extent::Itself, target, scene, found);
    }
    let certain = known || sources.len() > 1;
    let deep = found.touches.iter().any(|touch| touch.act == Act::Reads && touch.extent == Extent::Below);
    // `cp -r a/. b` and `rsync -r a/ b` write what is in `a`.
    let mut unnamed = deep && sources.iter().any(Word::is_folder);
    for source in sources {
        let Some(name) = special::within(target, source) else {
            unnamed = true;
            continue;
        };
        // A pattern stands for any name, so only the folder says something.
        let open = name.unclear().is_some();
        let extent = if open { Extent::IfFolder } else { Extent::Itself };
        unnamed |= open;
        match certain {
            true => add(Act::Writes, extent, &name, scene, found),
            false => mention(Act::Writes, Extent::IfFolder, &name, scene, found),
        }
        if deep {
            mention(Act::Writes, Extent::Within, &name, scene, found);
        }
    }
    if known && unnamed {
        add(Act::Writes, Extent::Inside, target, scene, found);
    }
    // So does `cp -r a b` where there is no `b`.
    if deep && (!certain || sources.iter().any(Word::is_folder)) {
        mention(Act::Writes, Extent::Within, target, scene, found);
    }
}

/// Whether what a program reads goes on as it is, and is not only searched.
fn passes_on(does: &Does) -> bool {
    match does {
        Does::With(_, inner) | Does::Without(_, inner) | Does::In(_, inner) => passes_on(inner),
        Does::Writes(_) | Does::WritesDeep(_) | Does::Reaches(_) => true,
        Does::Reads(_) | Does::ReadsDeep(_) | Does::Deletes(_) | Does::DeletesDeep(_) | Does::Opaque => false,
    }
}

/// Whether a program opens connections.
fn is_reaching(does: &Does) -> bool {
    match does {
        Does::With(_, inner) | Does::Without(_, inner) | Does::In(_, inner) => is_reaching(inner),
        does => matches!(does, Does::Reaches(_)),
    }
}

/// Of a folder that goes elsewhere with all it holds, nobody knows what that is.
fn whole(found: &mut Effects) {
    let folders =
        found.touches.iter().filter(|touch| touch.act == Act::Reads && touch.extent == Extent::Below);
    let perhaps = folders.map(|touch| Touch { extent: Extent::Whole, ..touch.clone() });
    found.mentions.extend(perhaps.collect::<Vec<_>>());
}

/// Whether a word names a file on another host: `host:path`, or a URL.
fn is_remote(word: &Word) -> bool {
    word.split_once(':').is_some_and(|(host, _)| {
        !host.pieces.is_empty()
            && !host.pieces.iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains('/')))
    })
}

/// The address of a repository that the line has given a name, or the word itself.
fn named<'a>(word: &'a Word, scene: &Scene<'a>) -> &'a Word {
    let known = scene.remotes.iter().rev().find(|(name, _)| word.known() == Some(name));
    known.map_or(word, |(_, address)| address)
}

fn reach(net: Net, arguments: &Arguments, operands: &[Word], scene: &Scene<'_>, found: &mut Effects) {
    let hosts: Vec<Host> = match net {
        Net::Urls => operands.iter().filter_map(|word| host(word, true)).collect(),
        Net::First => operands.first().and_then(|word| host(word, true)).into_iter().collect(),
        Net::Remotes => operands
            .iter()
            .filter_map(|word| match word.pieces.first() {
                _ if is_remote(word) => host(word, true),
                Some(Piece::Unknown(_)) => Some(Host::Unknown(word.to_string())),
                _ => None,
            })
            .collect(),
        Net::Value(names) => arguments.values(names).filter_map(|word| host(word, true)).collect(),
        Net::UrlValue(names) => arguments.values(names).filter_map(|word| host(word, false)).collect(),
        Net::Fixed(name) => vec![Host::Named(Word::text(name))],
        Net::Listed(name) => vec![Host::Unknown(name.to_owned())],
        Net::Elsewhere(name) => vec![Host::Elsewhere(name.to_owned())],
        Net::Default(names, name) => {
            let given: Vec<Host> = arguments.values(names).filter_map(|word| host(word, true)).collect();
            if given.is_empty() { vec![Host::Named(Word::text(name))] } else { given }
        }
        Net::OperandOr(name) => match operands.first().map(|word| named(word, scene)) {
            None => {
                let own = scene.remotes.iter().rev().find(|(name, _)| name == "origin");
                let own = own.and_then(|(_, address)| host(address, true));
                vec![own.unwrap_or_else(|| Host::Elsewhere(name.to_owned()))]
            }
            Some(word) if is_remote(word) => host(word, true).into_iter().collect(),
            Some(word) if word.start().starts_with(['/', '.']) => Vec::new(),
            Some(word) if word.unclear().is_some() => vec![Host::Unknown(word.to_string())],
            _ => vec![Host::Elsewhere(name.to_owned())],
        },
        Net::Variable(name) => {
            let fits = |variable: &str| match name.strip_suffix('*') {
                Some(start) => variable.starts_with(start),
                None => variable == name,
            };
            let set = scene.assigned.iter().filter(|(variable, _)| fits(variable));
            set.filter_map(|(_, word)| host(word, true)).collect()
        }
    };
    for host in hosts {
        if !found.reaches.contains(&host) {
            found.reaches.push(host);
        }
    }
}
