//! The recordings of the arguments: files, folders, globs and standard input.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::io::{Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::conversation::{Conversation, Root};
use super::is_document;
use super::stamp::Stamp;
use super::walk::{FoundFile, WalkedFile};
use super::{glob, packed, unreadable, utf8, walk};
use rulestep_base::diagnostic::{Diagnostic, code};
use rulestep_engine::policy::is_case_file;

/// The files of the arguments.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// The files, argument by argument, each folder's in the order of their relative paths.
    pub inputs: Vec<Input>,
    /// Arguments that lead nowhere, folders without files, and the like.
    pub diagnostics: Vec<Diagnostic>,
}

/// A file to read sessions from, or standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The name it is shown under: the argument, joined with the path within the folder; `-` for standard input.
    pub name: Arc<str>,
    /// Its path; `None` is standard input.
    pub path: Option<PathBuf>,
    /// Whether it was named itself, rather than found in a folder.
    pub named: bool,
    found: Option<FoundFile>,
    /// The folder, if it is that of a conversation in many files.
    root: Option<Root>,
}

/// The files of the arguments: files, folders (with all their content), globs, and `-`. A file that several of them
/// lead to is listed once, at the first one.
pub fn expand(args: &[String]) -> Inputs {
    let (mut found, mut known) = (Inputs::default(), KnownFiles::default());
    for (place, arg) in args.iter().enumerate() {
        let before = found.inputs.len();
        of(arg, &mut found);
        together(before, &mut found);
        once(arg, before, &mut found, &mut known, place + 1 == args.len());
    }
    found
}

/// Makes one input of the files of a conversation that an argument leads to. A file of one that an argument before has led to
/// is there already: a shell names each file of a folder.
fn together(first: usize, found: &mut Inputs) {
    let is_part = |input: &Input| Root::of(input.path.as_deref()?, &input.name);
    if !found.inputs.iter().skip(first).any(|input| is_part(input).is_some()) {
        return;
    }
    let new = found.inputs.split_off(first);
    let known = |inputs: &[Input], root: &Root| inputs.iter().any(|input| input.root.as_ref() == Some(root));
    let (mut latest, mut roots): (Option<Root>, HashSet<PathBuf>) = (None, HashSet::new());
    for input in new {
        let Some(root) = is_part(&input) else {
            found.inputs.push(input);
            continue;
        };
        // Files of a folder stay together.
        if latest.as_ref() == Some(&root) {
            continue;
        }
        let is_known = input.named && known(&found.inputs, &root);
        if roots.insert(root.path.clone()) && !is_known {
            found.inputs.push(Input::of_conversation(root.clone(), input.named));
        }
        latest = Some(root);
    }
}

fn of(arg: &str, found: &mut Inputs) {
    if arg == "-" {
        return stdin(found);
    }
    let path = Path::new(arg);
    // Most arguments are no links, and these need to be asked for once.
    let own = path.symlink_metadata();
    let is_link = own.as_ref().is_ok_and(std::fs::Metadata::is_symlink);
    match if is_link { path.metadata() } else { own } {
        Ok(metadata) if metadata.is_dir() => folder(arg, found),
        Ok(metadata) => {
            let found_file = FoundFile::of(&metadata, is_link);
            found.inputs.push(Input { found: found_file, ..Input::named(arg.into(), Some(arg.into())) });
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound && glob::is_glob(arg) => matching(arg, found),
        Err(error) => found.diagnostics.push(unreadable(arg, &error)),
    }
}

/// The real path, without links and detours: the number of the folder, and the name there.
type RealFile = (usize, OsString);

/// The files so far, by what their paths really lead to.
#[derive(Default)]
struct KnownFiles {
    /// The place of each among the inputs.
    places: HashMap<RealFile, usize>,
    /// Folders by path: the number of the real folder, and whether the path is its real one.
    folders: HashMap<PathBuf, Option<(usize, bool)>>,
    /// The number of each folder that is one.
    numbers: HashMap<PathBuf, usize>,
    /// The latest folder: most files are in that of the file before them.
    last: Option<(PathBuf, Option<(usize, bool)>)>,
}

impl KnownFiles {
    /// The real path of an input, and whether its path is that; `None` if it is not a file that can be read again from
    /// its beginning.
    fn real(&mut self, input: &Input) -> Option<(RealFile, bool)> {
        let path = input.path.as_deref()?;
        if input.found?.is_link {
            let real = path.canonicalize().ok().filter(|real| real.is_file())?;
            let number = self.number(real.parent()?);
            return Some(((number, real.file_name()?.to_owned()), false));
        }
        let (number, is_direct) = self.folder(path.parent()?)?;
        Some(((number, path.file_name()?.to_owned()), is_direct))
    }

    fn folder(&mut self, folder: &Path) -> Option<(usize, bool)> {
        // Compared as text, which is much less work than what a path is compared by.
        if let Some((last, known)) = &self.last
            && last.as_os_str() == folder.as_os_str()
        {
            return *known;
        }
        if !self.folders.contains_key(folder) {
            let shown = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            let real = shown.canonicalize().ok().map(|real| {
                let is_direct = std::path::absolute(shown).is_ok_and(|shown| shown == real);
                (self.number(&real), is_direct)
            });
            self.folders.insert(folder.to_owned(), real);
        }
        let known = self.folders.get(folder).copied().flatten();
        self.last = Some((folder.to_owned(), known));
        known
    }

    fn number(&mut self, real: &Path) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(real.to_owned()).or_insert(next)
    }
}

