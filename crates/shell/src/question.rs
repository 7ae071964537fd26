//! A rule's question about a call: several matchers, all of which must hold for one of its commands.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Answer;
use super::call::{Act, Extent, Line, SmallCall, Touch};
use super::effects;
use super::facts::Table;
use super::matcher::{Matcher, Runs, Surroundings};
use super::path::{Patterns, Place};

/// Matchers, each with how it is written. Of a group, one must hold.
#[derive(Debug, Clone)]
pub struct Question {
    groups: Vec<Arc<Group>>,
    /// No other question has it, so that answers can be kept by it.
    number: u64,
    files: bool,
    around: bool,
    facts: Table,
}

impl PartialEq for Question {
    fn eq(&self, other: &Question) -> bool {
        self.groups == other.groups && self.facts == other.facts
    }
}

impl Eq for Question {}

static NUMBERS: AtomicU64 = AtomicU64::new(0);

/// Alternatives, mostly one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The key.
    pub key: &'static str,
    /// The text as written, for people; empty if the matchers show it.
    pub written: Vec<String>,
    /// The matchers, one of which must hold.
    pub any: Vec<Matcher>,
}

/// Files that were written from matching files: they match as well.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Copies(Arc<HashMap<String, Copy>>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Copy {
    /// Whether everything below it was copied.
    deep: bool,
    /// Whether it is the same file under another name.
    link: bool,
    /// How certain it is that the copied file matches.
    meant: Answer,
}

/// The most copies that are kept: a rule costs no more than this however long a session is.
const COPIES: usize = 1024;

impl Copies {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a file is a copy, or lies in one. Writing to a copy or deleting it does not affect the original; writing
    /// through a link does, and deleting a link deletes only the link.
    fn matches(&self, place: &Place, act: Act) -> Answer {
        if self.0.is_empty() {
            return Answer::No;
        }
        let same = |copy: &&Copy| copy.link || act == Act::Reads;
        let one = |name: &str| {
            let whole = self.0.get(name).filter(same).filter(|_| act != Act::Deletes);
            let whole = whole.map_or(Answer::No, |copy| copy.meant.clone());
            let above = name.match_indices('/').filter_map(|(end, _)| self.0.get(name.get(..end)?));
            let above = above.filter(|copy| copy.deep || copy.link).filter(same);
            whole.or(|| Answer::any(above.map(|copy| copy.meant.clone())))
        };
        Answer::any(place.names().map(one))
    }

    fn add(&mut self, from: &Place, to: &Place, deep: bool, link: bool, meant: &Answer) {
        if self.0.len() >= COPIES {
            return;
        }
        let copies = Arc::make_mut(&mut self.0);
        let base = from.names().next().and_then(|name| name.rsplit('/').next().map(str::to_owned));
        for name in to.names() {
            // Into a folder, a copy keeps its name.
            let within = base.as_ref().map(|base| format!("{}/{base}", name.trim_end_matches('/')));
            for name in within.into_iter().chain([name.to_owned()]) {
                let copy = copies.entry(name).or_insert_with(|| Copy { deep, link, meant: Answer::No });
                copy.meant = copy.meant.clone().or(|| meant.clone());
            }
        }
    }
}

impl Question {
    /// One that asks this: all groups must hold of one command.
    pub fn new(groups: Vec<Arc<Group>>) -> Question {
        let mut matchers = groups.iter().flat_map(|group| &group.any);
        let files = matchers.clone().any(|matcher| matches!(matcher, Matcher::Touches(..)));
        let around = matchers.any(|matcher| matches!(matcher, Matcher::Agent(_) | Matcher::Ended(_)));
        Question {
            groups,
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            files,
            around,
            facts: Table::default(),
        }
    }

    /// The same with a policy's facts about programs and tools.
    pub fn by(self, facts: &Table) -> Question {
        Question { facts: facts.clone(), ..self }
    }

    /// The facts about programs and tools.
    pub fn facts(&self) -> &Table {
        &self.facts
    }

    /// Its groups: all of them must hold for one command.
    pub fn groups(&self) -> &[Arc<Group>] {
        &self.groups
    }

    /// A number that only this question and its clones have.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Whether it asks for files.
    pub fn asks_files(&self) -> bool {
        self.files
    }

    /// Whether it depends on the agent of a call, or on the outcome.
    pub fn asks_around(&self) -> bool {
        self.around
    }

    /// Whether every group has its own kind of answer for each command of a line. Copies that the line makes are added.
    pub fn answers(&self, line: &Line, around: &Surroundings, copies: &mut Copies) -> Vec<Answer> {
        let mut answers = Vec::with_capacity(line.calls.len());
        for (number, call) in line.calls.iter().enumerate() {
            answers.push(self.answer(call, around, copies));
            // A pipeline runs in parallel: the files it writes are copies after all of it.
            if line.calls.get(number + 1).is_none_or(|next| next.pipeline != call.pipeline) {
                self.copy(line, number, copies);
            }
        }
        answers
    }

