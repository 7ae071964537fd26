//! Patterns over paths, in lists that are read like a `.gitignore`.

use std::sync::{Arc, OnceLock};

use super::{ENVIRONMENT, Form, Place, below_home, chars, folded, is_environment};
use crate::Answer;
use crate::choice::Choice;
use crate::extent::Extent;
use crate::glob::{Glob, Token, path_glob};
use crate::word::Symbol;

/// A list of patterns: a later one decides before an earlier one, and `!` takes out again.
#[derive(Debug, Clone)]
pub struct Patterns {
    written: Vec<String>,
    /// Made when a file is first compared: most calls touch none.
    list: OnceLock<Vec<Pattern>>,
    /// The same in small letters, for systems that ignore case.
    folded: OnceLock<Vec<Pattern>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    out: bool,
    /// Globs for the path itself, and for everything below it.
    globs: [Glob; 2],
    /// The folder itself, if the pattern represents its contents: `X` of `X/**`, `X/*` and `**/X/**`.
    folder: Option<Glob>,
    /// Whether it means variables of the environment.
    environment: bool,
    /// Whether it is `/**` or `~/**`, which match what is not in the session's folder. A pattern that names a place
    /// matches what is there, wherever the session began.
    elsewhere: bool,
    /// Whether it means what git keeps itself.
    of_git: bool,
    /// Whether its last name may be a folder. A name with a dot or a star in it is taken for that of a file.
    may_be_folder: bool,
    /// As written, without the mark of an exclusion.
    written: String,
    /// The text before the first wildcard, for operations on whole folders. Empty for a pattern without a fixed place.
    fixed: Vec<Symbol>,
}

/// The path that a pattern is compared with.
#[derive(Clone, Copy)]
struct About<'a> {
    place: &'a Place,
    extent: Extent,
    /// The name, for all files of that folder with this name.
    named: Option<&'a [Symbol]>,
    /// A word of that name which is not known.
    unknown: Option<&'a str>,
}

impl PartialEq for Patterns {
    fn eq(&self, other: &Patterns) -> bool {
        self.written == other.written
    }
}

impl Eq for Patterns {}

impl Patterns {
    /// Reads a list.
    pub fn new<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Patterns {
        let written = patterns.into_iter().map(str::to_owned).collect();
        Patterns { written, list: OnceLock::new(), folded: OnceLock::new() }
    }

    /// Whether the path matches, or a part of it. A shell pattern that contains a whole path, as `.env*` contains
    /// `.env`, matches that one whatever else it matches.
    pub fn matches(&self, place: &Place, extent: Extent) -> Answer {
        let about = About { place, extent, named: None, unknown: None };
        if let Some(choice) =
            place.choice.as_ref().filter(|choice| extent == Extent::Searched && !choice.only.is_empty())
        {
            return Answer::any(choice.only.iter().map(|name| {
                let named =
                    |symbols| About { named: Some(symbols), unknown: name.unknown.as_deref(), ..about };
                match self.listed(named(&name.symbols)) {
                    Answer::Sweep(_) | Answer::Perhaps(_)
                        if self.listed(named(&name.spelt)) == Answer::Yes =>
                    {
                        Answer::Yes
                    }
                    answer => answer,
                }
            }));
        }
        match (self.listed(about), place.spelt()) {
            (Answer::Perhaps(_) | Answer::Sweep(_), Some(spelt))
                if self.listed(About { place: &spelt, ..about }) == Answer::Yes =>
            {
                Answer::Yes
            }
            (answer, _) => answer,
        }
    }

    fn list(&self, place: &Place) -> &[Pattern] {
        let list = || self.list.get_or_init(|| self.written.iter().map(|text| Pattern::new(text)).collect());
        let folded = || list().iter().map(Pattern::folded).collect();
        if place.folds { self.folded.get_or_init(folded) } else { list() }
    }

    fn listed(&self, about: About<'_>) -> Answer {
        let mut answer = Answer::No;
        let list = self.list(about.place);
        // An exclusion of one of these files considered the others: `--exclude .env`, where `*.pem` matches as well.
        let leaves_out = |choice: &Arc<Choice>| {
            list.iter().any(|pattern| !pattern.out && pattern.fixed.is_empty() && pattern.is_left_out(choice))
        };
        let leaves_out = about.extent == Extent::Whole && about.place.choice.as_ref().is_some_and(leaves_out);
        for pattern in list {
            let extent = match about.extent {
                Extent::Whole if leaves_out && pattern.fixed.is_empty() => Extent::Itself,
                extent => extent,
            };
            let own = pattern.matches(About { extent, ..about });
            answer = match (own, pattern.out) {
                (own, false) => answer.or(|| own),
                (Answer::Yes, true) => Answer::No,
                (Answer::No, true) => answer,
                (Answer::Perhaps(word) | Answer::Sweep(word), true) => answer.at_most_if(true, || word),
            };
        }
        answer
    }
}

