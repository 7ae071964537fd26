//! The forms of a call's path: the argument, the key under which reads are recorded, the folded path that exists.
//!
//! The key folds little and existence folds much. So a file may exist under a spelling that was never read.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use serde_json::Value;

use crate::condition::path::{Path, first_in_json};
use rulestep_base::session::Body;

/// The arguments that hold a path, unless a policy names another.
static USUAL: LazyLock<[Path; 2]> = LazyLock::new(|| ["path", "file_path"].map(Path::member));

/// Where one policy finds the path of a call, and the prefix that it removes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Locator {
    /// The argument that the policy names. Calls that lack it are asked for the usual ones, since one policy's readers
    /// and writers often name their arguments differently.
    pub named: Option<Path>,
    /// The mount point, without leading slashes.
    pub mount: Option<Arc<str>>,
}

impl Locator {
    /// The path a call names: at the policy's own place if that is text, else `path`, else `file_path`.
    pub fn path<'a>(&self, arguments: &'a Body) -> Option<Cow<'a, str>> {
        match self.find(arguments)?.1 {
            Cow::Borrowed(value) => value.as_str().map(Cow::Borrowed),
            Cow::Owned(Value::String(path)) => Some(Cow::Owned(path)),
            Cow::Owned(_) => None,
        }
    }

    /// Every place in the arguments where the path may be.
    pub fn places(&self) -> impl Iterator<Item = Arc<str>> {
        self.paths().map(|path| Arc::clone(path.text()))
    }

    /// The place of the argument that [`Locator::path`] took, as a JSONPath.
    pub fn place(&self, arguments: &Body) -> Arc<str> {
        let found = self.find(arguments).map(|(place, _)| place);
        found.or(USUAL.last()).map_or_else(Arc::default, |place| Arc::clone(place.text()))
    }

    /// The argument's path, and its text.
    fn find<'a>(&self, arguments: &'a Body) -> Option<(&Path, Cow<'a, Value>)> {
        first_in_json(|| self.paths(), arguments, Value::is_string)
    }

    fn paths(&self) -> impl Iterator<Item = &Path> {
        self.named.iter().chain(&*USUAL)
    }

    /// The key of a read of this path.
    pub fn key<'a>(&self, path: &'a str) -> &'a str {
        key(path, self.mount.as_deref())
    }
}

/// The key under which a read is recorded and looked up: without leading slashes, and below the mount point, which is
/// given without leading slashes itself.
pub(super) fn key<'a>(path: &'a str, mount: Option<&str>) -> &'a str {
    let key = path.trim_start_matches('/');
    match mount.and_then(|mount| key.strip_prefix(mount)) {
        Some("") => "",
        Some(rest) => rest.strip_prefix('/').unwrap_or(key),
        None => key,
    }
}

/// The path that exists or does not: no empty and no `.` steps, and `..` takes the step before it away.
pub(super) fn fold(key: &str) -> String {
    let mut steps: Vec<&str> = Vec::new();
    for step in key.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop();
            }
            step => steps.push(step),
        }
    }
    steps.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_fold_leading_slashes_and_the_mount_point() {
        let cases = [
            ("//a", None, "a"),
            ("./a", None, "./a"),
            ("a/", None, "a/"),
            ("/workspace/a", Some("workspace"), "a"),
            ("workspace", Some("workspace"), ""),
            ("/workspace/", Some("workspace"), ""),
            ("/workspacex/a", Some("workspace"), "workspacex/a"),
            ("/workspace/workspace/a", Some("workspace"), "workspace/a"),
            ("/workspace/a", Some("workspace/"), "workspace/a"),
            ("/a", Some(""), "a"),
            ("/", Some(""), ""),
        ];
        for (path, mount, expected) in cases {
            assert_eq!(key(path, mount), expected, "{path} under {mount:?}");
        }
    }

    #[test]
    fn existence_folds_much_more() {
        for (key, expected) in
            [("./a//b/.", "a/b"), ("x/../a", "a"), ("../../a", "a"), (".", ""), ("", ""), ("A", "A")]
        {
            assert_eq!(fold(key), expected);
        }
    }

    #[test]
    fn the_path_is_text_or_there_is_none() {
        let named = Locator { named: Path::parse("$.target.file").ok(), mount: None };
        let usual = Locator::default();
        let cases = [
            (&usual, r#"{"path": "a", "file_path": "b"}"#, Some(("a", "$.path"))),
            (&usual, r#"{"path": 7, "file_path": "b"}"#, Some(("b", "$.file_path"))),
            (&usual, r#"{"path": null}"#, None),
            (&usual, r#"{"path": ""}"#, Some(("", "$.path"))),
            (&usual, r#"{"target": {"file": "c"}}"#, None),
            (&usual, "[]", None),
            (&named, r#"{"path": "a", "target": {"file": "c"}}"#, Some(("c", "$.target.file"))),
            (&named, r#"{"path": "a", "target": {"file": 7}}"#, Some(("a", "$.path"))),
            (&named, r#"{"path": "a"}"#, Some(("a", "$.path"))),
            (&named, r#"{"target": "c"}"#, None),
        ];
        for (locator, arguments, expected) in cases {
            let body = Body::json(arguments);
            let place = locator.place(&body);
            assert_eq!(locator.path(&body).as_deref().map(|path| (path, &*place)), expected, "{arguments}");
        }
        assert_eq!(usual.path(&Body::text("path: a")), None);
    }
}
