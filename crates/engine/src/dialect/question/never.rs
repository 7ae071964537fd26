//! Texts of a question that no call matches, each with what to write instead.
//!
//! Users know them from shells, URLs and other patterns. Here they would be compared letter by letter, so that the rule
//! would look like a guard and stop nothing.

// An address alone, which connects to nothing.
use core::net::Ipv6Addr;

use rulestep_base::source::quoted;
use rulestep_base::source::wildcard::Wildcard;
use rulestep_shell::Act;

/// Why a text is never met.
#[derive(Debug, PartialEq, Eq)]
pub struct Never {
    /// The reason, in one line of lower case.
    pub why: String,
    /// What to write.
    pub instead: String,
}

impl Never {
    fn new(why: impl Into<String>, instead: impl Into<String>) -> Never {
        Never { why: why.into(), instead: instead.into() }
    }
}

/// How a letter is written that would be read as a wildcard.
const ONE_LETTER: &str = "`?` matches any one letter";

/// A sign of other patterns: `[a-z]`, `{a,b}`, `|`, `\`.
fn sign(text: &str) -> Option<&str> {
    // Every text of every policy is checked, and hardly any has one.
    if !text.bytes().any(|byte| matches!(byte, b'\\' | b'[' | b'{' | b'|')) {
        return None;
    }
    let backslash = text.find('\\').and_then(|at| text.get(at..=at));
    let others = text.char_indices().filter(|(_, sign)| matches!(sign, '[' | '{' | '|'));
    let mut others =
        others.filter_map(|(at, _)| Wildcard::in_pattern(text.get(at..)?)).map(|found| found.sign);
    others.find(|sign| !matches!(*sign, "*" | "?")).or(backslash)
}

/// A sign of other patterns, where only `*` and `?` are known.
fn other_pattern(text: &str) -> Option<Never> {
    let sign = sign(text)?;
    let why = format!(
        "{} in {} is compared letter by letter: only `*` and `?` are wildcards",
        quoted(sign),
        quoted(text)
    );
    let instead = match sign {
        "|" => format!("write a list, {}; {ONE_LETTER}", list(text.split('|'))),
        set if set.starts_with('{') => match braces(text, set) {
            Some(all) => format!("write a list, {all}; {ONE_LETTER}"),
            None => format!("write a list; {ONE_LETTER}"),
        },
        "\\" => format!("write {}; {ONE_LETTER}", quoted(&without_backslashes(text))),
        set => {
            let letters = set.trim_start_matches('[').trim_end_matches(']');
            let (any, itself) = (text.replace(set, "?"), text.replace(set, &format!("?{letters}?")));
            format!(
                "write {} for any one letter, {} where the brackets are meant",
                quoted(&any),
                quoted(&itself)
            )
        }
    };
    Some(Never::new(why, instead))
}

/// The meaning of backslashes elsewhere: they separate folders, or escape a character.
fn without_backslashes(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text.chars();
    while let Some(letter) = rest.next() {
        match (letter, rest.clone().next()) {
            ('\\', Some(next)) if next.is_alphanumeric() => plain.push('/'),
            ('\\', Some('*' | '?' | '[' | ']' | '{' | '}')) => {
                rest.next();
                plain.push('?');
            }
            ('\\', _) => {}
            (letter, _) => plain.push(letter),
        }
    }
    plain
}

/// `[a, b]` in quotes, each without the blanks around it.
fn list<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    let texts: Vec<&str> = texts.map(str::trim).filter(|text| !text.is_empty()).collect();
    quoted(&format!("[{}]", texts.join(", ")))
}

/// The texts that a shell makes of braces.
fn braces(text: &str, set: &str) -> Option<String> {
    let (before, after) = text.split_once(set)?;
    let inner = set.strip_prefix('{')?.strip_suffix('}')?;
    let all: Vec<String> = inner.split(',').map(|one| format!("{before}{}{after}", one.trim())).collect();
    Some(list(all.iter().map(String::as_str)))
}

/// The value of `runs` for a row of words.
pub(super) fn as_runs(words: &str) -> String {
    let mut words = words.split_whitespace();
    let program = words.next().unwrap_or_default();
    let (flags, args): (Vec<&str>, Vec<&str>) = words.partition(|word| word.starts_with('-'));
    let part =
        |key: &str, words: &[&str]| (!words.is_empty()).then(|| format!("{key}: [{}]", words.join(", ")));
    let program = (!program.is_empty()).then(|| format!("program: {program}"));
    let parts: Vec<String> =
        program.into_iter().chain(part("args", &args)).chain(part("flags", &flags)).collect();
    quoted(&parts.join(", "))
}

