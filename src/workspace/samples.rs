//! The built-in sessions and policies, so that the program can be tried without any files.

use include_dir::{Dir, include_dir};

use rulestep_engine::policy::PolicyFile;

static SESSIONS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/sample-traces");
static POLICIES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/contracts");

/// The sample recordings: name and content, in the order of their names.
pub fn sessions() -> impl Iterator<Item = (String, &'static [u8])> {
    let mut files = Vec::new();
    walk(&SESSIONS, &mut files);
    let recordings =
        files.into_iter().filter(|(name, _)| name.ends_with(".json") || name.ends_with(".jsonl"));
    recordings.map(|(name, bytes)| (format!("sample-traces/{name}"), bytes))
}

/// The sample policies.
pub fn policies() -> Vec<PolicyFile> {
    let mut files = Vec::new();
    walk(&POLICIES, &mut files);
    let named = files.into_iter().filter(|(name, _)| name.ends_with(".yaml"));
    let read = named.filter_map(|(name, bytes)| {
        Some(PolicyFile {
            name: format!("contracts/{name}").into(),
            relative: name.into(),
            text: std::str::from_utf8(bytes).ok()?.into(),
            named: false,
        })
    });
    read.collect()
}

fn walk(dir: &'static Dir<'_>, files: &mut Vec<(&'static str, &'static [u8])>) {
    for file in dir.files() {
        if let Some(path) = file.path().to_str() {
            files.push((path, file.contents()));
        }
    }
    dir.dirs().for_each(|dir| walk(dir, files));
    files.sort_unstable_by_key(|(name, _)| *name);
}

/// The files of one folder of the sample policies, cases included: name and text.
pub fn policies_of(folder: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let files = POLICIES.get_dir(folder).map(|folder| folder.files());
    let file = |file: &'static include_dir::File<'_>| {
        Some((file.path().file_name()?.to_str()?, file.contents_utf8()?))
    };
    files.into_iter().flatten().filter_map(file)
}
