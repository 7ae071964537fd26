//! `explain marks`: the meaning of each mark in the output and on the screen.

use crate::cli::args::Format;
use crate::cli::exit::{Exit, Failure};
use crate::cli::hanging::hanging;
use crate::cli::screen::Screen;
use rulestep_base::wording::glyph::{Glyph, NOTES, Shown};

/// Columns before the meaning.
const INDENT: usize = 11;

/// How marks are combined.
const TOGETHER: &str = "A verdict comes first, then `≠`, then `∆`: `✓≠∆` is a call that is allowed, was refused in the recording, \
                        and is decided differently by the base. A number beside a mark counts: `3✗ 2~` and `✗3 ~2` are three \
                        stopped calls or violated rules, and two more stopped calls that are counterfactual. The workbench \
                        uses the ASCII forms if `ascii = true` is in its config.toml, if the locale is not UTF-8, and on \
                        the Linux console.";

/// The page.
pub fn page(format: Format, screen: &mut Screen) -> Result<Exit, Failure> {
    match format {
        Format::Json => data(screen)?,
        Format::Text => text(screen)?,
    }
    Ok(Exit::Clean)
}

fn text(screen: &mut Screen) -> Result<(), Failure> {
    let out = screen.out();
    for (shown, title) in [
        (
            Shown::Everywhere,
            "Marks in the output of commands and in the workbench (the second form is ASCII)",
        ),
        (Shown::OnScreen, "Marks in the workbench alone"),
    ] {
        writeln!(out, "{title}:")?;
        for glyph in Glyph::ALL.iter().filter(|glyph| glyph.shown() == shown) {
            row(glyph.unicode(), glyph.ascii(), glyph.doc(), out)?;
        }
        writeln!(out)?;
    }
    writeln!(out, "Where text is shown:")?;
    NOTES.iter().try_for_each(|(mark, ascii, doc)| row(mark, ascii, doc, out))?;
    writeln!(out, "\n{}", hanging("", 0, TOGETHER))?;
    Ok(())
}

fn row(mark: &str, ascii: &str, doc: &str, out: &mut dyn std::io::Write) -> std::io::Result<()> {
    writeln!(out, "{}", hanging(&format!("  {mark:<4}{ascii}"), INDENT, doc))
}

/// A mark a line.
pub fn data(screen: &mut Screen) -> Result<(), Failure> {
    for glyph in Glyph::ALL {
        let workbench_only = glyph.shown() == Shown::OnScreen;
        let line = serde_json::json!({
            "mark": glyph.unicode(), "ascii": glyph.ascii(), "text": glyph.doc(), "workbench_only": workbench_only,
        });
        writeln!(screen.out(), "{line}")?;
    }
    Ok(())
}
