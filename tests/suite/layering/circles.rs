//! No file needs another that needs it in turn.
//!
//! A file needs the files whose names it uses. A re-exported name (`pub use`) is looked up at its origin, so a module may
//! re-export the contents of its files without needing them.

use std::collections::{BTreeMap, BTreeSet};

use super::{Source, sources};

/// A module, by its crate and its path there.
type Module = Vec<String>;

/// A dialect's units make its monitors, which ask their units.
const ONE_THING: &[&str] = &["unit", "monitor", "plan"];

struct File {
    module: Module,
    code: String,
    /// Names of the modules that it declares.
    children: BTreeSet<String>,
    /// What it gives on: a name here, and where it is from.
    given: BTreeMap<String, Module>,
}

impl File {
    fn of(source: &Source) -> File {
        let path = source.path.with_extension("");
        let parts = path.iter().map(|part| part.to_str().unwrap().to_owned()).filter(|part| part != "lib");
        let module = std::iter::once(source.of.to_owned()).chain(parts);
        let code: Vec<&str> = source.code().map(|(_, line)| line.split("//").next().unwrap()).collect();
        // `pub(in crate::module)` needs nothing of that module.
        let code = code.join("\n").replace("(in crate::", "(in ");
        let declared = code.split("mod ").skip(1).filter_map(|rest| rest.split_once(';'));
        let is_name = |name: &&str| name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        let children = declared.map(|(name, _)| name).filter(is_name).map(str::to_owned).collect();
        let mut file = File { module: module.collect(), code, children, given: BTreeMap::new() };
        for (public, path, name) in file.uses() {
            if let Some(from) = file.absolute(&path).filter(|_| public) {
                file.given.insert(name, from);
            }
        }
        file
    }

    /// Every path that is brought into scope: whether it is given on, the path, and the name it has here.
    fn uses(&self) -> Vec<(bool, Vec<String>, String)> {
        let mut found = Vec::new();
        for statement in self.code.split_inclusive(';') {
            let Some((head, tree)) = statement.split_once("use ") else { continue };
            if head.is_empty() || head.ends_with(char::is_whitespace) {
                let public = head.rsplit('\n').next().is_some_and(|line| line.trim().starts_with("pub"));
                let mut paths = Vec::new();
                expand(&[], tree.trim_end_matches(';'), &mut paths);
                found.extend(paths.into_iter().map(|(path, name)| (public, path, name)));
            }
        }
        found
    }

    /// A path from the crate; `None` where it leads elsewhere.
    fn absolute(&self, path: &[String]) -> Option<Module> {
        let mut base = self.module.clone();
        let rest = match path.first()?.as_str() {
            "crate" => {
                base.truncate(1);
                &path[1..]
            }
            "self" => &path[1..],
            "super" => {
                let up = path.iter().take_while(|part| *part == "super").count();
                base.truncate(base.len().checked_sub(up)?);
                &path[up..]
            }
            first if self.children.contains(first) => path,
            _ => return None,
        };
        base.extend(rest.iter().cloned());
        Some(base)
    }

    /// Every path in the code that leads into the crate.
    fn needs(&self) -> Vec<Module> {
        let own = self.uses().into_iter().filter(|(public, ..)| !public).map(|(_, path, _)| path);
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
        let code: Vec<&str> = self.code.split(';').filter(|part| !part.contains("use ")).collect();
        let code = code.join(";");
        let inline = code.split(|letter| !is_part(letter)).filter(|word| word.contains("::"));
        let inline = inline.map(|word| word.split("::").map(str::to_owned).collect());
        own.chain(inline).filter_map(|path: Vec<String>| self.absolute(&path)).collect()
    }
}

/// The paths of a tree of `use`, each with the name it gets.
fn expand(before: &[String], tree: &str, found: &mut Vec<(Vec<String>, String)>) {
    let (path, list) = match tree.split_once('{') {
        Some((path, list)) => (path, list.rsplit_once('}').map(|(list, _)| list)),
        None => (tree, None),
    };
    let (path, name) = path.split_once(" as ").unwrap_or((path, ""));
    let parts = path.split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned);
    let path: Vec<String> = before.iter().cloned().chain(parts).collect();
    let Some(list) = list else {
        let last = path.last().cloned().unwrap_or_default();
        found.push((path, if name.is_empty() { last } else { name.trim().to_owned() }));
        return;
    };
    let (mut depth, mut from) = (0, 0);
    for (at, letter) in list.char_indices().chain([(list.len(), ',')]) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let item = &list[from..at];
                from = (at + 1).min(list.len());
                if !item.trim().is_empty() {
                    expand(&path, item, found);
                }
            }
            _ => {}
        }
    }
}

/// The dialect of a file that is its unit or its monitor.
fn unit_or_monitor(file: &Module) -> Option<&[String]> {
    let (name, folder) = file.split_last()?;
    (file.get(1).is_some_and(|module| module == "dialect") && ONE_THING.contains(&name.as_str()))
        .then_some(folder)
}

/// The file that a path leads to, through what files give on.
fn place(files: &[File], path: &[String], steps: usize) -> Option<usize> {
    let longest = (1..=path.len()).rev();
    let (length, at) = longest
        .into_iter()
        .find_map(|n| Some((n, files.iter().position(|file| file.module == path[..n])?)))?;
    let given = path.get(length).and_then(|name| files[at].given.get(name));
    match given.filter(|_| steps > 0) {
        Some(from) => place(files, &[from, &path[length + 1..]].concat(), steps - 1),
        None => Some(at),
    }
}

/// The files of the crate, and which of the others each of them needs.
pub fn uses() -> BTreeMap<Module, BTreeSet<Module>> {
    let mut all = sources();
    // What is only there for tests may look at everything.
    let tests = ["toy", "tests", "testing"];
    all.retain(|source| {
        !source.path.with_extension("").iter().any(|part| tests.iter().any(|test| part == *test))
    });
    let files: Vec<File> = all.iter().map(File::of).collect();
    let needs = |file: &File| {
        let needed = file.needs().into_iter().filter_map(|path| place(&files, &path, 8));
        let others = needed.map(|at| files[at].module.clone()).filter(|other| *other != file.module);
        (file.module.clone(), others.collect())
    };
    let uses: BTreeMap<Module, BTreeSet<Module>> = files.iter().map(needs).collect();
    let found = uses.values().map(BTreeSet::len).sum::<usize>();
    assert!(found > 1_500, "only {found} uses of other files were found");
    uses
}

/// The files that this one needs, also through others.
fn reached<'u>(uses: &'u BTreeMap<Module, BTreeSet<Module>>, from: &'u Module) -> BTreeSet<&'u Module> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(at) = open.pop() {
        open.extend(uses[at].iter().filter(|next| seen.insert(*next)));
    }
    seen
}

#[test]
fn no_file_needs_one_that_needs_it() {
    let mut uses = uses();
    for (own, others) in &mut uses {
        let thing = unit_or_monitor(own);
        others.retain(|other| thing.is_none() || unit_or_monitor(other) != thing);
    }
    let circles: Vec<_> = uses.keys().filter(|file| reached(&uses, file).contains(file)).collect();
    assert!(circles.is_empty(), "files that need files that need them: {circles:?}");
}
