//! Facts about the names of tools and arguments, as data in one place.

/// A call's access to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// It reads it.
    Read,
    /// It creates or changes it.
    Written,
    /// It deletes it.
    Deleted,
    /// It names it, and its tool is unknown.
    Named,
}

/// Arguments that hold a path, or a list of paths.
const FILES: [&str; 19] = [
    "file",
    "files",
    "filename",
    "filenames",
    "filepath",
    "filepaths",
    "path",
    "paths",
    "absolutepath",
    "relativepath",
    "relativeworkspacepath",
    "notebookpath",
    "targetfile",
    "targetpath",
    "sourcepath",
    "destinationpath",
    "oldpath",
    "newpath",
    "outputpath",
];

/// The words of a name: `MultiEdit`, `read_file`, `mcp__fs__write-file`.
pub fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in name.chars() {
        if c.is_alphanumeric() {
            let begins = !before.is_alphanumeric() || (c.is_uppercase() && !before.is_uppercase());
            if begins {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(c.to_lowercase());
            }
        }
        before = c;
    }
    words
}

fn plain(key: &str) -> String {
    key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether an argument holds a path.
pub fn is_file(key: &str) -> bool {
    FILES.contains(&plain(key).as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words() {
        assert_eq!(words("mcp__fs__write-file"), ["mcp", "fs", "write", "file"]);
        assert_eq!(words("MultiEdit"), ["multi", "edit"]);
        assert!(words("").is_empty());
        assert!(["file_path", "filePath", "absolute_path", "FILE"].iter().all(|key| is_file(key)));
        assert!(!is_file("profile"));
    }
}