/// The name of a program.
pub fn program(text: &str) -> Option<Never> {
    if text.contains('/') {
        let name = text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let why = "a program is known by its name, without its folder";
        return Some(Never::new(why, format!("write {}", quoted(name))));
    }
    if text.contains(char::is_whitespace) {
        let why = format!("no program is called {}: `program` is its name, and nothing else", quoted(text));
        return Some(Never::new(why, format!("write {}", as_runs(text))));
    }
    if let Some(name) = text.strip_prefix('$') {
        let why = format!(
            "what the variable {} holds is not known, and is no part of a program's name",
            quoted(text)
        );
        return Some(Never::new(why, format!("name the program that {} holds", quoted(name))));
    }
    if text.starts_with(['!', '-']) {
        let why = format!("no program is called {}", quoted(text));
        let instead = match text.strip_prefix('!') {
            Some(name) if !name.is_empty() => format!(
                "write the names of the programs that are meant; all but some are stopped by {}",
                quoted(&format!("{{type: allowlist, tools: [{{runs: {{program: [{name}]}}}}]}}"))
            ),
            _ => "write the names of the programs that are meant".to_owned(),
        };
        return Some(Never::new(why, instead));
    }
    // `[` and `[[` are programs.
    let unclosed =
        || text.chars().any(|sign| matches!(sign, '[' | ']' | '{' | '}')) && !matches!(text, "[" | "[[");
    other_pattern(text).or_else(|| {
        let why = format!("no program is called {}", quoted(text));
        unclosed().then(|| Never::new(why, "write the names of the programs that are meant"))
    })
}

/// A word after a program, or a pattern of one.
pub fn operand(text: &str) -> Option<Never> {
    if text.starts_with('-') && text.len() > 1 {
        let why = format!("{} is an option, and `args` are the words that are none", quoted(text));
        return Some(Never::new(why, format!("write {}", quoted(&format!("flags: [{text}]")))));
    }
    if text.contains(char::is_whitespace) {
        let why = format!("{} is compared with one word, and words have no blanks", quoted(text));
        // The first word is not a program here.
        let words = as_runs(&format!(" _ {text}")).replace("program: _, ", "");
        return Some(Never::new(
            why,
            format!("write {words}; where a word is quoted in the command, `?` matches the blank"),
        ));
    }
    if let Some("|") = sign(text) {
        let why =
            format!("`|` in {} is compared letter by letter: only `*` and `?` are wildcards", quoted(text));
        let inner = list(text.split('|'));
        let instead = format!("write a list at this place, {inner}; {ONE_LETTER}");
        return Some(Never::new(why, instead));
    }
    other_pattern(text)
}

/// An option, perhaps with a pattern of its value.
pub fn flag(text: &str) -> Option<Never> {
    let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
    let bare = name.trim_start_matches('-');
    if bare.is_empty() || name.starts_with("---") {
        let why = format!("{} is no option", quoted(text));
        return Some(Never::new(
            why,
            "write an option, with or without its dashes: `force`, `-f`, `--message=*`",
        ));
    }
    if name.contains([' ', ',', '|', '\t', '\n']) {
        let why = format!("{} is no option: options are compared letter by letter", quoted(text));
        let each = text.split([' ', ',', '|', '\t', '\n']);
        return Some(Never::new(why, format!("write a list, {}: each of them must be given", list(each))));
    }
    if let Some(option) = name.strip_prefix('!') {
        let why = format!("{} is no option: those that must be absent have a key of their own", quoted(text));
        return Some(Never::new(why, format!("write {}", quoted(&format!("without: [{option}]")))));
    }
    let wildcard = |sign: &char| matches!(sign, '*' | '[' | '{' | '\\') || *sign == '?' && bare.len() > 1;
    if let Some(sign) = name.chars().find(wildcard) {
        let sign = quoted(&sign.to_string());
        let why =
            format!("{sign} in {} is compared letter by letter: options have no wildcards", quoted(text));
        return Some(Never::new(
            why,
            "write the name of one option; its value may be a pattern: `--message=*`",
        ));
    }
    if let Some(never) = value.and_then(other_pattern) {
        // A list of flags requires all of them.
        let instead = format!("write one entry of `runs` for each value; {ONE_LETTER}");
        return Some(Never { instead, ..never });
    }
    None
}

/// A variable that the line sets, perhaps with a pattern of its value.
pub fn set(text: &str) -> Option<Never> {
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    let is_name = |name: &str| {
        name.starts_with(|letter: char| letter.is_ascii_alphabetic() || matches!(letter, '_' | '*' | '?'))
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '*' | '?'))
    };
    if !is_name(name) {
        let bare = name.trim_start_matches(['$', '{', '!']).trim_end_matches(['}', ' ']);
        let why = format!("{} is not the name of a variable", quoted(name));
        let instead = match text.split_once('=') {
            Some((_, value)) if is_name(bare) => format!("write {}", quoted(&format!("{bare}={value}"))),
            None if is_name(bare) => format!("write {}", quoted(bare)),
            _ => "write `NAME`, or `NAME=GLOB` for the value as well".to_owned(),
        };
        return Some(Never::new(why, instead));
    }
    text.split_once('=').and_then(|(_, value)| other_pattern(value))
}

