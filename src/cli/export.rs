//! `rulestep export`: one row a session, a call and a finding, for databases.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;

use super::args::{Corpus, TableFormat};
use super::corpus_run::CorpusRun;
use super::count::Counting;
use super::input;
use super::verb::{Exit, Exits, FAULT, Failure, NOT_JUDGED, Screen, Verb};
use crate::report::export::TABLES;
#[cfg(feature = "parquet")]
use crate::report::export::parquet::ParquetTable;
use crate::report::words;
use rulestep_engine::replay::Replay;

/// Write sessions, calls and findings as tables to load into a database, as JSON lines
#[derive(Debug, Args)]
pub struct Export {
    #[command(flatten)]
    pub corpus: Corpus,
    /// Folder for the files `sessions`, `calls` and `findings`; existing ones are replaced
    #[arg(short, long, value_name = "FOLDER")]
    pub output: String,
    /// Format of the files, and the end of their names
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: TableFormat,
    /// Blank all arguments, results and messages. Only the values that a rule of the policies looks at stay readable
    #[arg(long)]
    pub redact: bool,
}

impl Verb for Export {
    const NAME: &'static str = "export";
    const EXITS: Exits = &[
        (0, "the rows of all sessions were written"),
        (2, "a recording could not be read completely; the rows of what could be read are written"),
        NOT_JUDGED,
        FAULT,
        (130, "interrupted with Ctrl-C; nothing was written"),
    ];

    /// The files come into being under their names when all are complete.
    fn run(&self, screen: &mut Screen) -> Result<Exit, Failure> {
        let Export { corpus, output, format, redact } = self;
        let mut run = CorpusRun::of("rulestep export SESSIONS", corpus, screen)?;
        let policy = input::policy(&corpus.policies, corpus.recordings.samples, screen)?;
        run.redact = *redact;
        let folder = Path::new(output);
        let begun = || -> anyhow::Result<Vec<TableFile>> {
            fs::create_dir_all(folder)?;
            TABLES.iter().map(|table| TableFile::begin(folder, table.name, *format)).collect()
        };
        let shown = words::line(output);
        let mut files =
            begun().with_context(|| format!("{shown} cannot be written")).map_err(Failure::System)?;
        let rows = |replay: &Replay| {
            let rows = TABLES.iter().map(|table| {
                let mut rows = Vec::new();
                (table.rows)(replay, &mut rows).map(|()| rows)
            });
            rows.collect::<std::io::Result<Vec<Vec<u8>>>>()
        };
        let mut written = Ok(());
        let mut take = |rows: std::io::Result<Vec<Vec<u8>>>| {
            if written.is_ok() {
                let write = |rows: Vec<Vec<u8>>| {
                    files.iter_mut().zip(rows).try_for_each(|(file, rows)| file.rows.write(&rows))
                };
                written = rows.and_then(write);
            }
        };
        let counting = Counting { policy: &policy, judge: Replay::new, count: &rows };
        counting.run(&mut run, &mut take, screen)?;
        let (read, exit) = (&run.read, run.exit(false));
        let nothing = match (read.reading.interrupted, read.counts.sessions) {
            (true, _) => Some("interrupted: nothing was written"),
            (false, 0) if exit == Exit::Bad => Some("no session, so nothing was written"),
            (false, _) => None,
        };
        let finish = || -> anyhow::Result<()> {
            written?;
            // Rows of some sessions only, or of none, would look like all there are: what was there stays.
            if nothing.is_some() {
                return Ok(());
            }
            files.iter_mut().try_for_each(|file| file.rows.finish())?;
            files.iter().try_for_each(|file| Ok(fs::rename(&file.beside, &file.path)?))
        };
        finish().with_context(|| format!("{shown} cannot be written")).map_err(Failure::System)?;
        let sessions = words::count(read.counts.sessions, "session");
        match nothing {
            Some(why) => screen.error(why, None),
            None => screen.note(&format!("{sessions} written to {shown}")),
        }
        Ok(exit)
    }
}

/// A table that is being written beside its place.
struct TableFile {
    path: PathBuf,
    beside: PathBuf,
    rows: Rows,
}

/// What rows are written to.
enum Rows {
    Lines(BufWriter<File>),
    /// `None` once it is whole.
    #[cfg(feature = "parquet")]
    Columns(Option<Box<ParquetTable<BufWriter<File>>>>),
}

impl TableFile {
    fn begin(folder: &Path, name: &str, format: TableFormat) -> anyhow::Result<TableFile> {
        let file = match format {
            TableFormat::Ndjson => format!("{name}.ndjson"),
            #[cfg(feature = "parquet")]
            TableFormat::Parquet => format!("{name}.parquet"),
        };
        let path = folder.join(&file);
        let beside = folder.join(format!("{file}.{}.tmp", std::process::id()));
        let out = BufWriter::with_capacity(1 << 16, File::create(&beside)?);
        let rows = match format {
            TableFormat::Ndjson => Rows::Lines(out),
            #[cfg(feature = "parquet")]
            TableFormat::Parquet => Rows::Columns(Some(Box::new(ParquetTable::begin(name, out)?))),
        };
        Ok(TableFile { path, beside, rows })
    }
}

impl Rows {
    /// Adds lines of JSON.
    fn write(&mut self, lines: &[u8]) -> std::io::Result<()> {
        match self {
            Rows::Lines(out) => out.write_all(lines),
            #[cfg(feature = "parquet")]
            Rows::Columns(table) => table.iter_mut().try_for_each(|table| table.write(lines)),
        }
    }

    fn finish(&mut self) -> std::io::Result<()> {
        match self {
            Rows::Lines(out) => out.flush(),
            #[cfg(feature = "parquet")]
            Rows::Columns(table) => table.take().map_or(Ok(()), |table| table.finish()),
        }
    }
}

impl Drop for TableFile {
    /// What was not completed is not kept; what was is no longer there.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.beside);
    }
}
