//! The paths of journals.

use std::fs::DirBuilder;
use std::path::Path;

/// Makes a folder that only its owner can look into.
pub fn private_folder(folder: &Path) -> std::io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// A name for a file, from an id that an agent chose: two ids have two names, and none leaves its folder.
pub fn file_name(id: &str) -> String {
    const LONGEST: usize = 160;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_' || byte == b'.';
    let mut name = String::new();
    for (at, byte) in id.bytes().enumerate() {
        match plain(byte) && (at > 0 || byte != b'.') {
            true => name.push(char::from(byte)),
            false => name.push_str(&format!("%{byte:02X}")),
        }
    }
    if name.is_empty() {
        name.push('%');
    }
    if name.len() > LONGEST {
        let digest = hmac_sha256::Hash::hash(id.as_bytes());
        let digest: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        name.truncate(LONGEST);
        name = format!("{name}%{digest}");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_stay_in_their_folder() {
        let ids =
            ["", ".", "..", "../../etc/passwd", "a/b", "a\\b", "%", "C:", "é", "a\0b", "5d2c-1", ".hidden"];
        let names: Vec<String> = ids.iter().map(|id| file_name(id)).collect();
        for name in &names {
            assert!(!name.contains(['/', '\\', ':', '\0']) && !name.starts_with('.'), "{name}");
        }
        let mut unique = names.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), names.len(), "{names:?}");
        let (long, other) = ("x".repeat(5000), format!("{}y", "x".repeat(4999)));
        assert!(file_name(&long).len() < 200);
        assert_ne!(file_name(&long), file_name(&other));
    }
}
