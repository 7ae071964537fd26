//! The vocabulary of rows: the texts that define which words name files, hosts and other programs.
//!
//! Also a module of the build script.

use super::language::{CommandOperands, Commands, Fed, Language, Prints};
use super::row::{At, Choosing, Net, WhenFed};
use super::run::{Apart, Inner, Run, Shell};

/// Single words with their meaning, and a list of them for suggestions.
macro_rules! words {
    ($names:ident, $of:ident -> $kind:ty { $($word:literal => $meaning:expr,)* }) => {
        pub const $names: &[&str] = &[$($word),*];

        fn $of(word: &str) -> Option<$kind> {
            match word {
                $($word => Some($meaning),)*
                _ => None,
            }
        }
    };
}

words!(FILE_WORDS, file_word -> At {
    "operands" => At::All,
    "first" => At::First,
    "after_first" => At::Rest,
    "last" => At::Last,
    "before_last" => At::ButLast,
    "folder" => At::Here,
    "operands_or_folder" => At::AllOrHere(WhenFed::Same),
    "operands_or_folder_if_not_fed" => At::AllOrHere(WhenFed::ReadsIt),
    "after_first_or_folder" => At::RestOrHere(WhenFed::Same),
    "after_first_or_folder_if_not_fed" => At::RestOrHere(WhenFed::ReadsIt),
    "environment" => At::Environment,
    "local" => At::Local,
    "local_last" => At::LocalLast,
    "local_before_last" => At::LocalButLast,
    "tracked" => At::Tracked,
    "untracked" => At::Untracked,
    "revisions" => At::Revisions,
    "@operands" => At::AttachedAll,
    "@after_first" => At::AttachedRest,
    "@values" => At::AttachedValues,
    "new" => At::New,
    "paths" => At::Paths,
    "clone" => At::Clone,
});

words!(HOST_WORDS, host_word -> Net {
    "operands" => Net::Urls,
    "first" => Net::First,
    "second" => Net::Second,
    "remotes" => Net::Remotes,
    "addresses" => Net::Addresses,
    "names" => Net::Names,
    "@operands" => Net::Attached,
    "shares" => Net::Shares,
    "images" => Net::Images,
    "image" => Net::Image,
    "packages" => Net::Packages,
    "modules" => Net::Modules,
    "module" => Net::Module,
});

words!(CHOOSING_WORDS, choosing_word -> Choosing {
    "leaves_out" => Choosing::LeavesOut,
    "leaves_out_files" => Choosing::LeavesOutFiles,
    "leaves_out_folders" => Choosing::LeavesOutFolders,
    "only" => Choosing::Only,
    "globs" => Choosing::Globs,
});

/// Whether a word is an option with its dashes.
pub fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-') && is_plain(word)
}

/// Whether a word has no blank and no control character.
pub fn is_plain(word: &str) -> bool {
    !word.chars().any(|letter| letter.is_whitespace() || letter.is_control())
}

/// Words as a row keeps them.
pub fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// These words, if all are options.
pub fn options(words: &[&str]) -> Option<Vec<String>> {
    (!words.is_empty() && words.iter().all(|word| is_option(word))).then(|| owned(words))
}

/// The names of languages.
pub const LANGUAGES: &[(&str, Language)] = &[
    ("awk", Language::Awk),
    ("ed", Language::Ed),
    ("gdb", Language::Gdb),
    ("jq", Language::Jq),
    ("less", Language::Less),
    ("mysql", Language::Mysql),
    ("patch", Language::Patch),
    ("psql", Language::Psql),
    ("sed", Language::Sed),
    ("socat", Language::Socat),
    ("sqlcmd", Language::Sqlcmd),
    ("sqlite", Language::Sqlite),
    ("sqlplus", Language::Sqlplus),
    ("transfer", Language::Transfer),
    ("vim", Language::Vim),
];

