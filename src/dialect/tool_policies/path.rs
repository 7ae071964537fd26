//! What a call's path comes to: the argument, the key that reads are looked up by, the folded path that exists.
//!
//! The key folds little and existence folds much. So a file may exist under a spelling that was never read.

use std::sync::Arc;

use crate::condition::path::Path;
use crate::session::Body;

/// The arguments that hold a path where a policy does not name another.
const USUAL: [(&str, &str); 2] = [("path", "$.path"), ("file_path", "$.file_path")];

/// Where one policy finds the path of a call, and what it cuts off.
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
    pub fn path<'a>(&self, arguments: &'a Body) -> Option<&'a str> {
        let arguments = arguments.parsed()?;
        let named = self.named.as_ref().and_then(|named| named.one(arguments)?.as_str());
        named.or_else(|| USUAL.iter().find_map(|(key, _)| arguments.get(key)?.as_str()))
    }

    /// Every place where it may find the path.
    pub fn places(&self) -> impl Iterator<Item = Arc<str>> {
        let named = self.named.iter().map(|named| Arc::clone(named.text()));
        named.chain(USUAL.iter().map(|(_, place)| Arc::from(*place)))
    }

    /// The place of the argument that [`Locator::path`] took, as a JSONPath.
    pub fn place(&self, arguments: &Body) -> Arc<str> {
        let parsed = arguments.parsed();
        let is_text = |named: &&Path| parsed.and_then(|it| named.one(it)).is_some_and(|it| it.is_string());
        if let Some(named) = self.named.as_ref().filter(is_text) {
            return Arc::clone(named.text());
        }
        let usual = USUAL.iter().find(|(key, _)| {
            parsed.and_then(|arguments| arguments.get(key)).is_some_and(|path| path.is_string())
        });
        usual.map_or("$.file_path", |(_, place)| place).into()
    }

    /// What a read of this path is looked up by.
    pub fn key<'a>(&self, path: &'a str) -> &'a str {
        key(path, self.mount.as_deref())
    }
}

/// What a read is recorded and looked up by: without leading slashes, and below the mount point, which is given without
/// leading slashes itself.
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
            assert_eq!(locator.path(&body).map(|path| (path, &*place)), expected, "{arguments}");
        }
        assert_eq!(usual.path(&Body::text("path: a")), None);
    }
}
