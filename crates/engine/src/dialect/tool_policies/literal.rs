//! Paths with characters that would be expanded elsewhere: here they are compared letter by letter with those of the
//! calls.

use std::collections::HashSet;

use rulestep_base::source::quoted;

/// The literal meaning of a path, and what to write.
pub(super) struct Literal {
    pub why: String,
    pub help: String,
}

/// A mount point that is never removed from a path, or only from paths that are written in the same odd way.
pub(super) fn mount(path: &str) -> Option<Literal> {
    let name = quoted(path);
    let trimmed = path.trim();
    let write = |path: &str| format!("write {}", quoted(path));
    let (why, help) = if trimmed != path {
        let help = if trimmed.is_empty() { "write the folder".to_owned() } else { write(trimmed) };
        (
            format!("the mount point {name} begins or ends with a blank, so it is never removed from a path"),
            help,
        )
    } else if let Some(at) = path.find(['*', '?']) {
        let (folder, sign) = (path.get(..at)?, path.get(at..=at)?);
        let help = match folder.trim_end_matches('/') {
            "" => "write the folder itself".to_owned(),
            folder => write(folder),
        };
        let why = format!("`{sign}` in the mount point {name} is compared letter by letter");
        (format!("{why}, so the mount point is never removed from a path"), help)
    } else if let Some(sign) = expanded(path) {
        let help = "write the folder as calls write it";
        (format!("`{sign}` in the mount point {name} is not expanded"), help.to_owned())
    } else if path.contains('\\') {
        let help = "list the files with backslashes, as such calls write them, as well";
        (
            format!("the mount point {name} is removed only where a slash follows it, not a backslash"),
            help.to_owned(),
        )
    } else {
        let folder = path.strip_suffix("/.").filter(|folder| !folder.is_empty())?;
        let why = format!("the mount point {name} is compared letter by letter, also the dot at its end");
        (why, write(folder))
    };
    Some(Literal { why, help })
}

/// A file that only calls mean that write `~`, the variable or the brackets themselves.
pub(super) fn file(path: &str) -> Option<Literal> {
    if let Some(set) = letters_in_brackets(path) {
        return Some(Literal {
            why: format!(
                "`{set}` in {} is compared letter by letter, so this protects only the file with brackets in its name",
                quoted(path)
            ),
            help: "write an entry for each file".to_owned(),
        });
    }
    let sign = expanded(path)?;
    Some(Literal {
        why: format!(
            "`{sign}` in {} is not expanded, so this protects the file only from calls that write it so",
            quoted(path)
        ),
        help: "write the path below the working folder, or the whole path".to_owned(),
    })
}

/// The part of a path that a shell would expand.
fn expanded(path: &str) -> Option<&str> {
    if path == "~" || path.starts_with("~/") {
        return path.get(..1);
    }
    let rest = path.strip_prefix('$')?;
    let name = rest.find(|letter: char| !matches!(letter, 'A'..='Z' | '_' | '{' | '}')).unwrap_or(rest.len());
    // `$id.tsx` is the name of a file.
    let after = rest.get(name..).unwrap_or_default();
    let is_variable = name > 1 && (after.is_empty() || after.starts_with('/'));
    is_variable.then(|| path.get(..=name)).flatten()
}

/// Why an entry can be the path of no file, and what to write.
pub(super) fn no_file(path: &str) -> Option<(String, String)> {
    let name = quoted(path);
    let protects = "so this protects no file";
    let each = || "write an entry for each file".to_owned();
    let trimmed = path.trim();
    if trimmed != path && !trimmed.is_empty() {
        let why = format!("{name} begins or ends with a blank, {protects}");
        return Some((why, format!("write {}", quoted(trimmed))));
    }
    if let Some(sign) = pattern(path) {
        return Some((format!("`{sign}` in {name} is compared letter by letter, {protects}"), each()));
    }
    // `Smith, John.pdf` is one file.
    let is_extension =
        |end: &str| end.starts_with(|first: char| first.is_ascii_alphabetic()) && !end.contains('/');
    let is_file =
        |part: &str| !part.contains(' ') && part.rsplit_once('.').is_some_and(|(_, end)| is_extension(end));
    if path.contains(", ") && path.split(", ").all(is_file) {
        return Some((format!("{name} is one entry with several files, {protects}"), each()));
    }
    let is_folder = path.ends_with('/') || path.trim_matches(['.', '/']).is_empty();
    is_folder.then(|| {
        let why = format!("{name} is a folder, so this protects no file in it");
        (why, "write an entry for each file that is in it".to_owned())
    })
}

