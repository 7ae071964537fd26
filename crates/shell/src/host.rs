//! The hosts of URLs.
//!
//! Programs do not agree on what a URL is. `https://evil%2ecom`, `https:evil.example` and `https://a\\@b` lead a
//! browser, `curl` and a library to different hosts, so only a host that all of them read alike is known.

// An address alone, which connects to nothing.
use core::net::Ipv6Addr;

use super::call::Host;
use super::word::{Piece, Word};

/// Schemes of which some programs need no `//` before the host.
const LOOSE: [&str; 5] = ["http", "https", "ftp", "ws", "wss"];

/// The host of a URL, or of a word that is taken as one with `bare`.
pub fn host(word: &Word, bare: bool) -> Option<Host> {
    // `?` and `[` of a URL are patterns for a shell, which leaves them as they are where no file fits.
    let mut rest = match word.pieces.iter().any(|piece| matches!(piece, Piece::Unknown(_) | Piece::Home)) {
        true => word.clone(),
        false => Word::text(word.to_string()),
    };
    let odd = || Some(Host::Unknown(word.to_string()));
    let scheme = has_scheme(word, bare);
    if is_loose(rest.start()) {
        return odd();
    }
    if scheme {
        while let Some((before, after)) = rest.split_once(':') {
            rest = after;
            if let Some(after) = rest.strip_prefix("//") {
                if before.known().is_some_and(|scheme| scheme.eq_ignore_ascii_case("file")) {
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
    // A backslash is a `/` for some, and a letter of the user's name for others.
    if scheme && text_of(&rest).any(|letter| letter == '\\') {
        return odd();
    }
    while let Some((_, after)) = rest.split_once('@') {
        rest = after;
    }
    if let Some(inner) = rest.strip_prefix("[") {
        rest = inner.split_once(']').map_or(inner, |(address, _)| address);
    } else if let Some((name, after)) = rest.split_once(':')
        && (!after.to_string().contains(':') || is_module(&name, &after))
    {
        rest = name;
    }
    // `example.org.` is `example.org`.
    if let Some(Piece::Text(text)) = rest.pieces.last_mut()
        && text.len() > 1
        && text.ends_with('.')
    {
        text.pop();
    }
    if rest.pieces.is_empty() || rest.known() == Some("") {
        // For `https:///evil.example` some programs take what follows.
        let before = word.start().split_once("://").map(|(before, _)| before);
        let loose = before.is_some_and(|before| LOOSE.iter().any(|known| before.eq_ignore_ascii_case(known)));
        return if loose { odd() } else { None };
    }
    for piece in &mut rest.pieces {
        if let Piece::Text(text) = piece {
            *text = text.to_lowercase();
        }
    }
    if is_odd(&rest, scheme) {
        return odd();
    }
    if let Some(address) = rest.known().and_then(|text| text.parse::<Ipv6Addr>().ok()) {
        let known = address.to_ipv4_mapped().is_none();
        return if known { Some(Host::Named(Word::text(address.to_string()))) } else { odd() };
    }
    Some(Host::Named(rest))
}

/// Whether a word begins as a URL does. In `example.org/?to=https://…` the scheme is part of something else.
fn has_scheme(word: &Word, bare: bool) -> bool {
    let written = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains("://"));
    if !word.pieces.iter().any(written) {
        return false;
    }
    let begins = word.start().split_once("://").is_none_or(|(before, _)| !before.contains(['/', '?', '#']));
    begins || !bare
}

/// `https:example.org`, `http:/example.org`: without both slashes. `http:80` is a host with its port.
pub fn is_loose(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme = LOOSE.iter().any(|known| scheme.eq_ignore_ascii_case(known));
    let is_port =
        rest.split('/').next().is_some_and(|port| port.chars().all(|letter| letter.is_ascii_digit()));
    is_scheme && !rest.starts_with("//") && !rest.is_empty() && (rest.starts_with('/') || !is_port)
}

fn text_of(word: &Word) -> impl Iterator<Item = char> {
    let texts = word.pieces.iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(text.chars()),
        _ => None,
    });
    texts.flatten()
}

/// Whether programs read the name of a host in different ways: escapes, letters beyond ASCII, short forms of addresses.
fn is_odd(name: &Word, scheme: bool) -> bool {
    let sign = |letter: char| {
        matches!(letter, '%' | '\\')
            || !letter.is_ascii()
            || letter.is_ascii_control()
            || scheme && matches!(letter, '"' | '\'' | '<' | '>' | '(' | ')' | '^' | '|' | '`' | ' ')
    };
    text_of(name).any(sign) || name.known().is_some_and(|name| is_short_address(name, scheme))
}

/// `127.1`, `0x7f.0.0.1`, `http://2130706433`: an address of version 4 that is not written as four numbers.
fn is_short_address(name: &str, scheme: bool) -> bool {
    let labels: Vec<&str> = name.split('.').collect();
    let is_number = |label: &str| {
        let hexadecimal = label
            .strip_prefix("0x")
            .is_some_and(|digits| digits.chars().all(|sign| sign.is_ascii_hexdigit()));
        !label.is_empty() && (hexadecimal || label.chars().all(|sign| sign.is_ascii_digit()))
    };
    let plain = |label: &&str| label.parse::<u8>().is_ok_and(|number| number.to_string() == **label);
    labels.last().is_some_and(|last| is_number(last))
        && (scheme || labels.len() > 1)
        && !(labels.len() == 4 && labels.iter().all(plain))
}

/// Whether `name::module` of `rsync` was meant, and not an IPv6 address such as `fe80::1`.
fn is_module(name: &Word, after: &Word) -> bool {
    let hexadecimal = name.known().is_some_and(|name| name.chars().all(|letter| letter.is_ascii_hexdigit()));
    after.start().starts_with(':') && !hexadecimal
}
