//! Patterns over paths, in lists that are read as a `.gitignore` is.

use std::sync::Arc;

use super::{ENVIRONMENT, Place, below_home, chars, is_environment};
use crate::shell::Answer;
use crate::shell::above::Choice;
use crate::shell::extent::Extent;
use crate::shell::glob::{Glob, Token, path_glob};
use crate::shell::word::Symbol;

/// A list of patterns: a later one decides before an earlier one, and `!` takes out again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patterns(Vec<Pattern>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    out: bool,
    /// What the path itself matches, and what lies below it.
    globs: [Glob; 2],
    /// Whether it means variables of the environment.
    environment: bool,
    /// Whether it is `/**` or `~/**`, which mean what is not in the session's folder. Whoever names a place means what is there,
    /// wherever the session began.
    elsewhere: bool,
    /// Whether it means what git keeps itself.
    of_git: bool,
    /// As written, without the mark of what is taken out.
    written: String,
    /// The text before the first wildcard, for operations on whole folders. Empty where the pattern has no fixed place.
    fixed: Vec<Symbol>,
}

impl Patterns {
    /// Reads a list.
    pub fn new<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Patterns {
        Patterns(patterns.into_iter().map(Pattern::new).collect())
    }

    /// Whether the path matches, or what is meant of it. A pattern of the shell that has a path whole, as `.env*` has `.env`,
    /// means that one whatever else it means.
    pub fn matches(&self, place: &Place, extent: Extent) -> Answer {
        match (self.listed(place, extent), place.spelt()) {
            (Answer::Perhaps(_), Some(spelt)) if self.listed(&spelt, extent) == Answer::Yes => Answer::Yes,
            (answer, _) => answer,
        }
    }

    fn listed(&self, place: &Place, extent: Extent) -> Answer {
        let mut answer = Answer::No;
        // Whoever leaves out one of these files has thought of the others: `--exclude .env`, where `*.pem` is meant as well.
        let leaves_out = |choice: &Arc<Choice>| {
            self.0.iter().any(|pattern| !pattern.out && pattern.fixed.is_empty() && !pattern.chosen(choice))
        };
        let leaves_out = extent == Extent::Whole && place.choice.as_ref().is_some_and(leaves_out);
        for pattern in &self.0 {
            let extent = match extent {
                Extent::Whole if leaves_out && pattern.fixed.is_empty() => Extent::Itself,
                // What is written in a folder is taken out with all that the folder holds.
                Extent::Inside | Extent::Within if pattern.out => Extent::Inside,
                _ if pattern.out => Extent::Itself,
                extent => extent,
            };
            answer = match (pattern.matches(place, extent), pattern.out, answer) {
                (Answer::Yes, out, _) => {
                    if out {
                        Answer::No
                    } else {
                        Answer::Yes
                    }
                }
                (Answer::No, _, answer) => answer,
                (Answer::Perhaps(_), true, Answer::No) => Answer::No,
                (Answer::Perhaps(_), false, Answer::Yes) => Answer::Yes,
                (perhaps, _, _) => perhaps,
            };
        }
        answer
    }
}

impl Pattern {
    fn new(text: &str) -> Pattern {
        let (out, text) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
        // Whether a path is a folder is not known here.
        let text = text.strip_suffix('/').filter(|folder| !folder.is_empty()).unwrap_or(text);
        let anchored = text.starts_with(['/', '~'])
            || text.starts_with("./")
            || text.starts_with("../")
            || text.starts_with(ENVIRONMENT)
            || text == "."
            || text == "..";
        let whole = if anchored {
            text.to_owned()
        } else if text.contains('/') && !text.starts_with("**/") {
            format!("./{text}")
        } else {
            text.strip_prefix("**/").unwrap_or(text).to_owned()
        };
        let mut tokens = Vec::new();
        let floating = !anchored && !whole.starts_with("./");
        if floating {
            tokens.extend([Token::Deep, Token::Char('/')]);
        }
        tokens.extend(path_glob(&whole));
        let mut below = tokens.clone();
        // The root ends with its own slash.
        below.extend((whole != "/").then_some(Token::Char('/')));
        below.push(Token::Deep);
        let fixed = if floating {
            String::new()
        } else {
            let end = whole.find(['*', '?', '[']).unwrap_or(whole.len());
            whole.get(..end).unwrap_or_default().trim_end_matches('/').to_owned()
                + if end == whole.len() { "" } else { "/" }
        };
        let fixed = chars(&fixed);
        let globs = [Glob::new(tokens), Glob::new(below)];
        let elsewhere = matches!(whole.trim_end_matches(['*', '/']), "" | "~") && anchored;
        Pattern {
            out,
            globs,
            environment: is_environment(&fixed),
            elsewhere,
            of_git: text.split('/').any(|name| name == ".git"),
            written: text.to_owned(),
            fixed,
        }
    }

