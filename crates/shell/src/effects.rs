//! The table of facts, applied to the words of a command.

use super::Answer;
use super::call::{Act, Extent, Host, SmallCall};
use super::choose::{choose, searched, whole};
use super::facts::{At, Condition, Deed, Depth, Does, Effect, Level, Net, Program, Table, WhenFed, said};
use super::forms::{files, hosts};
use super::host::host;
use super::options::{Arguments, arguments};
use super::path::{TRACKED, UNTRACKED};
use super::readings::{readings, without_splits};
use super::scene::{Effects, Scene, add, environment, mention};
use super::settings::setting_host;
use super::word::{Piece, Word};
use super::{find, url_glob};

/// The effects of the command. An unlisted option may have taken the next word: an effect in only one of the readings
/// is possible, not certain.
pub fn effects(name: &str, args: &[Word], scene: &Scene<'_>) -> Effects {
    let facts = &scene.root.facts;
    let Some(program) = facts.program(name) else {
        return Effects { opaque: true, ..Effects::default() };
    };
    let own = facts.says_all_of(name);
    if program.finds && !own {
        let mut found = Effects::default();
        find::find(program, args, scene, &mut found);
        return found;
    }
    let (readings, more) = readings(program, args);
    let doubt = readings.first().and_then(|first| first.doubtful.as_ref()).map(|(_, option)| option.clone());
    let doubt = doubt.unwrap_or_default();
    let fewer = without_splits(program, args, readings.first());
    let mut readings = readings.into_iter().map(|read| of_reading(name, program, args, read, scene));
    let mut found = readings.next().unwrap_or_default();
    for other in readings {
        found.or(other, &doubt);
    }
    if more {
        let unknown = Word::unknown(&doubt);
        Act::ALL.iter().for_each(|act| mention(*act, Extent::Itself, &unknown, scene, &mut found));
        found.reaches.push(Host::Unknown(doubt));
    }
    if let Some((word, fewer)) = fewer {
        found.perhaps(effects(name, &fewer, scene), &word);
    }
    found
}

/// The effects of the command in one reading of its words.
fn of_reading(
    name: &str,
    program: &Program,
    args: &[Word],
    mut arguments: Arguments<'_>,
    scene: &Scene<'_>,
) -> Effects {
    let own = scene.root.facts.says_all_of(name);
    let mut found = Effects::default();
    if let Some(globs) = program.url_globs.as_ref().filter(|_| !own) {
        arguments = url_glob::globbed(arguments, globs);
    }
    let skipped = arguments.skipped;
    let levels = arguments.levels.clone();
    let operands = arguments.rest();
    // Where `git -C FOLDER` runs.
    let folder = files::folder(arguments.folders(), scene);
    let scene = &Scene { folder: folder.as_ref().unwrap_or(scene.folder), ..*scene };
    // A mounted project does not show what is copied where.
    let (mounts, others): (Vec<&Does>, Vec<&Does>) =
        said(&levels).into_iter().partition(|does| is_mount(does));
    for does in &others {
        apply(does, &arguments, operands, scene, &mut found);
    }
    let is_certain = |does: &&Does| {
        matches!(does.deed, Deed::Chooses(..)) && holds(does, &arguments, operands) == Answer::Yes
    };
    choose(others.iter().copied().filter(is_certain), &arguments, &mut found);
    // A link moves nothing.
    let is_link = others.iter().any(|does| does.deed == Deed::Links && does.conditions.is_empty());
    match others.into_iter().any(passes_on) {
        _ if is_link => {}
        true => whole(&mut found),
        false => searched(&mut found),
    }
    for does in mounts {
        apply(does, &arguments, operands, scene, &mut found);
    }
    let sub = arguments.operands.first().and_then(Word::known);
    if levels.first().is_some_and(|whole| whole.plugins) && skipped == 0 && sub.is_some() {
        found.opaque = true;
    }
    if !own && levels.iter().flat_map(|level| &level.does).any(is_reaching) {
        files::urls(args, scene, &mut found);
    }
    let reaches = |level: &Level| level.does.iter().any(is_reaching);
    if let Some(word) = operands.first().filter(|word| skipped == 0 && word.unclear().is_some())
        && program.levels.iter().skip(1).any(reaches)
    {
        // The subcommand is unknown.
        found.reaches.push(Host::Unknown(word.to_string()));
    }
    if only_tells(program, args, &arguments) {
        return Effects { opaque: found.opaque, ..Effects::default() };
    }
    // Opaque code is reported as such; without a subcommand most programs print their usage.
    let is_bare = program.has_subs() && arguments.operands.is_empty() && arguments.doubtful.is_none();
    if !found.opaque && !is_bare {
        not_said(name, &arguments, scene, &mut found);
    }
    if !found.reaches.is_empty() {
        let given = operands.iter().filter_map(hosts::address);
        let set = arguments.values("-c --config").filter_map(setting_host).filter(|_| program.has_settings());
        let through = scene.assigned.iter().filter(|(name, _)| is_proxy(name));
        let through = through.filter_map(|(_, word)| host(word, true));
        let more: Vec<Host> =
            given.chain(set).chain(through).filter(|host| !found.reaches.contains(host)).collect();
        found.reaches.extend(more);
    }
    found
}