/// `vim in -c --cmd plus files -S fed with -e`.
pub fn commands(words: &[&str]) -> Option<Commands> {
    let (name, mut rest) = words.split_first()?;
    let language = LANGUAGES.iter().find(|(known, _)| known == name).map(|(_, language)| *language)?;
    let options = given("in", &mut rest)?;
    let operands = match rest.split_first() {
        Some((&"plus", _)) => CommandOperands::Plus,
        Some((&"operands", _)) => CommandOperands::All,
        Some((&"first", _)) => CommandOperands::First,
        Some((&"after_first", _)) => CommandOperands::Rest,
        _ => CommandOperands::None,
    };
    if operands != CommandOperands::None {
        rest = rest.get(1..)?;
    }
    let files = given("files", &mut rest)?;
    let fed = match rest {
        [] => Fed::Never,
        ["fed"] => Fed::Always,
        ["fed", "alone"] => Fed::Alone,
        ["fed", "with", own @ ..] => Fed::With(self::options(own)?),
        _ => return None,
    };
    Some(Commands { language, options, operands, files, fed })
}

/// The output that the words define.
pub fn prints(words: &[&str]) -> Option<Prints> {
    Some(match words {
        ["words"] => Prints::Words,
        ["format"] => Prints::Format,
        ["input"] => Prints::Input,
        ["names"] => Prints::Names,
        ["folder"] => Prints::Folder,
        ["new", own @ ..] => Prints::New(options(own)?),
        _ => return None,
    })
}

/// The form in which words name files.
pub fn files(words: &[&str]) -> Option<At> {
    match words {
        [word] if FILE_WORDS.contains(word) => file_word(word),
        [word] if word.len() > 1 && word.ends_with('=') && !word.starts_with('-') && is_plain(word) => {
            Some(At::Field((*word).to_owned()))
        }
        ["pathspecs", rest @ ..] => options(rest).map(At::Pathspecs),
        ["names", rest @ ..] => options(rest).map(At::Into),
        ["plain", rest @ ..] => options(rest).map(At::Plain),
        ["fields", rest @ ..] => options(rest).map(At::Fields),
        ["settings", rest @ ..] => keyed(rest).map(|(options, keys)| At::Settings(options, keys)),
        ["lines", rest @ ..] => options(rest).map(At::Lines),
        ["mounts", rest @ ..] => options(rest).map(At::Mounts),
        ["downloads"] => Some(At::Downloads(Vec::new())),
        ["downloads", rest @ ..] => options(rest).map(At::Downloads),
        ["packed", ends @ ..] if !ends.is_empty() => Some(At::Packed(owned(ends))),
        ["file", path] => Some(At::Fixed((*path).to_owned())),
        ["below", glob] => Some(At::Below((*glob).to_owned())),
        words => options(words).map(At::Value).or_else(|| {
            let attached: Option<Vec<&str>> = words.iter().map(|word| word.strip_prefix('@')).collect();
            options(&attached?).map(At::Attached)
        }),
    }
}

/// `leaves_out --exclude`.
pub fn choosing(words: &[&str]) -> Option<(Choosing, Vec<String>)> {
    let (word, own) = words.split_first()?;
    Some((choosing_word(word)?, options(own)?))
}

/// The form in which words name hosts.
pub fn hosts(words: &[&str]) -> Option<Net> {
    let said = |rest: &[&str]| (!rest.concat().is_empty()).then(|| rest.join(" "));
    match words {
        [word] if HOST_WORDS.contains(word) => host_word(word),
        ["*"] => Some(Net::Elsewhere("a host that the row does not name".to_owned())),
        ["unnamed", rest @ ..] => said(rest).map(Net::Elsewhere),
        ["unknown", rest @ ..] => said(rest).map(Net::Listed),
        ["first", "or", "unnamed", rest @ ..] => said(rest).map(Net::OperandOr),
        ["urls", rest @ ..] => options(rest).map(Net::UrlValue),
        ["repositories", rest @ ..] => options(rest).map(Net::Repositories),
        ["connections"] => Some(Net::Connections(Vec::new())),
        ["connections", rest @ ..] => options(rest).map(Net::Connections),
        ["relays", rest @ ..] => options(rest).map(Net::Relays),
        ["jumps", rest @ ..] => options(rest).map(Net::Jumps),
        ["settings", rest @ ..] => keyed(rest).map(|(options, keys)| Net::Settings(options, keys)),
        [own @ .., "or", host] if is_host(host) => {
            options(own).map(|own| Net::Value(own, Some((*host).to_owned())))
        }
        [word] if is_host(word) => Some(Net::Fixed((*word).to_owned())),
        [word] if word.len() > 1 && word.starts_with('$') && is_plain(word) => {
            word.strip_prefix('$').map(|name| Net::Variable(name.to_owned()))
        }
        words => options(words).map(|own| Net::Value(own, None)),
    }
}

