//! Programs that run another one.

use super::wrapper::Wrapper;

/// All of them, first those of which further ones hold as well.
const ROWS: [&[Wrapper]; 4] =
    [super::besides::ROWS, super::inside::ROWS, super::runners::ROWS, super::outside::ROWS];

/// All rows.
pub fn wrapper_rows() -> impl Iterator<Item = &'static Wrapper> {
    ROWS.into_iter().flatten()
}

/// The rows of a program.
pub fn wrappers(name: &str) -> impl Iterator<Item = &'static Wrapper> {
    wrapper_rows().filter(move |row| row.names.split(' ').any(|known| known == name))
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