/// Adds effects that the row does not describe: they are unknown.
fn not_said(name: &str, read: &Arguments<'_>, scene: &Scene<'_>, found: &mut Effects) {
    let says = |effect| read.levels.iter().any(|level| level.says(effect));
    let called = || {
        let subs = read.operands.iter().take(read.skipped).map(|word| format!(" {word}"));
        format!("{name}{}", subs.collect::<String>())
    };
    for (name, effect) in Effect::ALL.into_iter().filter(|(_, effect)| !says(*effect)) {
        let what = format!("what {} {name}", called());
        match effect {
            Effect::Files(act) => mention(act, Extent::Itself, &Word::unknown(what), scene, found),
            Effect::Reaches => found.reaches.push(Host::Unknown(what)),
        }
    }
}

/// Whether nothing but its help or its version is printed. After an operand, many programs take `--help` for another one, or
/// pass it on.
fn only_tells(program: &Program, args: &[Word], read: &Arguments<'_>) -> bool {
    let asked = |name: &str, operands: usize| {
        let place = args.iter().position(|word| word.known() == Some(name)).filter(|_| read.has(name));
        place.and_then(|place| args.get(..place)).is_some_and(|before| {
            let before = arguments(program, before);
            before.operands.len() <= operands && before.doubtful.is_none() && before.open.is_none()
        })
    };
    asked("--help", read.skipped) || read.operands.is_empty() && asked("--version", 0)
}

/// Whether a variable of the environment names a host through which others are reached.
fn is_proxy(name: &str) -> bool {
    ["http_proxy", "https_proxy", "all_proxy", "ftp_proxy"]
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
}

/// Whether a command gives a file another name by a link.
pub fn links(call: &SmallCall, facts: &Table) -> bool {
    let Some(program) = call.program.known().and_then(|name| facts.program(name)) else { return false };
    let read = arguments(program, &call.args);
    let mut does = read.levels.iter().flat_map(|level| &level.does);
    does.any(|does| does.deed == Deed::Links && holds(does, &read, read.rest()) == Answer::Yes)
}

/// Whether all conditions hold. The place of the effect is not a condition.
pub fn holds(does: &Does, arguments: &Arguments<'_>, operands: &[Word]) -> Answer {
    let one = |condition: &Condition| match condition {
        Condition::With(names) => arguments.may_have(names),
        Condition::Without(names) => arguments.in_force(names).inverse(),
        Condition::Bare(letters) => arguments.bare.contains(|letter| letters.contains(letter)).into(),
        Condition::Alone => operands.is_empty().into(),
        Condition::Named => (!operands.is_empty()).into(),
        Condition::Several => (operands.len() > 1 || operands.iter().any(|word| word.many)).into(),
        Condition::In(_) => Answer::Yes,
    };
    does.conditions.iter().fold(Answer::Yes, |answer, condition| answer.and(|| one(condition)))
}

