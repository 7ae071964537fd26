//! Programs that run another one.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::wrapper::Wrapper;

/// All of them, first those of which further ones hold as well.
const ROWS: [&[Wrapper]; 4] =
    [super::besides::ROWS, super::inside::ROWS, super::runners::ROWS, super::outside::ROWS];

/// All rows.
pub fn wrapper_rows() -> impl Iterator<Item = &'static Wrapper> {
    ROWS.into_iter().flatten()
}

static BY_NAME: LazyLock<HashMap<&'static str, Vec<&'static Wrapper>>> = LazyLock::new(|| {
    let mut by_name: HashMap<&str, Vec<&Wrapper>> = HashMap::new();
    for row in wrapper_rows() {
        for name in row.names.split(' ') {
            by_name.entry(name).or_default().push(row);
        }
    }
    by_name
});

/// The rows of a program.
pub fn wrappers(name: &str) -> impl Iterator<Item = &'static Wrapper> {
    let name = if BY_NAME.contains_key(name) { name } else { super::unversioned(name) };
    BY_NAME.get(name).into_iter().flatten().copied()
}

/// Shells whose `-c` takes a script.
const SHELLS: [&str; 17] = [
    "bash", "sh", "zsh", "dash", "ksh", "ash", "mksh", "rbash", "fish", "yash", "csh", "tcsh", "ksh93",
    "oksh", "loksh", "posh", "rzsh",
];

/// Whether a program is a shell.
pub fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}
