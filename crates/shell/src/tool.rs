//! From a call of an agent's tool to small calls: a command line, or one call with the effects of the tool's row.

use serde_json::{Map, Value};

use super::call::{Act, Extent, Host, Line, SmallCall, Touch};
use super::choice::Choice;
use super::choose::apply;
use super::code;
use super::facts::{Role, Table, Tool};
use super::given::{all_texts, first, get, is_same, may_hold, path, pattern, texts};
use super::host::{host, is_loose};
use super::patch;
use super::path::{Place, Root, is_relative};
use super::scene::Effects;
use super::unlisted;
use super::walk::{read, read_in, read_words};
use super::word::Word;

/// Whether a call of a tool can match a key.
pub fn can(facts: &Table, name: &str, key: &str) -> bool {
    let Some(row) = facts.tool(name) else { return true };
    row.does.iter().any(|argument| match argument.role {
        Role::Command => true,
        Role::Reaches => key == "reaches",
        role => acts(role).iter().any(|act| act.name() == key),
    }) || matches!(key, "agent" | "ended")
}

/// The actions on the files of an argument.
fn acts(role: Role) -> &'static [Act] {
    match role {
        Role::Reads | Role::Searches => &[Act::Reads],
        Role::Writes => &[Act::Writes],
        Role::Deletes => &[Act::Deletes],
        Role::Patch => &[Act::Writes, Act::Deletes],
        Role::Command | Role::Folder | Role::Reaches => &[],
    }
}

/// Whether a tool is known to run the command that is its argument.
pub fn runs_commands(facts: &Table, name: &str) -> bool {
    facts.tool(name).is_some_and(|row| row.has(Role::Command))
}

/// A call that reads the file that another one is about, of a tool that was called before or else of the best known one.
pub fn reading<'n>(
    facts: &Table,
    tool: &str,
    given: &Value,
    mut earlier: impl Iterator<Item = &'n str>,
) -> Option<(&'n str, Value)> {
    let is_file = |role: &Role| matches!(role, Role::Reads | Role::Writes | Role::Deletes);
    let mut files = facts.tool(tool)?.does.iter().filter(|argument| is_file(&argument.role));
    let (key, file) = files.find_map(|argument| {
        argument.names.iter().find_map(|name| Some((name, given.get(name)?.as_str()?)))
    })?;
    let keys = |tool: &str| match facts.tool(tool)?.does.as_slice() {
        [only] if only.role == Role::Reads => Some(&only.names),
        _ => None,
    };
    let (tool, keys) = earlier.find_map(|tool| Some((tool, keys(tool)?))).or_else(|| {
        let best = "Read";
        Some((best, keys(best)?))
    })?;
    let key = keys.iter().find(|own| *own == key).or_else(|| keys.first())?;
    Some((tool, serde_json::json!({ key: file })))
}

/// The argument of a tool that takes the command, by its usual name; `None`: the tool is known to run none.
pub fn command_argument<'f>(facts: &'f Table, name: &str) -> Option<&'f str> {
    let Some(row) = facts.tool(name) else { return Some("command") };
    row.named(Role::Command).next()
}

/// The arguments of a call that determine its effects; `None`: any of them may.
pub fn looks_at(facts: &Table, name: &str, arguments: Option<&Value>) -> Option<Vec<String>> {
    let row = facts.tool(name)?;
    let given = arguments.and_then(Value::as_object)?;
    let names = row.does.iter().flat_map(|argument| argument.names.iter().map(String::as_str));
    let names: Vec<&str> = names.chain(BACKGROUND).chain(CHOOSE_FILES.split(' ')).collect();
    let (own, others): (Vec<&String>, Vec<&String>) =
        given.keys().partition(|key| names.iter().any(|name| is_same(key, name)));
    // If none of them is present, others may name what the tool works on.
    let known = row.does.is_empty() || others.is_empty() || !own.is_empty();
    let unlisted = |key: &String| {
        let mut paths = unlisted::paths(row, given).map(|(key, _)| key);
        !row.does.is_empty() && (paths.any(|other| other == key) || unlisted::folder(row, given) == Some(key))
    };
    let others =
        others.into_iter().filter(|key| row.editor && *key == CHOOSES_ACT || *key == MODE || unlisted(key));
    known.then(|| own.into_iter().chain(others).cloned().collect())
}

/// The argument of an editor that names its command: one of the commands only shows a file, the others only change it.
const CHOOSES_ACT: &str = "command";

/// The commands of such an editor that change a file and show nothing of it.
const EDITS: [&str; 4] = ["create", "str_replace", "insert", "undo_edit"];