/// The first sign of a glob. `[id].tsx` is the name of a file.
fn pattern(path: &str) -> Option<&str> {
    path.char_indices().find_map(|(at, sign)| {
        let rest = path.get(at..)?;
        let closed = |close: char| rest.find(close).and_then(|end| rest.get(..=end));
        match sign {
            '*' | '?' => rest.get(..1),
            '{' => closed('}').filter(|set| set.contains(',')),
            '[' => closed(']').filter(|set| is_range(set)),
            _ => None,
        }
    })
}

/// `[ab]`, which is a part of a name in programs for the web: `app/[id]/page.tsx`.
fn letters_in_brackets(path: &str) -> Option<&str> {
    const WEB: &[&str] = &[
        "js", "jsx", "ts", "tsx", "mjs", "cjs", "vue", "svelte", "astro", "md", "mdx", "css", "scss", "html",
    ];
    let (before, rest) = path.split_once('[')?;
    let (inner, after) = rest.split_once(']')?;
    let extension = path.rsplit_once('.').map(|(_, extension)| extension)?;
    let letters: HashSet<char> = inner.chars().collect();
    let is_set = inner.len() > 1
        && inner.chars().all(|letter| letter.is_ascii_alphanumeric())
        && letters.len() == inner.len();
    // A folder of its own, or a note in a name: `app/[id]/route.go`, `Report [2024].pdf`.
    let is_folder = (before.is_empty() || before.ends_with('/')) && after.starts_with('/');
    // A parameter may also be a whole file name: `pages/[slug].py`.
    let is_parameter = (before.is_empty() || before.ends_with('/')) && (inner.len() > 3 || inner == "id");
    let is_set = is_set && !is_folder && !is_parameter && !before.ends_with(' ');
    let set = path.get(before.len()..path.len() - after.len())?;
    (is_set && !WEB.contains(&extension) && pattern(path).is_none()).then_some(set)
}

/// `[a-z]`, `[A-Za-z]`.
fn is_range(set: &str) -> bool {
    let letters: Vec<char> = set.trim_matches(['[', ']']).chars().collect();
    let range = |three: &[char]| match three {
        [from, '-', to] => from.is_ascii_alphanumeric() && to.is_ascii_alphanumeric() && from < to,
        _ => false,
    };
    !letters.is_empty() && letters.chunks(3).all(range)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_nothing_expands_are_told() {
        for (path, said) in [
            ("/workspace/*", Some("`/workspace`")),
            ("${WORKSPACE}", Some("as calls write it")),
            ("$HOME/ws", Some("as calls write it")),
            ("~/ws", Some("as calls write it")),
            ("C:\\ws", Some("as well")),
            ("/workspace/.", Some("`/workspace`")),
            (" /workspace", Some("`/workspace`")),
            ("/workspace", None),
            ("/mnt/my work", None),
            ("/.", None),
            ("/.config", None),
        ] {
            let help = mount(path).map(|told| told.help);
            assert_eq!(help.is_some(), said.is_some(), "{path}: {help:?}");
            assert!(said.is_none_or(|said| help.is_some_and(|help| help.contains(said))), "{path}");
        }
        for path in ["~/c.yaml", "$HOME/x", "${WS}/x", "src/[ab].py", "log[12].txt"] {
            assert!(file(path).is_some() && no_file(path).is_none(), "{path}");
        }
        for path in [
            "src/{a,b}.py",
            "src/?.py",
            "src/[a-c].py",
            "src/[A-Za-z].py",
            "config.yaml ",
            "a.py, b.py",
            "docs/**",
            "src/",
            ".",
            "..",
        ] {
            assert!(no_file(path).is_some(), "{path}");
        }
        for path in [
            "app/[id]/page.tsx",
            "app/[user-id].tsx",
            "app/[...all].tsx",
            "app/[id]/style.css",
            "app/[id]",
            "a[].py",
            "{{cookiecutter}}/x.py",
            "routes/$id.tsx",
            "$id.tsx",
            "Smith, John.pdf",
            "src\\main.py",
            "a b.txt",
            "~x",
            ".env",
            "../a",
            "",
        ] {
            assert!(file(path).is_none(), "{path}");
            assert_eq!(no_file(path).is_some(), path.is_empty(), "{path}");
        }
    }
}