/// A host, or a pattern of hosts.
pub fn host(text: &str) -> Option<Never> {
    let wrong = |why: &str, instead: &str| {
        let instead = if instead.is_empty() { "*" } else { instead };
        Some(Never::new(format!("{} is no host: {why}", quoted(text)), format!("write {}", quoted(instead))))
    };
    if let Some(host) = text.strip_prefix('!') {
        let instead = format!("write {}", quoted(&format!("except: {host}")));
        return Some(Never::new(format!("{} is no host: `!` takes out only files", quoted(text)), instead));
    }
    if text.contains('$') {
        let why = format!("{} is no host: the value of a variable is not known", quoted(text));
        return Some(Never::new(why, "write the host that it holds"));
    }
    if let Some(never) = other_pattern(text).filter(|_| text.contains(['{', '|'])) {
        return Some(never);
    }
    if text.contains(char::is_whitespace) || text.contains(',') {
        let all = list(text.split(|letter: char| letter.is_whitespace() || letter == ','));
        return Some(Never::new(
            format!("{} is no host: it has blanks or commas", quoted(text)),
            format!("write {all}"),
        ));
    }
    let (scheme, rest) = text.split_once("://").map_or((None, text), |(scheme, rest)| (Some(scheme), rest));
    let (authority, path) = rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
    let (user, server) =
        authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
    let bare = bare_host(server);
    let digits = |text: &str| text.chars().all(|letter| letter.is_ascii_digit());
    if scheme.is_none()
        && path.is_some_and(digits)
        && server.chars().all(|letter| letter.is_ascii_digit() || letter == '.')
    {
        let why = format!("{} is no host: networks are not computed", quoted(text));
        return Some(Never::new(why, "write a pattern of the addresses, such as `10.1.*`"));
    }
    if scheme.is_some() {
        return wrong("it begins like a URL, and hosts are compared without one", bare);
    }
    if path.is_some() {
        return wrong("it has a path, and hosts are compared without one", bare);
    }
    if user.is_some() {
        return wrong("it names a user, and hosts are compared without one", bare);
    }
    if server.starts_with('[') && bare != server {
        return wrong("an address is compared without brackets", bare);
    }
    if bare != server {
        return wrong("it has a port, and hosts are compared without one", bare);
    }
    if let Some(host) = text.strip_prefix('.').filter(|host| !host.is_empty()) {
        let why = format!("{} is no host: none begins with a dot", quoted(text));
        return Some(Never::new(why, format!("write {}", quoted(&format!("[{host}, '*.{host}']")))));
    }
    if let Some(host) = text.strip_suffix('.').filter(|host| !host.is_empty()) {
        return wrong("hosts are compared without the dot at the end", host);
    }
    if let Ok(address) = text.parse::<Ipv6Addr>()
        && address.to_string() != text.to_lowercase()
    {
        return wrong("an address is compared in its shortest form", &address.to_string());
    }
    other_pattern(text)
}

/// A host without brackets and port.
fn bare_host(server: &str) -> &str {
    if let Some((address, _)) = server.strip_prefix('[').and_then(|rest| rest.split_once(']'))
        && address.contains(':')
    {
        return address;
    }
    let is_port =
        |port: &str| !port.is_empty() && port.chars().all(|letter| letter.is_ascii_digit() || letter == '*');
    // An address of version 6 has several colons.
    match server.split_once(':') {
        Some((host, port)) if is_port(port) => host,
        _ => server,
    }
}

