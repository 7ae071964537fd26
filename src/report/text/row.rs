//! A row below a call or a rule.

use std::fmt::Display;
use std::io::{self, Write};

/// A line with its label.
pub fn row(out: &mut dyn Write, label: &str, text: impl Display) -> io::Result<()> {
    writeln!(out, "      {label:<9} {text}")
}
