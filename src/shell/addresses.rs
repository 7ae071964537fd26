//! Hosts that words name in a program's own way: packages, images, modules, servers, settings.

use super::call::Host;
use super::host::host;
use super::facts::{Inner, Level};
use super::options::{Arguments, Way, openings};
use super::scene::{Effects, Scene};
use super::word::Word;

/// Adds the hosts of such words. `words` are all of them, `operands` those after the subcommand.
pub fn addresses(
    name: &str,
    words: &[Word],
    arguments: &Arguments<'_>,
    operands: &[Word],
    scene: &Scene<'_>,
    found: &mut Effects,
) {
    let first = arguments.operands.first().and_then(Word::known).unwrap_or_default();
    let hosts: Vec<Host> = match name {
        // `name @ URL`.
        "pip" | "pip3" | "uv" | "pipx" | "pdm" | "poetry" if !found.reaches.is_empty() => operands
            .iter()
            .filter_map(|word| after(word, " @ "))
            .filter_map(|url| host(&url, false))
            .collect(),
        "npm" | "npx" | "pnpm" | "yarn" | "bun" | "bunx" if !found.reaches.is_empty() => {
            operands.iter().filter_map(|word| package(first, word)).collect()
        }
        "deno" => arguments.operands.iter().filter_map(module).collect(),
        "go" => modules(first, operands, scene, found),
        "docker" | "podman" | "nerdctl" => match first {
            "run" | "create" | "container" => {
                let started = started(name, words, scene);
                started.as_ref().and_then(image).and_then(|word| host(&word, true)).into_iter().collect()
            }
            "build" | "buildx" | "image" | "builder" => {
                operands.iter().filter(|word| is_url(word)).filter_map(|word| host(word, true)).collect()
            }
            _ => Vec::new(),
        },
        "skopeo" | "crane" | "regctl" | "oras" | "buildah" => {
            operands.iter().filter_map(image).filter_map(|word| host(&word, true)).collect()
        }
        // `HOST/OWNER/REPOSITORY`.
        "gh" => {
            let given = operands.iter().chain(arguments.values("-R --repo"));
            given.filter(|word| is_repository(word)).filter_map(|word| host(word, true)).collect()
        }
        "dig" | "drill" | "delv" => {
            let servers = arguments.operands.iter().filter_map(|word| word.strip_prefix("@"));
            servers.filter_map(|server| host(&server, true)).collect()
        }
        // The server that is asked.
        "nslookup" | "host" => operands.get(1).and_then(|word| host(word, true)).into_iter().collect(),
        "mount" | "mount.cifs" | "smbclient" | "rsmbclient" | "smbget" => {
            operands.iter().filter_map(|word| host(&word.strip_prefix("//")?, true)).collect()
        }
        "vault" | "consul" | "nomad" => {
            let names = ["-address=", "--address=", "-http-addr=", "--http-addr="];
            let value = |word: &Word| names.iter().find_map(|name| word.strip_prefix(name));
            words.iter().filter_map(value).filter_map(|address| host(&address, true)).collect()
        }
        // `-e https_proxy=HOST`.
        "wget" => {
            let settings = arguments.values("-e --execute").filter_map(|word| word.split_once('='));
            let proxies = settings.filter(|(name, _)| name.to_string().trim().ends_with("_proxy"));
            proxies.filter_map(|(_, value)| host(&value, true)).collect()
        }
        "git" if !found.reaches.is_empty() => arguments.values("-c --config").filter_map(setting).collect(),
        _ => return,
    };
    for host in hosts {
        if !found.reaches.contains(&host) {
            found.reaches.push(host);
        }
    }
}

/// What comes after a mark in the text that a word begins with.
fn after(word: &Word, mark: &str) -> Option<Word> {
    let place = word.start().find(mark)?;
    Some(word.after(place + mark.len()))
}

fn is_url(word: &Word) -> bool {
    word.start().contains("://") || word.start().starts_with("git@")
}

/// The part before the first `/`, where it looks like the name of a host.
fn leads_to_host(text: &str) -> bool {
    let name = text.split('/').next().unwrap_or_default();
    text.contains('/')
        && name.contains(['.', ':'])
        && !name.starts_with(['.', '~', '-', '@', ':'])
        && !name.contains(['=', ','])
        && !name.ends_with(':')
}