fn apply(does: &Does, arguments: &Arguments<'_>, operands: &[Word], scene: &Scene<'_>, found: &mut Effects) {
    match holds(does, arguments, operands) {
        Answer::No => {}
        Answer::Yes => done(does, arguments, operands, scene, found),
        Answer::Perhaps(word) | Answer::Sweep(word) => {
            let mut own = Effects::default();
            done(does, arguments, operands, scene, &mut own);
            found.perhaps(own, &word);
        }
    }
}

fn done(does: &Does, arguments: &Arguments<'_>, operands: &[Word], scene: &Scene<'_>, found: &mut Effects) {
    let folder = does.conditions.iter().find_map(|condition| match condition {
        Condition::In(names) => files::folder(arguments.values_of(names), scene),
        _ => None,
    });
    let scene = &Scene { folder: folder.as_ref().unwrap_or(scene.folder), ..*scene };
    match &does.deed {
        Deed::Opaque => found.opaque = true,
        Deed::Links | Deed::Chooses(..) => {}
        Deed::Reaches(net) => reach(net, arguments, operands, scene, found),
        Deed::Files(act, depth, at) => {
            let extent = match (depth, act) {
                (Depth::Itself, _) => Extent::Itself,
                (Depth::Below, Act::Writes) => Extent::Within,
                (Depth::Below, Act::Reads | Act::Deletes) => Extent::Below,
            };
            touch(*act, extent, at, arguments, operands, scene, found)
        }
    }
}