impl Pattern {
    fn new(text: &str) -> Pattern {
        let (out, text) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
        let is_folder = text.len() > 1 && text.ends_with('/');
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
        let floating = !anchored && !whole.starts_with("./");
        let tokens = |text: &str| {
            let mut tokens = Vec::new();
            if floating {
                tokens.extend([Token::Deep, Token::Char('/')]);
            }
            tokens.extend(path_glob(text));
            tokens
        };
        let own = tokens(&whole);
        let mut below = own.clone();
        // The root ends with its own slash.
        below.extend((whole != "/").then_some(Token::Char('/')));
        below.push(Token::Deep);
        let mut folder = whole.as_str();
        while let Some(outer) = folder.strip_suffix("/**").or_else(|| folder.strip_suffix("/*")) {
            folder = outer;
        }
        let folder = Some(folder)
            .filter(|folder| folder.len() < whole.len() && !folder.is_empty() && !folder.ends_with('*'));
        let fixed = if floating {
            String::new()
        } else {
            let end = whole.find(['*', '?', '[']).unwrap_or(whole.len());
            whole.get(..end).unwrap_or_default().trim_end_matches('/').to_owned()
                + if end == whole.len() { "" } else { "/" }
        };
        let fixed = chars(&fixed);
        let last = whole.rsplit('/').next().unwrap_or_default();
        Pattern {
            out,
            may_be_folder: is_folder || folder.is_some() || !last.contains(['.', '*', '?', '[']),
            folder: folder.map(|folder| Glob::new(tokens(folder))),
            globs: [Glob::new(own), Glob::new(below)],
            environment: is_environment(&fixed),
            elsewhere: matches!(whole.trim_end_matches(['*', '/']), "" | "~") && anchored,
            of_git: text.split('/').any(|name| name == ".git"),
            written: text.to_owned(),
            fixed,
        }
    }

    /// The pattern in small letters. Variables of the environment are case-sensitive everywhere.
    fn folded(&self) -> Pattern {
        if self.environment {
            return self.clone();
        }
        let mark = if self.out { "!" } else { "" };
        let end = if self.may_be_folder && self.folder.is_none() { "/" } else { "" };
        Pattern::new(&format!("{mark}{}{end}", self.written.to_lowercase()))
    }

    /// Whether it begins exactly at the session's folder: then nothing that it names is elsewhere.
    fn begins_at(&self, place: &Place) -> bool {
        let home = place.home.as_deref();
        place.folder.as_deref().is_some_and(|folder| match self.fixed.first() {
            Some(Symbol::Char('~')) => {
                folder.is_empty() || below_home(folder, home).is_some_and(<[_]>::is_empty)
            }
            _ => folder.is_empty(),
        })
    }

    /// For an exclusion, "yes" means that it excludes everything in question.
    fn matches(&self, about: About<'_>) -> Answer {
        let About { place, extent, .. } = about;
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
        if place.inside && self.elsewhere && !self.begins_at(place) {
            return Answer::No;
        }
        let floating = self.fixed.is_empty();
        match extent {
            Extent::IfFolder | Extent::WithinIfFolder if floating => Answer::No,
            Extent::Inside if self.out => self.put(place),
            Extent::Inside => self.itself(place, extent).or(|| self.put(place)),
            Extent::Within | Extent::WithinIfFolder => self.put(place).or(|| self.below(about)),
            _ => match self.itself(place, extent) {
                // Folders that a pattern of the shell finds are searched as any other.
                Answer::Perhaps(_) if extent == Extent::Searched && floating && !place.is_open() => {
                    self.below(about)
                }
                answer => answer.or(|| self.below(about)),
            },
        }
    }

    /// Whether it means the path itself, or the folder with all that it holds.
    fn itself(&self, place: &Place, extent: Extent) -> Answer {
        let mut best = Answer::No;
        let [own, below] = &self.globs;
        let folder = self.folder.as_ref().filter(|_| extent.is_deep());
        for (guessed, form) in place.named() {
            for glob in [Some(own), folder, Some(below)].into_iter().flatten() {
                let is_own = std::ptr::eq(glob, own);
                match form.matches(glob, place.unclear()) {
                    Answer::Yes => return Answer::Yes,
                    // A gap could name any folder, also an excluded one, and a search comes through all of them.
                    Answer::Perhaps(word)
                        if !guessed && (is_own || !(self.out || place.searched && self.fixed.is_empty())) =>
                    {
                        best = Answer::Perhaps(word);
                    }
                    _ => {}
                }
            }
        }
        best
    }

