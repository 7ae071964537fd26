//! The output of commands, if their words determine it.

use brush_parser::ast::{Command, CommandPrefixOrSuffixItem as Item, IoRedirect};

use super::expand::{Expanding, expand};
use super::facts::Prints;
use super::find;
use super::walker::Input;
use super::word::Word;

/// The output of a command of a pipeline.
pub fn printed(command: &Command, expanding: Expanding<'_>) -> Input {
    let Command::Simple(simple) = command else { return Input::Unknown };
    let name = simple.word_or_name.as_ref().map(|word| word.value.as_str()).unwrap_or_default();
    let row = expanding.facts.program(name).filter(|_| simple.prefix.is_none());
    let Some((row, prints)) = row.and_then(|row| Some((row, row.prints.as_ref()?))) else {
        return Input::Unknown;
    };
    let mut words = Vec::new();
    for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
        match item {
            Item::Word(word) | Item::AssignmentWord(_, word) => {
                words.extend(expand(&word.value, expanding).words)
            }
            Item::IoRedirect(IoRedirect::HereDocument(_, document))
                if *prints == Prints::Input
                    && !(document.requires_expansion && document.doc.value.contains(['$', '`', '\\'])) =>
            {
                return Input::Text(document.doc.value.clone());
            }
            Item::IoRedirect(_) | Item::ProcessSubstitution(..) => return Input::Unknown,
        }
    }
    let texts: Option<Vec<&str>> = words.iter().map(Word::known).collect();
    match (prints, texts.as_deref().unwrap_or_default()) {
        _ if texts.is_none() => Input::Unknown,
        // Anything but names would be printed or run.
        (Prints::Names, texts)
            if !texts.iter().any(|text| {
                ["-exec", "-ok", "-printf", "-ls", "-fprint"].iter().any(|other| text.starts_with(other))
            }) =>
        {
            Input::Names(find::find_hits(row, &words))
        }
        (Prints::Words, ["-e" | "-n" | "-en" | "-ne" | "-E", rest @ ..]) if !rest.concat().contains('\\') => {
            Input::Text(rest.join(" "))
        }
        (Prints::Words, texts) if !texts.concat().contains('\\') => Input::Text(texts.join(" ")),
        (Prints::Format, [text]) if !text.contains(['\\', '%']) => Input::Text((*text).to_owned()),
        (Prints::Format, [format, text]) if format.trim_end_matches("\\n") == "%s" => {
            Input::Text((*text).to_owned())
        }
        _ => Input::Unknown,
    }
}