/// A path, or a pattern of paths.
pub fn path(text: &str, act: Act) -> Option<Never> {
    let (out, pattern) = text.strip_prefix('!').map_or(("", text), |rest| ("!", rest));
    let write = |pattern: &str| format!("write {}", quoted(&format!("{out}{pattern}")));
    let wrong = |why: &str, instead: String| Some(Never::new(format!("{}: {why}", quoted(text)), instead));
    if pattern.is_empty() {
        return wrong("nothing is taken out", "write what is taken out after the `!`".to_owned());
    }
    if pattern.trim() != pattern {
        return wrong("no path has the blanks at its ends", write(pattern.trim()));
    }
    if pattern.split(',').skip(1).any(|next| next.starts_with(' ')) {
        let all = list(text.split(','));
        return wrong("this is compared as one path", format!("write a list, {all}; {ONE_LETTER}"));
    }
    if let Some(name) = pattern.strip_prefix(ENVIRONMENT) {
        return variable(text, name.trim(), act);
    }
    if pattern.get(..ENVIRONMENT.len()).is_some_and(|start| start.eq_ignore_ascii_case(ENVIRONMENT)) {
        let name = pattern.get(ENVIRONMENT.len()..).unwrap_or_default();
        let why = "variables of the environment begin with `env:`, in lower case";
        return wrong(why, write(&format!("{ENVIRONMENT}{name}")));
    }
    // Names with these are as rare as regular expressions are frequent here.
    if let Some(inner) = pattern.strip_prefix('^').or_else(|| pattern.strip_suffix('$')) {
        let plain =
            inner.trim_start_matches('^').trim_end_matches('$').replace(".*", "*").replace("\\.", ".");
        let why = "this is compared as a path, and no expression: only `*` and `?` are wildcards";
        return wrong(why, format!("{}; {ONE_LETTER}", write(&plain)));
    }
    if let Some((_, rest)) = pattern.split_once("://") {
        let rest = rest.strip_prefix("localhost").unwrap_or(rest);
        return wrong("paths are compared without a scheme", write(rest));
    }
    if let Some((why, instead)) = expanded(pattern) {
        let itself = || format!("write the path itself; {ONE_LETTER}");
        return wrong(why, instead.map_or_else(itself, |instead| write(&instead)));
    }
    if let Some(never) = other_pattern(text) {
        return Some(never);
    }
    let steps = "paths are compared without steps such as `..`, `.` and `//`";
    match without_steps(pattern) {
        Some(plain) if plain == pattern => None,
        Some(plain) if !plain.is_empty() => wrong(steps, write(&plain)),
        _ => wrong(steps, "write the path that is meant".to_owned()),
    }
}

/// Prefix of paths of the environment.
const ENVIRONMENT: &str = rulestep_shell::path::ENVIRONMENT;

/// `env:NAME`.
fn variable(text: &str, name: &str, act: Act) -> Option<Never> {
    let bare = name.trim_start_matches('$').trim_start_matches('{').trim_end_matches('}');
    if act != Act::Reads {
        let why = format!("{}: what writes or deletes a variable is not known", quoted(text));
        return Some(Never::new(why, "a variable can only be asked for with `reads`"));
    }
    let is_name = |name: &str| {
        !name.is_empty()
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '*' | '?'))
    };
    if is_name(name) {
        return None;
    }
    let why = format!("{}: {} is not the name of a variable", quoted(text), quoted(name));
    let instead = if is_name(bare) {
        format!("write {}", quoted(&format!("{ENVIRONMENT}{bare}")))
    } else {
        "write the name alone, such as `env:TOKEN` or `env:*_KEY`".to_owned()
    };
    Some(Never::new(why, instead))
}

/// Why a path that only a shell would expand is never met, and the path that is.
fn expanded(pattern: &str) -> Option<(&'static str, Option<String>)> {
    let after = |names: [&str; 2]| {
        let rest = names.iter().find_map(|name| pattern.strip_prefix(name))?;
        (rest.is_empty() || rest.starts_with('/')).then_some(rest)
    };
    if let Some(rest) = after(["$HOME", "${HOME}"]) {
        return Some(("the home folder is written `~`", Some(format!("~{rest}"))));
    }
    if let Some(rest) = after(["$PWD", "${PWD}"]) {
        return Some(("the folder of the session is written `.`", Some(format!(".{rest}"))));
    }
    // A file can be called `$id.tsx`, and a class `A$B`.
    let variable = |name: &str| {
        name.strip_prefix('$')
            .is_some_and(|name| name.starts_with(|letter: char| letter.is_ascii_uppercase()))
    };
    if pattern.contains("${") || pattern.contains("$(") || pattern.split('/').any(variable) {
        return Some(("the value of a variable is not known", None));
    }
    let user = pattern.strip_prefix('~').filter(|user| !user.is_empty() && !user.starts_with('/'))?;
    Some(("`~` is the home folder of whoever runs the session", Some(format!("/home/{user}"))))
}

/// The path without `.`, `..` and empty names, except at its beginning. `None`: its target is unknown.
fn without_steps(pattern: &str) -> Option<String> {
    let absolute = pattern.starts_with('/');
    let mut names: Vec<&str> = Vec::new();
    for (at, name) in pattern.split('/').enumerate() {
        match (name, names.last().copied()) {
            ("", _) => {}
            (".", _) if at > 0 => {}
            ("..", None) if absolute => {}
            ("..", Some(".")) => names = vec![name],
            ("..", Some(last)) if last == "~" || last.contains('*') => return None,
            ("..", Some(last)) if last != ".." => {
                names.pop();
            }
            (name, _) => names.push(name),
        }
    }
    let joined = names.join("/");
    let folder = if !joined.is_empty() && pattern.ends_with('/') { "/" } else { "" };
    Some(format!("{}{joined}{folder}", if absolute { "/" } else { "" }))
}

#[cfg(test)]
mod tests;