    /// Whether the session's folder is the very place where it begins: then nothing that it names is elsewhere.
    fn begins_at(&self, folder: Option<&[Symbol]>) -> bool {
        folder.is_some_and(|folder| match self.fixed.first() {
            Some(Symbol::Char('~')) => folder.is_empty() || below_home(folder).is_some_and(<[_]>::is_empty),
            _ => folder.is_empty(),
        })
    }

    fn matches(&self, place: &Place, extent: Extent) -> Answer {
        if place.environment || self.environment {
            let all = place.forms.first().is_some_and(|path| path.symbols.ends_with(&[Symbol::AnyName]));
            let [own, _] = &self.globs;
            return match (place.environment && self.environment, place.forms.first()) {
                (true, _) if all => Answer::Yes,
                (true, Some(path)) => path.matches(own, place.unclear()),
                _ => Answer::No,
            };
        }
        if place.tracked && self.of_git {
            return Answer::No;
        }
        if place.inside && self.elsewhere && !self.begins_at(place.folder.as_deref()) {
            return Answer::No;
        }
        let mut best = Answer::No;
        if matches!(extent, Extent::IfFolder | Extent::Within) && self.fixed.is_empty() {
            return Answer::No;
        }
        for (at, form) in place.forms.iter().enumerate() {
            // Where the home folder is, nobody said: only what holds of every place counts.
            let guessed = at > 0 && form.symbols.get(1) == Some(&Symbol::Any);
            if extent == Extent::Inside && self.out {
                let inside = form.inside();
                if self.globs.iter().any(|glob| inside.matches(glob, place.unclear()) == Answer::Yes) {
                    return Answer::Yes;
                }
                continue;
            }
            for (below, glob) in self.globs.iter().enumerate() {
                match form.matches(glob, place.unclear()) {
                    Answer::Yes => return Answer::Yes,
                    // A gap could name any folder, also one that is taken out, and a search comes through all of them.
                    Answer::Perhaps(word)
                        if !guessed
                            && !(below > 0 && (self.out || place.searched && self.fixed.is_empty())) =>
                    {
                        best = Answer::Perhaps(word)
                    }
                    Answer::Perhaps(_) | Answer::No => {}
                }
            }
        }
        best.or(|| self.below(place, extent))
    }

    /// Whether it may mean something that a program's options choose.
    fn chosen(&self, choice: &Choice) -> bool {
        choice.may_have(&self.globs[0], &self.written)
    }

    /// Of a folder with everything in it: whether the pattern means something there.
    fn below(&self, place: &Place, extent: Extent) -> Answer {
        if self.fixed.is_empty() && !place.choice.as_ref().is_none_or(|choice| self.chosen(choice)) {
            return Answer::No;
        }
        let perhaps = || Answer::Perhaps(place.shown.clone());
        match (extent, self.fixed.is_empty()) {
            (Extent::Below | Extent::Within | Extent::Whole, false) => place.holds(&self.fixed),
            // It may be met in any folder, so nobody could delete one: the session's counts, and those that hold it.
            (Extent::Whole, true) => place.holds(&[Symbol::Char('.')]).and(perhaps),
            _ => Answer::No,
        }
    }
}
