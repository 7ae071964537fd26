//! What a call's path comes to: the argument, the key that reads are looked up by, the folded path that exists.
//!
//! The key folds little and existence folds much (SEMANTICS 5). So a file may exist under a spelling that was never read.

use crate::session::Body;

/// The path a call names: `path` if that is text, else `file_path` if that is.
pub(super) fn argument(arguments: &Body) -> Option<&str> {
    let arguments = arguments.parsed()?;
    ["path", "file_path"].into_iter().find_map(|key| arguments.get(key)?.as_str())
}

/// The argument that [`argument`] took, as a JSONPath.
pub(super) fn argument_path(arguments: &Body) -> &'static str {
    match arguments.parsed().and_then(|arguments| arguments.get("path")) {
        Some(path) if path.is_string() => "$.path",
        _ => "$.file_path",
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
        let cases = [
            (r#"{"path": "a", "file_path": "b"}"#, Some(("a", "$.path"))),
            (r#"{"path": 7, "file_path": "b"}"#, Some(("b", "$.file_path"))),
            (r#"{"path": null}"#, None),
            (r#"{"path": ""}"#, Some(("", "$.path"))),
            ("[]", None),
        ];
        for (arguments, expected) in cases {
            let body = Body::json(arguments);
            assert_eq!(argument(&body).map(|path| (path, argument_path(&body))), expected, "{arguments}");
        }
        assert_eq!(argument(&Body::text("path: a")), None);
    }
}