/// Keeps those files of an argument, from `first` on, that no earlier argument led to, each under its own path rather
/// than through a link. Reports how many it leaves out, because they would be counted twice.
fn once(arg: &str, first: usize, found: &mut Inputs, known: &mut KnownFiles, is_last: bool) {
    let new = found.inputs.get(first..).unwrap_or_default();
    let real: Vec<_> = new.iter().map(|input| known.real(input)).collect();
    // Most folders are named alone, and may hold very many files: without links and detours each path is another one.
    let has_links = real.iter().flatten().any(|(_, is_direct)| !is_direct);
    if is_last && !has_links && known.places.is_empty() {
        return;
    }
    let new = found.inputs.split_off(first);
    let mut own: HashMap<&RealFile, usize> = HashMap::new();
    for is_direct in [true, false] {
        for (at, real) in real.iter().enumerate() {
            if let Some((real, _)) = real.as_ref().filter(|(_, direct)| *direct == is_direct) {
                own.entry(real).or_insert(at);
            }
        }
    }
    let names: Vec<_> = new.iter().map(|input| Arc::clone(&input.name)).collect();
    let (mut again, mut one, mut places) = (0, None, Vec::new());
    for (at, (input, real)) in new.into_iter().zip(&real).enumerate() {
        let real = real.as_ref().map(|(real, _)| real);
        let earlier = real.and_then(|real| known.places.get(real)).and_then(|at| found.inputs.get_mut(*at));
        let before = match (earlier, real.and_then(|real| own.get(real))) {
            (Some(before), _) => {
                before.named |= input.named;
                Some(Arc::clone(&before.name))
            }
            (None, Some(owner)) if *owner != at => names.get(*owner).cloned(),
            (None, _) => None,
        };
        if let Some(before) = before {
            again += 1;
            one = Some((input.name, before));
        } else {
            places.extend(real.map(|real| (real.clone(), found.inputs.len())));
            found.inputs.push(input);
        }
    }
    known.places.extend(places);
    let told = match (again, one) {
        (1, Some((name, before))) if name == before => {
            Diagnostic::notice(code::NAMED_TWICE, "this file is named twice; it is read once").in_file(name)
        }
        (1, Some((name, before))) => {
            let message = format!("this file is the same as `{before}`; it is read once");
            Diagnostic::notice(code::NAMED_TWICE, message).in_file(name)
        }
        (0, _) | (_, None) => return,
        (again, _) => {
            let message = format!("{again} of these files are named twice; each of them is read once");
            Diagnostic::notice(code::NAMED_TWICE, message).in_file(arg)
        }
    };
    found.diagnostics.push(told);
}

/// The files that may hold cases of this version: all documents of a folder; for a file, itself and the files of cases
/// beside it.
pub fn case_files(version: &str) -> Inputs {
    let path = Path::new(version);
    if path.is_dir() {
        let mut found = expand(&[version.to_owned()]);
        found.inputs.retain(|input| is_document(&input.name));
        return found;
    }
    let mut found = Inputs::default();
    found.inputs.push(Input { named: false, ..Input::named(version.into(), Some(path.into())) });
    let folder = of_file(path.parent().unwrap_or(Path::new("")));
    let beside = walk::entries(folder, &folder.to_string_lossy(), &mut found.diagnostics);
    let beside = beside.into_iter().filter(|entry| is_case_file(&entry.name) && entry.path.is_file());
    found.inputs.extend(beside.map(|walk::FolderEntry { name, path, .. }| {
        let name = match version.rfind('/') {
            Some(at) => format!("{}/{name}", version.get(..at).unwrap_or_default()),
            None => name,
        };
        Input { named: false, ..Input::named(name.into(), Some(path)) }
    }));
    found
}