/// An image with its registry: `docker://ghcr.io/a/b`, `ghcr.io/a/b`. A file or a volume is none.
fn image(word: &Word) -> Option<Word> {
    let plain = word.strip_prefix("docker://").unwrap_or_else(|| word.clone());
    (leads_to_host(plain.start()) && !plain.start().contains(":/")).then_some(plain)
}

/// The image of a container that is made: the word before its program.
fn started(name: &str, words: &[Word], scene: &Scene<'_>) -> Option<Word> {
    let program = scene.root.facts.program(name)?;
    let makes = |level: &Level| {
        let is_made = |sub: &Vec<String>| sub.last().is_some_and(|word| matches!(word.as_str(), "run" | "create"));
        level.subs.iter().any(|sub| is_made(sub) && sub.first().is_none_or(|first| first != "compose"))
    };
    let mut ways = program.ways().filter(|(level, run)| makes(level) && run.inner == Inner::Words);
    ways.find_map(|(level, run)| {
        let (found, ..) = openings(program, Way { level, run }, words, 1);
        found.first()?.operands.last().cloned()
    })
}

/// Where a package comes from that is not of the registry.
fn package(sub: &str, word: &Word) -> Option<Host> {
    let text = word.start();
    let hubs = [
        ("github:", "github.com"),
        ("gist:", "github.com"),
        ("gitlab:", "gitlab.com"),
        ("bitbucket:", "bitbucket.org"),
    ];
    if let Some((_, hub)) = hubs.iter().find(|(mark, _)| text.starts_with(mark)) {
        return Some(Host::Named(Word::text(*hub)));
    }
    if text.starts_with("git@") {
        return host(word, true);
    }
    // `OWNER/REPOSITORY` is one of GitHub's.
    let parts: Vec<&str> = text.split('/').collect();
    let plain =
        |part: &&str| !part.is_empty() && !part.starts_with(['.', '@', '~', '-']) && !part.contains(':');
    let installs = matches!(sub, "install" | "i" | "add");
    (installs && parts.len() == 2 && parts.iter().all(plain)).then(|| Host::Named(Word::text("github.com")))
}

/// A module of `deno`, by its URL or from a registry.
fn module(word: &Word) -> Option<Host> {
    let text = word.start();
    if text.starts_with("npm:") || text.starts_with("jsr:") {
        return Some(Host::Elsewhere("the registry of deno".to_owned()));
    }
    is_url(word).then(|| host(word, true)).flatten()
}

/// Where modules of `go` come from: `GOPROXY`, or their own hosts.
fn modules(sub: &str, operands: &[Word], scene: &Scene<'_>, found: &Effects) -> Vec<Host> {
    let with_version = |word: &&Word| word.start().contains('@');
    let fetched: Vec<&Word> = match sub {
        "get" | "install" => operands.iter().collect(),
        "run" => operands.iter().take(1).filter(with_version).collect(),
        _ => Vec::new(),
    };
    let own =
        || fetched.iter().filter(|word| leads_to_host(word.start())).filter_map(|word| host(word, true));
    let set = scene.assigned.iter().rev().find(|(name, _)| name == "GOPROXY");
    let Some((_, list)) = set.filter(|_| !found.reaches.is_empty() || !fetched.is_empty()) else {
        let default = sub == "run" && !fetched.is_empty();
        return default.then(|| Host::Named(Word::text("proxy.golang.org"))).into_iter().collect();
    };
    let Some(text) = list.known() else { return vec![Host::Unknown(list.to_string())] };
    let mut hosts = Vec::new();
    for proxy in text.split([',', '|']) {
        match proxy {
            "off" | "" => {}
            "direct" => hosts.extend(own()),
            proxy => hosts.extend(host(&Word::text(proxy), true)),
        }
    }
    hosts
}

fn is_repository(word: &Word) -> bool {
    let text = word.start();
    leads_to_host(text) && !text.contains("://") && text.split('/').count() == 3
}

/// The host of `http.proxy=HOST` and of `url.BASE.insteadOf=…`.
fn setting(word: &Word) -> Option<Host> {
    let (name, value) = word.split_once('=')?;
    let written = name.to_string();
    let lower = written.to_lowercase();
    if lower.starts_with("http.") && lower.ends_with("proxy") {
        return host(&value, true);
    }
    let base = lower.strip_prefix("url.")?;
    let base = base.strip_suffix(".insteadof").or_else(|| base.strip_suffix(".pushinsteadof"))?;
    host(&Word::text(base), true)
}