/// Arguments of searches that choose files by their names.
const CHOOSE_FILES: &str = "glob globs include includes include_pattern file_pattern";

/// Arguments for running a command in the background.
const BACKGROUND: [&str; 5] = ["run_in_background", "is_background", "background", "async", "detach"];

/// An argument that does so with one of its values.
const MODE: &str = "mode";
const ASYNC: &str = "async";

/// The tool that applies patches.
const PATCHES: &str = "apply_patch";

/// The effects of a call of a tool, without caching. There is always at least one small call.
pub fn of_call(name: &str, arguments: Option<&Value>, root: &Root) -> Line {
    let none = Map::new();
    let given = arguments.and_then(Value::as_object).unwrap_or(&none);
    let row = root.facts.tool(name);
    let patch = |text: &str| {
        let input = serde_json::json!({ "input": text });
        call(PATCHES, root.facts.tool(PATCHES), Some(&input), input.as_object().unwrap_or(&none), root)
    };
    if let Some(line) = code::line(name, given, root, patch, blank) {
        return line;
    }
    let runs = row.is_some_and(|row| row.has(Role::Command));
    let found = match (row, arguments) {
        // An unlisted tool with a command runs it.
        (None, _) => {
            first(given, "command cmd command_line shell_command".split(' ')).map(|(_, value)| value)
        }
        (Some(_), Some(Value::String(_) | Value::Array(_))) if runs => arguments,
        (Some(row), _) => first(given, row.named(Role::Command)).map(|(_, value)| value),
    };
    let mut line = match found {
        Some(found) if row.is_some_and(|row| row.types) => typed(found, root),
        Some(found) => commands(found, row, given, root),
        // It has something under an unlisted name.
        None if runs && may_hold(given, false) => unknown("the command"),
        None => Line::default(),
    };
    let does_more =
        |row: &Tool| row.does.iter().any(|argument| !matches!(argument.role, Role::Command | Role::Folder));
    if line.calls.is_empty() || row.is_none_or(does_more) {
        line.calls.push(call(name, row, arguments, given, root));
    }
    if row.is_some_and(|row| row.starts) {
        line.calls.iter_mut().for_each(|call| call.proven = false);
    }
    line
}

/// A command line, or a list of words.
fn commands(command: &Value, row: Option<&Tool>, given: &Map<String, Value>, root: &Root) -> Line {
    let folder = row.and_then(|row| first(given, row.named(Role::Folder))?.1.as_str());
    let unlisted = row.and_then(|row| unlisted::folder(row, given)).map(Word::unknown);
    let folder = folder.filter(|folder| !folder.is_empty()).map(|folder| {
        let own = path(folder);
        if !is_relative(&own) {
            return own;
        }
        let mut whole = root.here();
        whole.push("/");
        whole.append(&own);
        whole
    });
    let folder = folder.or(unlisted);
    let mut line = match command {
        Value::String(text) => read_in(text, folder.as_ref(), root),
        Value::Array(items) => {
            let words: Option<Vec<String>> =
                items.iter().map(|item| Some(item.as_str()?.to_owned())).collect();
            match words {
                Some(words) => read_words(&words, folder.as_ref(), root),
                None => unknown(&command.to_string()),
            }
        }
        other => unknown(&other.to_string()),
    };
    // A background command has not succeeded when the call has.
    let goes_on = |name: &&str| get(given, name).is_some_and(|(_, value)| *value != Value::Bool(false));
    if BACKGROUND.iter().any(goes_on) || given.get(MODE).is_some_and(|mode| mode == ASYNC) {
        line.calls.iter_mut().for_each(|call| call.proven = false);
    }
    line
}

/// The effects of text typed into a running program: commands, if that is a shell. They have not ended with the call.
fn typed(keys: &Value, root: &Root) -> Line {
    let Some(text) = keys.as_str() else { return unknown(&keys.to_string()) };
    let lines: String =
        text.replace('\r', "\n").chars().filter(|key| *key == '\n' || !key.is_control()).collect();
    let mut line = read(&lines, root);
    for call in &mut line.calls {
        call.doubt.get_or_insert_with(|| "the program that reads it".to_owned());
        call.proven = false;
    }
    line
}

/// A command that is no text: it may do anything.
fn unknown(command: &str) -> Line {
    let word: String = command.chars().take(60).collect();
    let call = SmallCall { program: Word::unknown(&word), unclear: Some(word), ..blank() };
    Line { calls: vec![call], problem: Some("the command is not a text".to_owned()) }
}