    fn answer(&self, call: &SmallCall, around: &Surroundings, copies: &Copies) -> Answer {
        let copied = |matcher: &Matcher| match matcher {
            Matcher::Touches(act, _) => {
                let files = call.files().filter(|(touch, _)| touch.act == *act);
                Answer::any(files.map(|(touch, certain)| {
                    copies.matches(&touch.place, *act).at_most_if(!certain, || touch.shown())
                }))
            }
            _ => Answer::No,
        };
        let one = |matcher: &Matcher| matcher.answer_by(call, around, &self.facts).or(|| copied(matcher));
        self.groups.iter().fold(Answer::Yes, |answer, group| match answer {
            Answer::No => Answer::No,
            answer => answer.and(|| Answer::any(group.any.iter().map(one))),
        })
    }

    /// Records what the pipeline that ends here wrote from matching files.
    fn copy(&self, line: &Line, last: usize, copies: &mut Copies) {
        let Some(end) = line.calls.get(last) else { return };
        let together =
            || line.calls.iter().take(last + 1).rev().take_while(|call| call.pipeline == end.pipeline);
        let touched =
            |act: Act| together().flat_map(SmallCall::files).filter(move |(touch, _)| touch.act == act);
        if touched(Act::Writes).next().is_none() {
            return;
        }
        let link = together().any(|call| effects::links(call, &self.facts));
        for patterns in self.patterns() {
            let meant = |(touch, certain): (&Touch, bool), copies: &Copies| {
                let own = patterns.matches(&touch.place, touch.reach());
                let own = own.or(|| copies.matches(&touch.place, Act::Reads));
                own.at_most_if(!certain, || touch.shown())
            };
            let reads: Vec<_> = touched(Act::Reads).map(|read| (read.0, meant(read, copies))).collect();
            for (read, meant) in reads.iter().filter(|(_, meant)| *meant != Answer::No) {
                for (to, certain) in touched(Act::Writes) {
                    let meant = meant.clone().at_most_if(!certain, || to.shown());
                    copies.add(&read.place, &to.place, read.extent == Extent::Below, link, &meant);
                }
            }
        }
    }

    fn patterns(&self) -> impl Iterator<Item = &Patterns> {
        self.groups.iter().flat_map(|group| &group.any).filter_map(|matcher| match matcher {
            Matcher::Touches(_, patterns) => Some(patterns),
            _ => None,
        })
    }

    /// Whether it asks for files with this act.
    pub fn asks(&self, act: Act) -> bool {
        let mut matchers = self.groups.iter().flat_map(|group| &group.any);
        matchers.any(|matcher| matches!(matcher, Matcher::Touches(asked, _) if *asked == act))
    }

    /// Whether an answer may depend on the folder in which a call is made.
    pub fn asks_folder(&self) -> bool {
        let runs = |matcher: &Matcher| match matcher {
            Matcher::Runs(runs) => runs.asks_folder(),
            matcher => !matches!(matcher, Matcher::Agent(_)),
        };
        self.groups.iter().flat_map(|group| &group.any).any(runs)
    }

    /// Whether it asks how a call ended.
    pub fn asks_end(&self) -> bool {
        self.groups.iter().any(|group| group.key == "ended")
    }