fn touch(
    act: Act,
    extent: Extent,
    at: &At,
    arguments: &Arguments<'_>,
    operands: &[Word],
    scene: &Scene<'_>,
    found: &mut Effects,
) {
    if let (Act::Writes, At::Into(names)) = (act, at) {
        // Programs refuse several of them.
        if let Some(folder) = arguments.values_of(names).last() {
            into_folder(operands, folder, folder.unclear().is_none(), scene, found);
        }
        return;
    }
    // Files that only the row names are there, not here.
    if scene.elsewhere && matches!(at, At::Fixed(_) | At::Below(_) | At::Tracked | At::Untracked) {
        return;
    }
    if files::touched(act, at, arguments, operands, scene, found) {
        return;
    }
    let local = || operands.iter().filter(|word| !is_remote(word));
    let words: Vec<Word> = match at {
        At::All => operands.to_vec(),
        At::First => operands.first().cloned().into_iter().collect(),
        At::Rest => match operands {
            // The first one may be any number of words.
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
                arguments.values_of(names).cloned().partition(hosts::is_url);
            found.reaches.extend(there.iter().filter_map(|word| host(word, true)));
            here
        }
        At::Value(names) => arguments.values_of(names).cloned().collect(),
        At::Field(name) => operands.iter().filter_map(|word| word.strip_prefix(name)).collect(),
        At::Here => vec![Word::text(".")],
        At::AllOrHere(WhenFed::ReadsIt) if operands.is_empty() && scene.fed => Vec::new(),
        At::AllOrHere(_) if operands.is_empty() => vec![Word::text(".")],
        At::AllOrHere(_) => operands.to_vec(),
        At::RestOrHere(WhenFed::ReadsIt) if operands.len() < 2 && scene.fed => Vec::new(),
        At::RestOrHere(_) if operands.len() < 2 => vec![Word::text(".")],
        At::RestOrHere(_) => operands.iter().skip(1).cloned().collect(),
        At::Into(names) => {
            let folder = arguments.values_of(names).last();
            let within = |folder| operands.iter().filter_map(move |word| files::within(folder, word));
            folder.into_iter().flat_map(within).collect()
        }
        At::Environment if operands.is_empty() => vec![environment(&Word::pattern("*"))],
        At::Environment => operands.iter().map(environment).collect(),
        At::Local => local().cloned().collect(),
        At::LocalLast => operands.last().filter(|word| !is_remote(word)).cloned().into_iter().collect(),
        At::Tracked => vec![files::below(&Word::unknown(TRACKED))],
        At::Untracked if operands.is_empty() => vec![files::below(&Word::unknown(UNTRACKED))],
        At::Untracked => operands.to_vec(),
        At::Fixed(path) => vec![files::at_home(path)],
        At::Below(glob) => find::hits(&Word::text("."), std::slice::from_ref(glob)),
        At::LocalButLast => match operands {
            [rest @ .., _] => rest.iter().filter(|word| !is_remote(word)).cloned().collect(),
            [] => Vec::new(),
        },
        form => files::words(form, arguments, operands),
    };
    if extent == Extent::Within {
        for word in &words {
            if !word.is_known_folder() {
                add(act, Extent::Itself, word, scene, found);
            }
            add(act, extent, word, scene, found);
        }
        return;
    }
    if act == Act::Writes
        && matches!(at, At::Last | At::LocalLast)
        && let ([target], [sources @ .., _]) = (words.as_slice(), operands)
        && !sources.is_empty()
        && !target.many
        && !arguments.has("-T --no-target-directory")
    {
        // A word may expand to none or several.
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

/// Files written into a folder, or into what may be one: there, files keep their names.
fn into_folder(sources: &[Word], target: &Word, known: bool, scene: &Scene<'_>, found: &mut Effects) {
    if !known {
        add(Act::Writes, Extent::Itself, target, scene, found);
    }
    let certain = known || sources.len() > 1;
    let deep = found.touches.iter().any(|touch| touch.act == Act::Reads && touch.extent == Extent::Below);
    // `cp -r a/. b` and `rsync -r a/ b` write the contents of `a`.
    let mut unnamed = deep && sources.iter().any(Word::is_folder);
    for source in sources {
        let Some(name) = files::within(target, source) else {
            unnamed = true;
            continue;
        };
        // A pattern matches any name, so only the folder is certain.
        let open = name.unclear().is_some();
        let extent = if open { Extent::IfFolder } else { Extent::Itself };
        unnamed |= open;
        let within = match certain {
            true => {
                add(Act::Writes, extent, &name, scene, found);
                Extent::Within
            }
            false => {
                mention(Act::Writes, Extent::IfFolder, &name, scene, found);
                Extent::WithinIfFolder
            }
        };
        if deep {
            mention(Act::Writes, within, &name, scene, found);
        }
    }
    if deep && sources.iter().any(Word::is_folder) {
        add(Act::Writes, Extent::Within, target, scene, found);
    } else if known && unnamed {
        add(Act::Writes, Extent::Inside, target, scene, found);
    } else if deep && !certain {
        // So does `cp -r a b` if there is no `b`.
        mention(Act::Writes, Extent::WithinIfFolder, target, scene, found);
    }
}

/// Whether a program passes on what it reads as it is, and does not only search it.
fn passes_on(does: &Does) -> bool {
    matches!(does.deed, Deed::Files(Act::Writes, ..) | Deed::Reaches(_))
}

fn is_mount(does: &Does) -> bool {
    matches!(does.deed, Deed::Files(_, _, At::Mounts(_)))
}

/// Whether a program opens connections.
fn is_reaching(does: &Does) -> bool {
    matches!(does.deed, Deed::Reaches(_))
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

fn reach(net: &Net, arguments: &Arguments<'_>, operands: &[Word], scene: &Scene<'_>, found: &mut Effects) {
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
        Net::UrlValue(names) => arguments.values_of(names).filter_map(|word| host(word, false)).collect(),
        Net::Fixed(name) => vec![Host::Named(Word::text(name.as_str()))],
        Net::Listed(name) => vec![Host::Unknown(name.clone())],
        Net::Elsewhere(name) => vec![Host::Elsewhere(name.clone())],
        Net::Value(names, default) => {
            let mut hosts: Vec<Host> =
                arguments.values_of(names).filter_map(|word| host(word, true)).collect();
            if hosts.is_empty() {
                hosts.extend(default.iter().map(|name| Host::Named(Word::text(name.as_str()))));
            }
            hosts
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
        form => hosts::hosts(form, arguments, operands, scene),
    };
    for host in hosts {
        if !found.reaches.contains(&host) {
            found.reaches.push(host);
        }
    }
}