    /// Whether it matches anything put into a folder, under any name.
    fn put(&self, place: &Place) -> Answer {
        let means = |(_, form): (bool, &Form)| {
            let inside = form.inside(&[Symbol::AnyName]);
            self.globs.iter().any(|glob| inside.matches(glob, None) == Answer::Yes)
        };
        let perhaps = |holds: bool| if holds { Answer::Perhaps(place.shown.clone()) } else { Answer::No };
        if !place.named().any(means) {
            // The added file may be just the excluded one.
            return perhaps(self.out && self.may_lie_in(place));
        }
        // A file put above the session's folder may land in it.
        let up = self.elsewhere || self.fixed.starts_with(&chars(".."));
        if up && !self.out && !place.inside && place.holds(&[Symbol::Char('.')]) != Answer::No {
            return perhaps(true);
        }
        Answer::Yes
    }

    /// Whether something below a folder may be called as it says.
    fn may_lie_in(&self, place: &Place) -> bool {
        place.named().filter(|(guessed, _)| !guessed).any(|(_, form)| {
            let inside = form.inside(&[Symbol::Any]);
            self.globs.iter().any(|glob| inside.matches(glob, None) != Answer::No)
        })
    }

    fn is_left_out(&self, choice: &Choice) -> bool {
        choice.leaves_out(&self.written, self.folder.is_some())
    }

    /// For a folder with all its content: whether the pattern matches something there.
    fn below(&self, about: About<'_>) -> Answer {
        let About { place, extent, named, unknown } = about;
        if !extent.is_deep() && !matches!(extent, Extent::Within | Extent::WithinIfFolder) {
            return Answer::No;
        }
        let named = named.map_or(Answer::Perhaps(String::new()), |name| self.all_named(place, name));
        if self.out {
            return match named {
                Answer::Perhaps(_) if about.named.is_none() => Answer::No,
                Answer::Perhaps(_) => Answer::Perhaps(place.shown.clone()),
                named => named,
            };
        }
        if !matches!(named, Answer::Perhaps(_)) {
            return named;
        }
        let perhaps = || Answer::Perhaps(place.shown.clone());
        if !self.fixed.is_empty() {
            let held = place.holds(&self.fixed);
            let held = if extent.is_deep() { held } else { held.and(perhaps) };
            return held.or(|| if self.may_lie_in(place) { perhaps() } else { Answer::No });
        }
        if place.choice.as_ref().is_some_and(|choice| self.is_left_out(choice)) {
            return Answer::No;
        }
        match (extent, unknown) {
            (Extent::Searched, Some(word)) => Answer::Perhaps(word.to_owned()),
            (Extent::Searched, None) if place.is_named_as_file() => Answer::No,
            (Extent::Searched, None) => Answer::Sweep(place.shown.clone()),
            // It may match in any folder, so no folder could be deleted: only the session's counts, and those that hold
            // it.
            (Extent::Whole, _) => place.holds(&[Symbol::Char('.')]).and(perhaps),
            _ => Answer::No,
        }
    }

    /// Whether it means the files of a folder that have this name: all, none, or perhaps some.
    fn all_named(&self, place: &Place, name: &[Symbol]) -> Answer {
        let [own, below] = &self.globs;
        let globs = [Some(own), Some(below).filter(|_| self.may_be_folder)];
        let at = |name: &[Symbol]| {
            let forms = place.named().filter(|(guessed, _)| !guessed);
            Answer::any(forms.flat_map(|(_, form)| {
                let form = form.inside(name);
                globs.into_iter().flatten().map(move |glob| form.matches(glob, None))
            }))
        };
        let name: Vec<Symbol> = match place.folds {
            true => name.iter().copied().map(folded).collect(),
            false => name.to_vec(),
        };
        let deeper = [&[Symbol::Any, Symbol::Char('/')], name.as_slice()].concat();
        match (at(&name), at(&deeper)) {
            (Answer::Yes, Answer::Yes) => Answer::Yes,
            (Answer::No, Answer::No) => Answer::No,
            _ => Answer::Perhaps(place.shown.clone()),
        }
    }
}