/// Options, and the keys that are looked for in their values.
fn keyed(words: &[&str]) -> Option<(Vec<String>, Vec<String>)> {
    let end = words.iter().position(|word| !is_option(word))?;
    let (own, keys) = words.split_at_checked(end)?;
    Some((options(own)?, owned(keys)))
}

/// Every host but this machine has a point or a colon in its name.
fn is_host(word: &str) -> bool {
    let begins = !word.starts_with(['-', '$', '@']);
    begins && is_plain(word) && !word.contains('*') && (word.contains(['.', ':']) || word == "localhost")
}

/// Takes a mark.
pub fn mark(name: &str, rest: &mut &[&str]) -> bool {
    match rest {
        [first, others @ ..] if *first == name => {
            *rest = others;
            true
        }
        _ => false,
    }
}

/// Takes the options after a word.
pub fn given(name: &str, rest: &mut &[&str]) -> Option<Vec<String>> {
    if !mark(name, rest) {
        return Some(Vec::new());
    }
    let end = rest.iter().position(|word| !is_option(word)).unwrap_or(rest.len());
    let (own, others) = rest.split_at_checked(end)?;
    *rest = others;
    options(own)
}

/// How the words say that another program is run.
pub fn run(words: &[&str]) -> Option<Run> {
    let marks = ["after", "elsewhere", "apart", "more", "fills", "besides", "versioned", "unless", "shell"];
    let end = words.iter().position(|word| marks.contains(word)).unwrap_or(words.len());
    let (own, mut rest) = words.split_at_checked(end)?;
    let inner = match own {
        ["words"] => Inner::Words,
        ["script"] => Inner::Script,
        ["first"] => Inner::First,
        ["input"] => Inner::Input,
        ["keys"] => Inner::Keys,
        ["piped"] => Inner::Piped,
        ["entry", own @ ..] => Inner::Entry(options(own)?),
        ["past", own @ ..] => Inner::After(options(own)?),
        ["as", program] if is_plain(program) && !program.is_empty() => Inner::As((*program).to_owned()),
        [own @ .., "and", "words"] => Inner::ValueAndWords(options(own)?),
        [own @ .., "or", "words"] => Inner::ValueOrWords(options(own)?),
        own => Inner::Value(options(own)?),
    };
    let mut skip = 0;
    if let ["after", number, others @ ..] = rest {
        let digits = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
        (skip, rest) = (number.parse().ok().filter(|_| digits)?, others);
    }
    let elsewhere = mark("elsewhere", &mut rest);
    let apart = match mark("apart", &mut rest) {
        true => Some(Apart { with: given("with", &mut rest)?, without: given("without", &mut rest)? }),
        false => None,
    };
    let (more, fills) = (mark("more", &mut rest), mark("fills", &mut rest));
    let besides = mark("besides", &mut rest);
    let (versioned, unless) = (mark("versioned", &mut rest), given("unless", &mut rest)?);
    let shell = match rest {
        [] => Shell::Never,
        ["shell"] => Shell::Always,
        ["shell", own @ ..] => Shell::With(options(own)?),
        _ => return None,
    };
    Some(Run { inner, skip, elsewhere, apart, more, fills, besides, versioned, unless, shell })
}