/// The folder of a file: a name alone is in the current one.
pub(super) fn of_file(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

impl Input {
    /// A named file, which is not checked.
    pub fn named(name: Arc<str>, path: Option<PathBuf>) -> Input {
        Input { name, path, named: true, found: None, root: None }
    }

    /// The regular file, or the conversation in many files, that was found under this name; `None` if there is none.
    pub fn found(name: &Arc<str>) -> Option<Input> {
        let path = PathBuf::from(&**name);
        if path.is_dir() {
            let input = Input::of_conversation(Root { shown: name.to_string(), path }, true);
            return input.found.is_some().then_some(input);
        }
        path.is_file().then(|| Input::named(Arc::clone(name), Some(path)))
    }

    fn walked(name: Arc<str>, file: WalkedFile) -> Input {
        Input { name, path: Some(file.path), named: false, found: file.found, root: None }
    }

    fn of_conversation(root: Root, named: bool) -> Input {
        let stamp = root.conversation().stamp();
        Input {
            name: root.shown.as_str().into(),
            path: Some(root.path.clone()),
            named,
            found: stamp.map(|stamp| FoundFile { stamp, is_link: false }),
            root: Some(root),
        }
    }

    /// The conversation in many files that it is, as it is now.
    pub fn conversation(&self) -> Option<Conversation> {
        self.root.as_ref().map(Root::conversation)
    }

    /// The stamp that a regular file had when it was found. It may have another one by now.
    pub fn stamp(&self) -> Option<&Stamp> {
        self.found.as_ref().map(|found| &found.stamp)
    }

    /// The stamp that it has now, if it is a regular file, or several that are one recording.
    pub fn stamp_now(&self) -> Option<Stamp> {
        if let Some(root) = &self.root {
            return root.conversation().stamp();
        }
        let metadata = std::fs::metadata(self.path.as_ref()?).ok()?;
        metadata.is_file().then(|| Stamp::of(&metadata))
    }

    /// Opens it, unpacked if it is compressed.
    pub fn open(&self) -> Result<Box<dyn BufRead + Send>, Diagnostic> {
        Ok(self.open_known()?.0)
    }

    /// The same, and whether the bytes read are those of the file itself.
    pub fn open_known(&self) -> Result<(Box<dyn BufRead + Send>, bool), Diagnostic> {
        if let Some(conversation) = self.conversation() {
            return Ok((conversation.reader(), false));
        }
        let packed: packed::Input = match &self.path {
            None => Box::new(BufReader::new(io::stdin())),
            Some(path) => match File::open(path) {
                Ok(file) => Box::new(BufReader::with_capacity(1 << 16, file)),
                Err(error) => return Err(unreadable(&self.name, &error)),
            },
        };
        packed::known(packed).map_err(|error| unreadable(&self.name, &error))
    }

    /// This many of its bytes, from the one with this number on; fewer are an error.
    pub fn read_part(&self, at: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut file = File::open(self.path.as_ref().ok_or(io::ErrorKind::NotFound)?)?;
        file.seek(SeekFrom::Start(at))?;
        let mut bytes = vec![0; length];
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Its length in bytes, if it is known.
    pub fn length(&self) -> Option<u64> {
        self.stamp_now().map(|stamp| stamp.length())
    }

    /// Whether it is a regular file, which has the same bytes however often it is opened; pipes do not.
    pub fn is_regular(&self) -> bool {
        self.length().is_some()
    }

    /// Reads it whole.
    pub fn read_text(&self) -> Result<Arc<str>, Diagnostic> {
        let mut bytes = Vec::new();
        self.open()?.read_to_end(&mut bytes).map_err(|error| unreadable(&self.name, &error))?;
        utf8(&self.name, bytes)
    }
}

fn stdin(found: &mut Inputs) {
    if found.inputs.iter().any(|input| input.path.is_none()) {
        let message = "standard input is named twice; it can be read once";
        found.diagnostics.push(Diagnostic::warning(code::UNREADABLE_FILE, message).in_file("-"));
        return;
    }
    found.inputs.push(Input::named("-".into(), None));
}

fn folder(arg: &str, found: &mut Inputs) {
    let before = found.inputs.len();
    let walked = walk::files(Path::new(arg), arg, &|name| !is_markdown(name) && !is_about_a_log(name));
    found.diagnostics.extend(walked.diagnostics);
    let files = walked.files.into_iter();
    found.inputs.extend(files.map(|file| Input::walked(walk::join(arg, &file.relative).into(), file)));
    if found.inputs.len() == before {
        let empty =
            Diagnostic::warning(code::EMPTY_FOLDER, "the folder has no files to read in it").in_file(arg);
        found.diagnostics.push(empty);
    }
}

/// Claude Code keeps a file beside the log of each subagent with the reason for starting it.
fn is_about_a_log(name: &str) -> bool {
    let own = name.rsplit('/').next().unwrap_or(name);
    own.starts_with("agent-") && own.ends_with(".meta.json")
}

fn is_markdown(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|it| it.eq_ignore_ascii_case("md") || it.eq_ignore_ascii_case("markdown"))
}

fn matching(arg: &str, found: &mut Inputs) {
    match glob::files(arg) {
        Ok(walked) => {
            if walked.files.is_empty() && walked.diagnostics.is_empty() {
                let none = Diagnostic::error(code::MISSING_FILE, "no file matches this pattern").in_file(arg);
                found.diagnostics.push(none);
            }
            found.diagnostics.extend(walked.diagnostics);
            let files = walked.files.into_iter();
            found.inputs.extend(files.map(|file| Input::walked(file.relative.as_str().into(), file)));
        }
        Err(reason) => {
            let bad =
                Diagnostic::error(code::MISSING_FILE, format!("no such file, and not a pattern: {reason}"));
            found.diagnostics.push(bad.in_file(arg));
        }
    }
}
