//! Scripts of substitutions whose words determine their output.

use crate::facts::{Prints, Table};

/// The path that the script of a substitution prints.
pub fn printed(script: &str, facts: &Table) -> Option<String> {
    let mut words = script.split_whitespace();
    let prints = facts.program(words.next()?)?.prints.as_ref()?;
    match (prints, words.collect::<Vec<&str>>()) {
        (Prints::Folder, words) if words.is_empty() => Some(".".to_owned()),
        (Prints::New(harmless), mut words) => {
            words.retain(|word| !harmless.iter().any(|known| known == word));
            // The letters that replace each `X` are unknown.
            match words.as_slice() {
                [] => Some("/tmp/tmp.XXXXXXXXXX".to_owned()),
                ["-t", name] if is_template(name) && !name.contains('/') => Some(format!("/tmp/{name}")),
                [path] if is_template(path) => Some((*path).to_owned()),
                _ => None,
            }
        }
        _ => None,
    }
}

fn is_template(path: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
    path.ends_with("XXX") && !path.starts_with('-') && !path.contains("..") && path.bytes().all(is_plain)
}
