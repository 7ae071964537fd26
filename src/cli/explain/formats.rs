//! `explain formats`: every format of recordings, with where its files are, and the page of one.

use crate::cli::args;
use crate::cli::exit::{Exit, Failure};
use crate::cli::hanging::hanging;
use crate::cli::screen::Screen;
use rulestep_recording::{FORMATS, Format};

/// Columns before the text.
const INDENT: usize = 20;

/// Recognition, in two sentences above the list.
const TOGETHER: &str = "A recording is recognised by its content, never by its name, and a folder may hold several formats. \
                        `--from FORMAT` skips the recognition.";

/// The page of all formats.
pub fn page(format: args::Format, screen: &mut Screen) -> Result<Exit, Failure> {
    match format {
        args::Format::Json => data(screen)?,
        args::Format::Text => {
            writeln!(screen.out(), "{}", hanging("", 0, TOGETHER))?;
            for format in FORMATS {
                let out = screen.out();
                writeln!(out, "\n{}", hanging(&format!("  {}", format.name), INDENT, format.title))?;
                writeln!(out, "{}", hanging("", INDENT, format.source))?;
            }
        }
    }
    Ok(Exit::Clean)
}

/// The page of one format.
pub fn one(recorded: &Format, format: args::Format, screen: &mut Screen) -> Result<Exit, Failure> {
    let out = screen.out();
    match format {
        args::Format::Json => writeln!(out, "{}", line(recorded))?,
        args::Format::Text => {
            let Format { name, title, source, .. } = recorded;
            let read = format!(
                "`rulestep replay FILE -p POLICY` recognises it by its content; `--from {name}` skips the recognition"
            );
            writeln!(out, "{}\n", hanging("", 0, &format!("{name}: {title}")))?;
            writeln!(out, "{}", hanging("  source", 12, source))?;
            writeln!(out, "{}", hanging("  read it", 12, &read))?;
        }
    }
    Ok(Exit::Clean)
}

/// A format a line.
pub fn data(screen: &mut Screen) -> Result<(), Failure> {
    for format in FORMATS {
        writeln!(screen.out(), "{}", line(format))?;
    }
    Ok(())
}

fn line(format: &Format) -> serde_json::Value {
    let Format { name, title, source, .. } = format;
    serde_json::json!({"format": name, "title": title, "source": source})
}