/// A call that does nothing, in the folder of the session.
fn blank() -> SmallCall {
    SmallCall { program: Word::text(""), folder: Word::text("."), proven: true, ..SmallCall::default() }
}

/// The call of a tool that runs no command.
fn call(
    name: &str,
    row: Option<&Tool>,
    arguments: Option<&Value>,
    given: &Map<String, Value>,
    root: &Root,
) -> SmallCall {
    let mut call = blank();
    let here = root.here();
    let touch = |act, word: &Word, extent| Touch { act, place: Place::new(word, &here, root), extent };
    // Arguments that are not an object may hold anything.
    let odd = arguments.is_some_and(|arguments| !arguments.is_object() && !arguments.is_null());
    let unknown = |act, what: &str| touch(act, &Word::unknown(what), Extent::Itself);
    let Some(row) = row else {
        foreign(name, given, odd, &mut call, touch);
        return call;
    };
    let chosen = given.get(CHOOSES_ACT).and_then(Value::as_str).filter(|_| row.editor);
    let views = chosen == Some("view");
    let edits = chosen.is_some_and(|chosen| EDITS.contains(&chosen));
    let unsure = row.editor && !views && !edits;
    for argument in &row.does {
        let names = || argument.names.iter().map(String::as_str);
        let act = match argument.role {
            Role::Reads if edits => continue,
            Role::Reads => Act::Reads,
            Role::Writes if views => continue,
            Role::Writes => Act::Writes,
            Role::Deletes => Act::Deletes,
            Role::Searches => {
                if odd || first(given, names()).is_none() && may_hold(given, true) {
                    call.mentions.push(unknown(Act::Reads, "the folder"));
                }
                search(given, names(), &mut call, touch);
                continue;
            }
            Role::Reaches if argument.is_anywhere() => {
                call.reaches.push(Host::Elsewhere(name.to_owned()));
                continue;
            }
            Role::Reaches => {
                reach(given, names(), &mut call);
                continue;
            }
            Role::Patch => {
                let text = arguments.filter(|whole| whole.is_string());
                let patch = text.or_else(|| first(given, names()).map(|(_, value)| value));
                let found = patch.map(patched).unwrap_or_default();
                if found.is_empty() {
                    call.unclear = Some(name.to_owned());
                }
                call.touches.extend(found.iter().map(|(act, file)| touch(*act, &path(file), Extent::Itself)));
                continue;
            }
            Role::Command | Role::Folder => continue,
        };
        let mut named = false;
        for name in names() {
            for file in get(given, name).map(|(_, value)| texts(value)).unwrap_or_default() {
                named = true;
                // Only lists of files are patterns: a file may well be called `[id].tsx`.
                let word = if matches!(name, "paths" | "include") { pattern(file) } else { path(file) };
                let touches = if unsure { &mut call.mentions } else { &mut call.touches };
                touches.push(touch(act, &word, Extent::Itself));
            }
        }
        if !named && (odd || may_hold(given, false)) {
            call.mentions.push(unknown(act, "the path"));
        }
    }
    let does = row.does.iter().flat_map(|argument| acts(argument.role));
    let does: Vec<&Act> =
        does.filter(|act| !(edits && **act == Act::Reads || views && **act == Act::Writes)).collect();
    for (_, text) in unlisted::paths(row, given) {
        call.mentions.extend(does.iter().map(|act| touch(**act, &path(text), Extent::Itself)));
    }
    call
}

/// Looks through a folder, or through those of its files that a pattern names.
fn search<'n>(
    given: &Map<String, Value>,
    names: impl Iterator<Item = &'n str>,
    call: &mut SmallCall,
    touch: impl Fn(Act, &Word, Extent) -> Touch,
) {
    let folders: Vec<&str> =
        names.filter_map(|name| get(given, name)).flat_map(|(_, value)| texts(value)).collect();
    let folders = if folders.is_empty() { vec!["."] } else { folders };
    let mut choice = Choice::default();
    for (_, value) in CHOOSE_FILES.split(' ').filter_map(|name| get(given, name)) {
        for text in texts(value) {
            // Several may be in one text, but braces make one.
            let apart: &[char] = if text.contains('{') { &[' '] } else { &[' ', ','] };
            let globs = text.split(apart).filter(|glob| !glob.is_empty());
            globs.for_each(|glob| choice.add_glob(&Word::text(glob)));
        }
    }
    let touches = folders.into_iter().map(|folder| touch(Act::Reads, &path(folder), Extent::Searched));
    let mut found = Effects { touches: touches.collect(), ..Effects::default() };
    apply(choice, &mut found);
    call.touches.append(&mut found.touches);
}

