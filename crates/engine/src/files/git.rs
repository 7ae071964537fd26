//! Files of a git revision, by way of the `git` program. It only reads, and never goes to a network.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::version::{NamedFile, VersionFile, VersionFiles, empty, file_name, is_document};
use super::{utf8, walk};
use crate::dialect::beside;
use rulestep_base::diagnostic::{Diagnostic, code};

/// Adds the files at `path` (relative to the current folder, as outside git) in `revision` to a version.
///
/// `path_given` says that the path was written after the revision: it is then a part of the names already.
pub fn read(
    revision: &str,
    path: &str,
    path_given: bool,
    version: &mut VersionFiles,
) -> Result<(), Diagnostic> {
    let spec = version.spec.clone();
    let shown = if path_given { spec.clone() } else { format!("{spec}:{path}") };
    let place = Place::of(path);
    let repository = Repository { folder: &place.folder, spec: &spec };
    let prefix = repository.prefix()?;
    let commit = repository.commit(revision)?;

    let in_tree = clean(&format!("{prefix}{}", place.rest));
    let object = repository.object(&commit, &in_tree).ok_or_else(|| {
        let message = format!("`{path}` is not part of the revision `{revision}`");
        Diagnostic::error(code::NOT_IN_REVISION, message).in_file(spec.as_str())
    })?;
    let mut contents = Contents::open(&repository)?;
    if repository.run(&["cat-file", "-t", &object])?.trim() == "blob" {
        let name = shown;
        if repository.is_link(&commit, &in_tree) {
            // Git stores a link as the path it leads to, which must not be read as a policy.
            let message = "this is a link; only files are read from a revision";
            let told = Diagnostic::error(code::NOT_IN_REVISION, message).in_file(name);
            return Err(told.help("name the file that the link leads to"));
        }
        let text = contents.read(&object, &repository).and_then(|bytes| utf8(&name, bytes));
        version.files.push(VersionFile { name: name.into(), relative: file_name(path), text, named: true });
        read_named(&repository, &commit, vec![in_tree], &mut contents, version);
        return Ok(());
    }
    let before = version.files.len();
    let (mut in_trees, mut passed) = (Vec::new(), walk::PassedBy::default());
    for entry in repository.tree(&object)? {
        if !is_document(&entry.path) {
            continue;
        }
        if entry.path.split('/').any(walk::is_passed_by) {
            passed.note_file(&entry.path);
            continue;
        }
        let name = walk::join(&shown, &entry.path);
        if !entry.is_file {
            let message = "this is a link or a submodule; only files are read from a revision";
            version.diagnostics.push(Diagnostic::notice(code::LINK_REPEATS, message).in_file(name));
            continue;
        }
        let text = contents.read(&entry.object, &repository).and_then(|bytes| utf8(&name, bytes));
        in_trees.push(walk::join(&in_tree, &entry.path));
        version.files.push(VersionFile {
            name: name.into(),
            relative: entry.path.into(),
            text,
            named: false,
        });
    }
    version.diagnostics.extend(passed.diagnostic(&shown));
    if version.files.len() == before {
        return Err(empty(&shown));
    }
    read_named(&repository, &commit, in_trees, &mut contents, version);
    Ok(())
}

/// Adds the files of the revision that the files read last name; `in_trees` are the paths of these in the repository.
/// One that is not part of the revision is an error of the document that names it.
fn read_named(
    repository: &Repository<'_>,
    commit: &str,
    in_trees: Vec<String>,
    contents: &mut Contents,
    version: &mut VersionFiles,
) {
    let first = version.files.len() - in_trees.len();
    for (place, in_tree) in in_trees.into_iter().enumerate() {
        for named in version.files.get(first + place).map(NamedFile::of).unwrap_or_default() {
            let path = beside::path(&in_tree, &named.written);
            // A path that leads out of the repository, or begins at the root, is in no revision.
            let inside = !path.starts_with('/') && path != ".." && !path.starts_with("../");
            if !inside || version.has(&named.name) {
                continue;
            }
            if let Some(object) =
                repository.object(commit, &path).filter(|_| !repository.is_link(commit, &path))
            {
                let text = contents.read(&object, repository).and_then(|bytes| utf8(&named.name, bytes));
                version.files.push(named.file(text));
            }
        }
    }
}

/// A path as the nearest folder that exists now, and the rest: the revision may have folders that no longer exist.
struct Place {
    folder: PathBuf,
    rest: String,
}

impl Place {
    fn of(path: &str) -> Place {
        let mut folder = PathBuf::from(path);
        let mut rest: Vec<String> = Vec::new();
        while !folder.is_dir() {
            match folder.components().next_back() {
                Some(Component::Normal(name)) => rest.insert(0, name.to_string_lossy().into_owned()),
                Some(Component::ParentDir) => rest.insert(0, "..".to_owned()),
                _ => {}
            }
            if !folder.pop() || folder.as_os_str().is_empty() {
                folder = PathBuf::from(".");
                break;
            }
        }
        Place { folder, rest: rest.join("/") }
    }
}

struct Repository<'r> {
    folder: &'r Path,
    spec: &'r str,
}

struct TreeEntry {
    path: String,
    object: String,
    is_file: bool,
}

