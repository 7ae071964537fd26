//! Forms of hosts.

use crate::call::Host;
use crate::facts::Net;
use crate::host::host;
use crate::options::Arguments;
use crate::scene::Scene;
use crate::word::Word;

/// The hosts that words name in such a form.
pub fn hosts(net: &Net, arguments: &Arguments<'_>, operands: &[Word], scene: &Scene<'_>) -> Vec<Host> {
    let given = |names| operands.iter().chain(arguments.values_of(names));
    let bare = |word: &Word| host(word, true);
    match net {
        Net::Second => operands.get(1).and_then(bare).into_iter().collect(),
        Net::Names => operands.iter().filter(|word| is_name(word)).filter_map(bare).collect(),
        Net::Addresses => {
            let unknown = |word: &Word| word.is_open().then(|| Host::Unknown(word.to_string()));
            operands.iter().filter_map(|word| address(word).or_else(|| unknown(word))).collect()
        }
        Net::Attached => operands.iter().filter_map(|word| host(&word.strip_prefix("@")?, true)).collect(),
        Net::Shares => operands.iter().filter_map(|word| host(&word.strip_prefix("//")?, true)).collect(),
        Net::Images => operands.iter().filter_map(image).filter_map(|word| bare(&word)).collect(),
        Net::Image => operands.first().and_then(image).and_then(|word| bare(&word)).into_iter().collect(),
        Net::Packages => operands.iter().filter(|word| is_pair(word)).map(|_| forge("github.com")).collect(),
        Net::Modules => modules(operands.iter().collect(), scene),
        Net::Module => match operands.first().filter(|word| word.start().contains('@')) {
            Some(first) => modules(vec![first], scene),
            None => Vec::new(),
        },
        Net::Repositories(names) => {
            given(names).filter(|word| is_repository(word)).filter_map(bare).collect()
        }
        Net::Connections(names) => given(names).flat_map(connections).collect(),
        Net::Relays(names) => {
            let relayed = arguments.values_of(names).filter_map(|word| {
                let (_, rest) = word.split_once(':')?;
                Some(rest.split_once(':')?.1)
            });
            relayed.filter_map(|to| host(&to, true)).collect()
        }
        Net::Jumps(names) => arguments.values_of(names).flat_map(jumps).collect(),
        Net::Settings(names, keys) => {
            super::settings(arguments, names, keys).flat_map(|value| jumps(&value)).collect()
        }
        _ => Vec::new(),
    }
}

fn forge(name: &str) -> Host {
    Host::Named(Word::text(name))
}

/// Beginnings of words for items of a forge or registry.
const HUBS: [(&str, &str); 6] = [
    ("github:", "github.com"),
    ("gist:", "github.com"),
    ("gitlab:", "gitlab.com"),
    ("bitbucket:", "bitbucket.org"),
    ("npm:", "registry.npmjs.org"),
    ("jsr:", "jsr.io"),
];

/// The host of an address: a URL, optionally after a name (`name @ URL`), or a short form of one.
pub fn address(word: &Word) -> Option<Host> {
    let text = word.start();
    if let Some((_, hub)) = HUBS.iter().find(|(mark, _)| text.starts_with(mark)) {
        return Some(forge(hub));
    }
    let url = text.find(" @ ").map_or_else(|| word.clone(), |at| word.after(at + 3));
    (is_url(&url) || text.starts_with("git@")).then(|| host(&url, true)).flatten()
}

/// Whether a word is the address of something on a host.
pub fn is_url(word: &Word) -> bool {
    let scheme =
        word.start().split_once("://").map(|(scheme, _)| scheme.rsplit('+').next().unwrap_or(scheme));
    scheme.is_some_and(|scheme| {
        matches!(scheme, "http" | "https" | "ftp" | "ftps" | "ssh" | "git" | "oci" | "svn" | "ws" | "wss")
    })
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

/// Whether a word looks like the name of a host, before a `/` perhaps.
fn is_name(word: &Word) -> bool {
    let first = word.split_once('/').map_or_else(|| word.clone(), |(first, _)| first);
    first.start().contains(['.', ':']) || first.known() == Some("localhost") || word.unclear().is_some()
}

/// `HOST,USER@HOST:PORT`.
fn jumps(word: &Word) -> Vec<Host> {
    word.parts().iter().filter_map(|part| host(part, true)).collect()
}

/// The part before the first `/`, if it looks like the name of a host.
fn leads_to_host(text: &str) -> bool {
    let name = text.split('/').next().unwrap_or_default();
    text.contains('/')
        && name.contains(['.', ':'])
        && !name.starts_with(['.', '~', '-', '@', ':'])
        && !name.contains(['=', ','])
        && !name.ends_with(':')
}

/// An image with its registry: `docker://ghcr.io/a/b`, `ghcr.io/a/b`. A file or a volume is not an image.
fn image(word: &Word) -> Option<Word> {
    let plain = word.strip_prefix("docker://").unwrap_or_else(|| word.clone());
    (leads_to_host(plain.start()) && !plain.start().contains(":/")).then_some(plain)
}

/// `OWNER/REPOSITORY`.
fn is_pair(word: &Word) -> bool {
    let parts: Vec<&str> = word.start().split('/').collect();
    let plain =
        |part: &&str| !part.is_empty() && !part.starts_with(['.', '@', '~', '-']) && !part.contains(':');
    parts.len() == 2 && parts.iter().all(plain)
}

/// The sources of Go modules: `GOPROXY`, or their own hosts.
fn modules(fetched: Vec<&Word>, scene: &Scene<'_>) -> Vec<Host> {
    let own =
        || fetched.iter().filter(|word| leads_to_host(word.start())).filter_map(|word| host(word, true));
    let set = scene.assigned.iter().rev().find(|(name, _)| name == "GOPROXY").map(|(_, list)| list);
    let Some(text) = set.map_or(Some("https://proxy.golang.org"), Word::known) else {
        return set.map(|list| Host::Unknown(list.to_string())).into_iter().collect();
    };
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

/// `HOST/OWNER/REPOSITORY`.
fn is_repository(word: &Word) -> bool {
    let text = word.start();
    leads_to_host(text) && !text.contains("://") && text.split('/').count() == 3
}