/// The hosts of URLs: arguments that are one or, where none is, texts with some in them.
fn reach<'n>(given: &Map<String, Value>, names: impl Iterator<Item = &'n str>, call: &mut SmallCall) {
    let values = names.filter_map(|name| get(given, name));
    let all: Vec<&str> = values.flat_map(|(_, value)| texts(value)).collect();
    let (free, whole): (Vec<&str>, Vec<&str>) =
        all.into_iter().map(str::trim).partition(|text| text.contains(char::is_whitespace));
    for text in whole {
        let is_url = begins_as_url(text) || is_loose(text);
        let urls = if is_url { Vec::new() } else { urls(text) };
        // A text that begins like a URL is one, whatever characters are in it.
        let text = urls.is_empty().then(|| host(&Word::text(text), true));
        call.reaches.extend(text.flatten());
        call.reaches.extend(urls);
    }
    if call.reaches.is_empty() {
        call.reaches.extend(free.into_iter().flat_map(urls));
    }
    if call.reaches.is_empty() {
        call.reaches.push(Host::Unknown("the page that is asked for".to_owned()));
    }
}

/// The hosts of the URLs in a text.
fn urls(text: &str) -> Vec<Host> {
    let ends = |letter: char| letter.is_whitespace() || matches!(letter, '"' | '\'' | '<' | '>' | '(' | ')');
    let urls = text.split(ends).filter(|part| part.contains("://") || is_loose(part));
    urls.filter_map(|url| host(&Word::text(url), false)).collect()
}

fn begins_as_url(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        !scheme.is_empty() && scheme.chars().all(|letter| letter.is_ascii_alphanumeric())
    })
}

/// Number of texts of an unlisted tool that are looked at as paths.
const NAMED: usize = 64;

/// An unlisted tool: the hosts that it reaches are unknown, and it may do what its name says with the files in its
/// arguments.
fn foreign(
    name: &str,
    given: &Map<String, Value>,
    odd: bool,
    call: &mut SmallCall,
    touch: impl Fn(Act, &Word, Extent) -> Touch,
) {
    let acts = unlisted::acts(name);
    let names = unlisted::names(given);
    let many = names.len() > NAMED;
    let mut files: Vec<Word> = names.into_iter().take(NAMED).map(path).collect();
    let mut texts = Vec::new();
    given.values().for_each(|value| all_texts(value, &mut texts));
    let patched = texts.into_iter().filter(|text| text.contains('\n')).flat_map(patch::files);
    let patched: Vec<Touch> = patched.map(|(act, file)| touch(act, &path(file), Extent::Itself)).collect();
    if odd || many {
        files.push(Word::unknown("the arguments"));
    }
    call.mentions =
        files.iter().flat_map(|file| acts.iter().map(|act| touch(*act, file, Extent::Itself))).collect();
    call.mentions.extend(patched);
    call.reaches.push(Host::Unknown(name.to_lowercase()));
}

/// The files of a patch: in the form of `apply_patch`, or listed with what happens to each.
fn patched(patch: &Value) -> Vec<(Act, String)> {
    let kind = |change: &Value| {
        let kind = change.get("kind").or_else(|| change.get("type")).unwrap_or(change);
        let deletes = |text: &str| text.eq_ignore_ascii_case("delete") || text.eq_ignore_ascii_case("remove");
        let named = kind.as_str().is_some_and(deletes)
            || kind.get("type").and_then(Value::as_str).is_some_and(deletes);
        let keyed = change.get("delete").is_some();
        if named || keyed { Act::Deletes } else { Act::Writes }
    };
    match patch {
        Value::String(text) => {
            patch::files(text).into_iter().map(|(act, file)| (act, file.to_owned())).collect()
        }
        Value::Array(changes) => changes
            .iter()
            .flat_map(|change| {
                texts(change).into_iter().map(|file| (kind(change), file.to_owned())).collect::<Vec<_>>()
            })
            .collect(),
        Value::Object(changes) if changes.contains_key("path") => {
            texts(patch).into_iter().map(|file| (kind(patch), file.to_owned())).collect()
        }
        Value::Object(changes) => {
            let moved = |change: &Value| {
                let to = change.get("move_path").or_else(|| change.get("update")?.get("move_path"))?;
                Some((Act::Writes, to.as_str()?.to_owned()))
            };
            changes
                .iter()
                .flat_map(|(file, change)| {
                    let away = moved(change);
                    let act = if away.is_some() { Act::Deletes } else { kind(change) };
                    [Some((act, file.clone())), away].into_iter().flatten()
                })
                .collect()
        }
        _ => Vec::new(),
    }
}