impl Repository<'_> {
    /// The folder's path within the repository: empty, or with a `/` at its end.
    fn prefix(&self) -> Result<String, Diagnostic> {
        let told = self.run(&["rev-parse", "--show-prefix"])?;
        Ok(told.strip_suffix('\n').unwrap_or(&told).to_owned())
    }

    fn commit(&self, revision: &str) -> Result<String, Diagnostic> {
        let unknown = |message: String| Diagnostic::error(code::BAD_REVISION, message).in_file(self.spec);
        if revision.is_empty() {
            return Err(unknown("no revision follows `git:`".to_owned()).help("for example `git:HEAD`"));
        }
        let peeled = format!("{revision}^{{commit}}");
        // A revision must not look like an option.
        let found = if revision.starts_with('-') {
            None
        } else {
            self.ask(&["rev-parse", "--verify", "--quiet", &peeled])
        };
        found.ok_or_else(|| {
            let told = unknown(format!("git knows no revision `{revision}`"));
            // A build server fetches only one commit by default.
            match self.ask(&["rev-parse", "--is-shallow-repository"]).as_deref() {
                Some("true") => told.help(
                    "the clone is shallow: fetch the whole history with `fetch-depth: 0` in actions/checkout, or `git \
                     fetch --unshallow`, and name a branch as `origin/BRANCH`",
                ),
                _ => told,
            }
        })
    }

    fn object(&self, commit: &str, path: &str) -> Option<String> {
        self.ask(&["rev-parse", "--verify", "--quiet", &format!("{commit}:{path}")])
    }

    /// Whether a path of the revision is a symbolic link.
    fn is_link(&self, commit: &str, path: &str) -> bool {
        let listed = self.ask(&["ls-tree", "--full-tree", "-z", commit, "--", path]);
        listed.is_some_and(|entry| entry.starts_with("120000"))
    }

    fn tree(&self, tree: &str) -> Result<Vec<TreeEntry>, Diagnostic> {
        let listed = self.run(&["ls-tree", "-r", "-z", "--full-tree", tree])?;
        // MODE TYPE OBJECT <TAB> PATH <NUL>
        let entries = listed.split('\0').filter_map(|line| {
            let (facts, path) = line.split_once('\t')?;
            let mut facts = facts.split(' ');
            let (mode, object) = (facts.next()?, facts.nth(1)?);
            Some(TreeEntry {
                path: path.to_owned(),
                object: object.to_owned(),
                is_file: mode.starts_with("100"),
            })
        });
        Ok(entries.collect())
    }

    /// The answer of git, if it gives one.
    fn ask(&self, args: &[&str]) -> Option<String> {
        self.run(args).ok().map(|told| told.trim_end().to_owned()).filter(|told| !told.is_empty())
    }

    fn run(&self, args: &[&str]) -> Result<String, Diagnostic> {
        let output = self.command(args).stdin(Stdio::null()).output().map_err(|error| self.no_git(&error))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        if said.contains("not a git repository") {
            let message = "the folder is in no git repository";
            return Err(Diagnostic::error(code::NO_REPOSITORY, message).in_file(self.spec));
        }
        let said = said.lines().next().unwrap_or_default().trim_start_matches("fatal: ");
        Err(self.failed(&format!("git says: {said}")))
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.arg("-C").arg(self.folder).args(args);
        // Messages in English, and no fetching of objects that a partial clone lacks.
        command.env("LC_ALL", "C").env("GIT_NO_LAZY_FETCH", "1").env("GIT_OPTIONAL_LOCKS", "0");
        // The repository is that of the folder, whatever starts the program: git hooks set these, and an agent may.
        for name in LOCAL {
            command.env_remove(name);
        }
        command
    }

    fn no_git(&self, error: &std::io::Error) -> Diagnostic {
        let message = format!("the `git` program cannot be run: {}", super::words(error));
        Diagnostic::error(code::NO_GIT, message).in_file(self.spec)
    }

    fn failed(&self, message: &str) -> Diagnostic {
        Diagnostic::error(code::GIT_FAILED, message).in_file(self.spec)
    }
}

/// Variables by which git uses objects or settings from outside the folder's repository.
const LOCAL: [&str; 12] = [
    "GIT_DIR",
    "GIT_COMMON_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_INDEX_FILE",
    "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

/// One `git cat-file --batch`, asked for one object after the other.
struct Contents {
    child: Child,
}

impl Contents {
    fn open(repository: &Repository<'_>) -> Result<Contents, Diagnostic> {
        let mut command = repository.command(&["cat-file", "--batch"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.spawn().map(|child| Contents { child }).map_err(|error| repository.no_git(&error))
    }

    fn read(&mut self, object: &str, repository: &Repository<'_>) -> Result<Vec<u8>, Diagnostic> {
        self.exchange(object)
            .ok_or_else(|| repository.failed(&format!("git cannot read the object `{object}`")))
    }

    fn exchange(&mut self, object: &str) -> Option<Vec<u8>> {
        let stdin = self.child.stdin.as_mut()?;
        writeln!(stdin, "{object}").and_then(|()| stdin.flush()).ok()?;
        // OBJECT TYPE LENGTH <LF> CONTENT <LF>; read byte by byte up to the content, which is exactly as long.
        let stdout = self.child.stdout.as_mut()?;
        let mut head = Vec::new();
        BufReader::with_capacity(1, &mut *stdout).read_until(b'\n', &mut head).ok()?;
        let head = String::from_utf8(head).ok()?;
        let length: usize = head.trim_end().rsplit_once(" blob ")?.1.parse().ok()?;
        let mut content = Vec::new();
        stdout.take(u64::try_from(length + 1).ok()?).read_to_end(&mut content).ok()?;
        content.truncate(length);
        (content.len() == length).then_some(content)
    }
}

impl Drop for Contents {
    fn drop(&mut self) {
        // It ends when its input is closed.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// A path without `.`, `..` and doubled `/`, as git names its objects.
fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}
