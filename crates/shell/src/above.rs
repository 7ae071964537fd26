//! Folders above a place: an action on a folder with all its content is one on that place.

use super::Answer;
use super::glob::{Glob, Token};
use super::word::Symbol;

/// Folders that hold the home folders of people.
const HOMES: [&str; 3] = ["home", "Users", "users"];

/// The names on the way to a path, from its beginning: `/`, `~`, `.` or `..`.
type Names<'s> = Vec<&'s [Symbol]>;

fn names(path: &[Symbol]) -> Names<'_> {
    let path = path.strip_suffix(&[Symbol::Char('/')]).unwrap_or(path);
    path.split(|symbol| *symbol == Symbol::Char('/')).collect()
}

fn text(name: &[Symbol]) -> Option<String> {
    let letter = |symbol: &Symbol| match symbol {
        Symbol::Char(letter) => Some(*letter),
        _ => None,
    };
    name.iter().map(letter).collect()
}

fn is(name: &[Symbol], wanted: &str) -> bool {
    name.len() == wanted.len()
        && name.iter().zip(wanted.chars()).all(|(symbol, letter)| *symbol == Symbol::Char(letter))
}

/// Whether a name, a pattern of the shell perhaps, is this one.
fn may_be(name: &[Symbol], wanted: &[Symbol]) -> Answer {
    if name == wanted {
        return Answer::Yes;
    }
    if name.iter().all(|symbol| matches!(symbol, Symbol::Char(_))) {
        return Answer::No;
    }
    let letter = |symbol: &Symbol| match symbol {
        Symbol::Char(letter) => Token::Char(*letter),
        _ => Token::Star,
    };
    match Glob::new(wanted.iter().map(letter).collect()).symbols(name, None) {
        Answer::No => Answer::No,
        _ => Answer::Perhaps("*".to_owned()),
    }
}

/// Whether the folder is on the way to the place.
fn leads(folder: &[&[Symbol]], place: &[&[Symbol]]) -> Answer {
    if folder.len() > place.len() {
        return Answer::No;
    }
    folder.iter().zip(place).fold(Answer::Yes, |answer, (name, wanted)| match answer {
        Answer::No => Answer::No,
        answer => answer.and(|| may_be(name, wanted)),
    })
}

/// Number of folders further up at which it begins, if it consists of nothing else: 0 is the folder itself.
fn ups(folder: &[&[Symbol]]) -> Option<usize> {
    match folder {
        [only] if is(only, ".") => Some(0),
        names => names.iter().all(|name| is(name, "..")).then_some(names.len()),
    }
}

/// Whether a folder holds the place where a pattern begins. `here`: further names of the session's folder besides `.`;
/// none if they are unknown.
pub fn holds(folder: &[Symbol], place: &[Symbol], here: &[Vec<Symbol>]) -> Answer {
    let (own, wanted) = (names(folder), names(place));
    let relative = wanted.first().is_some_and(|first| is(first, ".") || is(first, ".."));
    let mut answer = leads(&own, &wanted);
    if let Some(up) = ups(&own) {
        let begins = wanted.iter().take_while(|name| is(name, "..")).count();
        if relative && up > begins {
            answer = Answer::Yes;
        }
    }
    // `.*` finds `.` and `..` as well, as some shells read it.
    if let Some((last, rest)) = own.split_last()
        && matches!(**last, [Symbol::Char('.'), Symbol::AnyName])
    {
        let mut rest: Vec<Symbol> = rest.join(&Symbol::Char('/'));
        if rest.is_empty() {
            rest.push(Symbol::Char('/'));
        }
        answer = answer.or(|| perhaps(holds(&rest, place, here)));
    }
    if matches!(own.as_slice(), [only] if only.is_empty()) {
        return Answer::Yes;
    }
    if relative {
        let known = here.iter().map(|here| {
            let home = matches!(here.first(), Some(Symbol::Char('~')));
            let found = leads(&own, &from(here, &wanted));
            if home { perhaps(found) } else { found }
        });
        answer = answer.or(|| Answer::any(known));
        let nowhere = here.is_empty();
        answer = answer.or(|| if nowhere { perhaps(may_hold_any(&own)) } else { may_be_home(&own) });
    } else if wanted.first().is_some_and(|first| is(first, "~")) {
        answer = answer.or(|| perhaps(may_hold_homes(&own)));
    }
    answer
}

fn perhaps(answer: Answer) -> Answer {
    answer.and(|| Answer::Perhaps("*".to_owned()))
}

/// The names on the way to a relative place, from where the session's folder begins.
fn from<'s>(here: &'s [Symbol], relative: &[&'s [Symbol]]) -> Names<'s> {
    let mut whole = names(here);
    for name in relative {
        match (is(name, "."), is(name, "..")) {
            (true, _) => {}
            (_, true) if whole.len() > 1 => drop(whole.pop()),
            (_, true) => {}
            _ => whole.push(name),
        }
    }
    whole
}

/// Whether it is the home folder, which may be anywhere.
fn may_be_home(folder: &[&[Symbol]]) -> Answer {
    let is_home = matches!(folder, [home] if is(home, "~"));
    if is_home { Answer::Perhaps("~".to_owned()) } else { Answer::No }
}

/// Whether it holds the folders of people, or is named so that it may.
fn may_hold_homes(folder: &[&[Symbol]]) -> Answer {
    let symbols: Vec<Vec<Symbol>> =
        HOMES.iter().chain(&["root"]).map(|home| home.chars().map(Symbol::Char).collect()).collect();
    match folder {
        [[], first] => Answer::any(symbols.iter().map(|home| may_be(first, home))),
        [[], first, second] if text(second).is_none() => {
            Answer::any(symbols.iter().map(|home| may_be(first, home)))
        }
        _ => Answer::No,
    }
}

/// Whether it may hold an unknown folder.
fn may_hold_any(folder: &[&[Symbol]]) -> Answer {
    let wild = |name: &[Symbol]| text(name).is_none();
    let found = match folder {
        [home] => is(home, "~"),
        [home, name] if is(home, "~") => wild(name),
        [[], name] => wild(name),
        names => {
            // As many names back as there were folders up.
            let up = names.iter().take_while(|name| is(name, "..")).count();
            up > 0 && names.len() <= 2 * up && names.iter().skip(up).all(|name| wild(name))
        }
    };
    let found = if found || is_project(folder) { Answer::Perhaps("*".to_owned()) } else { Answer::No };
    found.or(|| may_hold_homes(folder))
}

/// Whether people keep their projects there: a folder in a home folder that is not hidden, or one in such a folder. An
/// agent names its own by an absolute path.
fn is_project(folder: &[&[Symbol]]) -> bool {
    let below = match folder {
        [[], homes, _, rest @ ..] if HOMES.iter().any(|home| is(homes, home)) => rest,
        [[], root, rest @ ..] if is(root, "root") => rest,
        _ => return false,
    };
    let hidden = |name: &&[Symbol]| name.first() == Some(&Symbol::Char('.'));
    matches!(below.len(), 1 | 2) && !below.iter().any(hidden)
}