    /// The files of a command that it asks about. `certain`: without those that the command works on only if a `cd`
    /// failed.
    pub fn files<'c>(&self, call: &'c SmallCall, copies: &Copies, certain: bool) -> Vec<&'c Place> {
        let asked = self.groups.iter().flat_map(|group| &group.any).filter_map(|matcher| match matcher {
            Matcher::Touches(act, patterns) => Some((*act, patterns)),
            _ => None,
        });
        let asked: Vec<_> = asked.collect();
        let meant = |touch: &&Touch| {
            asked.iter().any(|(act, patterns)| {
                *act == touch.act
                    && patterns.matches(&touch.place, touch.reach()).or(|| copies.matches(&touch.place, *act))
                        != Answer::No
            })
        };
        let known = |touch: &&Touch| call.instead.is_empty() && touch.extent == Extent::Itself;
        let mentions = call.mentions.iter().filter(|touch| !certain || known(touch));
        let files = call.touches.iter().chain(mentions);
        files.filter(|touch| asked.is_empty() || meant(touch)).map(|touch| &touch.place).collect()
    }

    /// Whether a call that reads a file may be one.
    pub fn asks_reads(&self) -> bool {
        matches!(self.groups.as_slice(), [group] if group.key == "reads")
    }

    /// A command line that certainly matches, if it names one word by word.
    pub fn example(&self) -> Option<String> {
        let group = self.groups.iter().find(|group| group.key == "runs")?;
        let lines = group.texts().filter(|(_, more)| more.is_empty()).map(|(line, _)| line);
        let lines: Vec<String> = lines.filter(|line| !line.contains(['*', '?', '!'])).collect();
        let plain = lines.iter().find(|line| !line.contains('|'));
        // Of several words for one place, the first is enough.
        let first = |line: &String| {
            let words = line.split(' ').map(|word| word.split('|').next().unwrap_or_default());
            words.collect::<Vec<_>>().join(" ")
        };
        plain.cloned().or_else(|| lines.first().map(first))
    }

    /// The question as the name of a call: `` `git push` ``, `reading ".env"`.
    pub fn label(&self) -> String {
        let Some(first) = self.groups.first() else { return "any call".to_owned() };
        let own = match first.key {
            "runs" => first.list(),
            "agent" => format!("any call by {}", first.list()),
            "ended" => format!("any call that ended {}", first.list()),
            key => format!("{}ing {}", key.trim_end_matches('s').trim_end_matches('e'), first.list()),
        };
        self.with_conditions(own)
    }

    /// The instruction to make a matching call: the verb, and its object.
    pub fn order(&self) -> (&'static str, String) {
        let what = |first: &Group| self.with_conditions(first.list());
        match self.groups.first() {
            Some(first) if first.key == "runs" => {
                let line = self.example().map(|line| self.with_conditions(format!("`{line}`")));
                ("run", line.unwrap_or_else(|| what(first)))
            }
            Some(first) if first.key == "reads" => ("read", what(first)),
            Some(first) if first.key == "writes" => ("write", what(first)),
            Some(first) if first.key == "deletes" => ("delete", what(first)),
            Some(first) if first.key == "reaches" => ("connect to", self.with_conditions(first.hosts())),
            _ => ("make", self.label()),
        }
    }

    /// The clause that no call matches: `no connection to any host`.
    pub fn absence(&self) -> String {
        let Some(first) = self.groups.first() else { return "no call".to_owned() };
        let own = match first.key {
            "runs" => format!("no {}", first.list()),
            "reads" => format!("no reading of {}", first.list()),
            "writes" => format!("no writing of {}", first.list()),
            "deletes" => format!("no deletion of {}", first.list()),
            "reaches" => format!("no connection to {}", first.hosts()),
            "ended" => format!("no call that ended {}", first.list()),
            _ => format!("no call by {}", first.list()),
        };
        self.with_conditions(own)
    }

    /// With the conditions of the other keys, in parentheses.
    fn with_conditions(&self, own: String) -> String {
        let rest: Vec<String> = self.groups.iter().skip(1).map(|group| group.condition()).collect();
        if rest.is_empty() { own } else { format!("{own} ({})", rest.join(", ")) }
    }

    /// Its conditions besides a tool's name.
    pub fn conditions(&self) -> impl Iterator<Item = String> {
        self.groups.iter().map(|group| group.condition())
    }
}

impl Group {
    fn condition(&self) -> String {
        match self.key {
            "agent" => format!("by {}", self.list()),
            key => format!("{key} {}", self.list()),
        }
    }

    /// Hosts; a star alone is every other machine.
    fn hosts(&self) -> String {
        let list = self.list();
        match list.strip_prefix("`*`") {
            Some(rest) if rest.is_empty() || rest.starts_with(" except") => format!("any host{rest}"),
            _ => list,
        }
    }

    fn runs(&self) -> impl Iterator<Item = &Runs> {
        self.any.iter().filter_map(|matcher| match matcher {
            Matcher::Runs(runs) => Some(runs),
            _ => None,
        })
    }

    /// The texts as written, each with its further conditions: ``in `prod` ``.
    fn texts(&self) -> impl Iterator<Item = (String, String)> {
        let written = self.written.iter().map(|text| (text.clone(), String::new()));
        written.chain(self.runs().flat_map(Runs::lines))
    }

    fn list(&self) -> String {
        let plain = matches!(self.key, "agent" | "ended");
        // Lists of programs are long, and only the first are named.
        let either = |texts: &mut dyn Iterator<Item = (String, String)>, all: usize| {
            let quote = |(text, more): (String, String)| match (plain, &*more) {
                (true, _) => text,
                (false, "") => format!("`{text}`"),
                (false, more) => format!("`{text}` {more}"),
            };
            let mut shown: Vec<String> = texts.take(3).map(quote).collect();
            if all > shown.len() {
                shown.push(format!("{} more", all - shown.len()));
            }
            match shown.pop() {
                Some(last) if shown.is_empty() => last,
                Some(last) => format!("{} or {last}", shown.join(", ")),
                None => String::new(),
            }
        };
        let is_out = |text: &String| self.key != "runs" && text.starts_with('!');
        let out = self.written.iter().filter(|text| is_out(text)).count();
        let all = self.written.len() + self.runs().map(Runs::len).sum::<usize>();
        let own = either(&mut self.texts().filter(|(text, _)| !is_out(text)), all - out);
        if out == 0 {
            return own;
        }
        let left = self.texts().filter(|(text, _)| is_out(text));
        let mut left = left.map(|(text, more)| (text.trim_start_matches('!').to_owned(), more));
        format!("{own} except {}", either(&mut left, out))
    }
}

impl serde::Serialize for Question {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let whole = |group: &Group| -> Vec<String> {
            group.texts().map(|(text, more)| format!("{text} {more}").trim_end().to_owned()).collect()
        };
        serializer.collect_map(self.groups.iter().map(|group| (group.key, whole(group))))
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label())
    }
}
