//! The reference page of a dialect, for a terminal: headings flush left, everything else indented, examples further.

use std::io::{self, Write};

use super::Look;
use super::paint::Paint;

/// Writes a page that is kept as Markdown: headings, paragraphs, lists and fenced examples.
pub fn text(page: &str, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let paint = Paint { color: look.color };
    let mut example = false;
    for line in page.lines() {
        if line.starts_with("```") {
            example = !example;
        } else if example {
            writeln!(out, "      {line}")?;
        } else if let Some(heading) = line.strip_prefix("# ") {
            writeln!(out, "{}", paint.bold(heading))?;
        } else if line.is_empty() {
            writeln!(out)?;
        } else {
            writeln!(out, "  {}", line.replace("**", ""))?;
        }
    }
    Ok(())
}
