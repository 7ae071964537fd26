//! Standard output and standard error: colours, diagnostics, progress.
//!
//! The only place of the command line that writes to either.

mod guarded;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use self::guarded::Guarded;
use super::args::{Color, Show};
use crate::report::{diagnostic, words};
use rulestep_base::diagnostic::{Code, Diagnostic, Place, Severity, code};

/// Where answers and diagnostics go.
pub struct Screen {
    out: Guarded<BufWriter<io::Stdout>>,
    /// Whether answers may be coloured.
    pub color: bool,
    color_err: bool,
    quiet: bool,
    /// Every diagnostic is shown, however many are alike.
    pub all: bool,
    /// The option with which all are shown.
    pub all_with: &'static str,
    /// The number of reports, by code and whether they are less than errors.
    told: BTreeMap<(Code, Severity), u64>,
    /// Files that gave no session and were not named, as nothing is when quiet.
    skipped: u64,
    /// Advice on recordings that was given: once is enough.
    advised: BTreeSet<String>,
    progress: ProgressBar,
}

/// Warnings and notices with one code that are shown; the rest are counted.
const ALIKE: u64 = 3;
/// Errors with one code that are shown: more are a file that is something else, or hostile.
const ALIKE_ERRORS: u64 = 100;

impl Screen {
    /// For this process.
    pub fn new(show: Show) -> Screen {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let color = |terminal: bool| match show.color {
            Color::Auto => terminal && !plain,
            Color::Always => true,
            Color::Never => false,
        };
        Screen {
            color: color(io::stdout().is_terminal()),
            color_err: color(io::stderr().is_terminal()),
            out: Guarded {
                inner: BufWriter::with_capacity(1 << 16, io::stdout()),
                terminal: io::stdout().is_terminal(),
            },
            quiet: show.quiet,
            all: false,
            all_with: "--full",
            told: BTreeMap::new(),
            skipped: 0,
            advised: BTreeSet::new(),
            progress: ProgressBar::hidden(),
        }
    }

    /// The output for answers.
    pub fn out(&mut self) -> &mut dyn Write {
        &mut self.out
    }

    /// Writes an answer beside a progress bar.
    ///
    /// # Errors Standard output is closed or full.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Screen { out, progress, .. } = self;
        if progress.is_hidden() {
            return out.write_all(bytes);
        }
        progress.suspend(|| {
            out.write_all(bytes)?;
            out.flush()
        })
    }

    /// Shows a diagnostic about a recording; when quiet, the files that were not read are counted.
    pub fn tell_recording(&mut self, told: &Diagnostic) {
        if self.quiet && told.severity == Severity::Notice && told.code == code::NOT_A_SESSION {
            self.skipped += 1;
        }
        self.tell(told);
    }

    /// Shows a diagnostic; when quiet no notice, except that a file of the policy holds no rules: a file that is left
    /// out is not enforced. Of similar warnings and notices only a few, unless all were requested. Of similar errors a
    /// hundred.
    pub fn tell(&mut self, told: &Diagnostic) {
        if self.quiet && told.severity == Severity::Notice && told.code != code::UNRECOGNISED_DOCUMENT {
            return;
        }
        let most = match (told.severity < Severity::Error, self.all) {
            (true, true) => u64::MAX,
            (true, false) => ALIKE,
            (false, _) => ALIKE_ERRORS,
        };
        let count = self.told.entry((told.code, told.severity)).or_default();
        *count += 1;
        if *count > most {
            return;
        }
        let style = diagnostic::Style { color: self.color_err, ..diagnostic::Style::default() };
        let known = !matches!(told.place(), Some(Place::Text { .. }))
            && told.help.as_ref().is_some_and(|help| !self.advised.insert(help.clone()));
        let mut text = match known {
            true => diagnostic::text(&Diagnostic { help: None, ..told.clone() }, style),
            false => diagnostic::text(told, style),
        };
        // One with lines of a file in it needs room.
        if text.lines().count() > 3 {
            text.push('\n');
        }
        self.complain(&text);
    }

    /// Says how many diagnostics were not shown.
    pub fn tell_rest(&mut self) {
        if let Some(skipped) = words::skipped(std::mem::take(&mut self.skipped)) {
            self.warn(&format!("{skipped}: not recordings (named without `-q`)"));
        }
        for ((code, severity), count) in std::mem::take(&mut self.told) {
            let (most, way) = match (severity < Severity::Error, self.all) {
                (true, true) => continue,
                (true, false) => (ALIKE, format!(" ({} shows all)", self.all_with)),
                (false, _) => (ALIKE_ERRORS, String::new()),
            };
            if count > most {
                self.complain(&format!("and {} more `{code}`{way}", words::thousands(count - most)));
            }
        }
    }

    /// Shows an error that has no place and no code.
    pub fn error(&mut self, message: &str, help: Option<&str>) {
        let paint = |style: Style, text: &str| {
            if self.color_err { format!("{style}{text}{style:#}") } else { text.to_owned() }
        };
        let error = paint(AnsiColor::BrightRed.on_default().bold(), "error");
        let mut text = format!("{error}: {}", words::line(message));
        if let Some(help) = help {
            let label = paint(AnsiColor::BrightCyan.on_default().bold(), "help");
            text.push_str(&format!("\n  {label}: {}", words::line(help)));
        }
        self.complain(&text);
    }

    /// Says something that is neither wrong nor an answer; not when quiet.
    pub fn note(&mut self, message: &str) {
        if !self.quiet {
            self.complain(&format!("note: {}", words::line(message)));
        }
    }

    /// Says what a result must not be without, also when quiet.
    pub fn warn(&mut self, message: &str) {
        let style = AnsiColor::BrightYellow.on_default().bold();
        let label = if self.color_err { format!("{style}warning{style:#}") } else { "warning".to_owned() };
        self.complain(&format!("{label}: {}", words::line(message)));
    }

    /// Reports such messages from any thread, beside a progress bar.
    pub fn voice(&self) -> Arc<dyn Fn(&str) + Send + Sync> {
        let (quiet, progress) = (self.quiet, self.progress.clone());
        Arc::new(move |message| {
            if !quiet {
                let text = format!("note: {}", words::line(message));
                progress.suspend(|| drop(writeln!(io::stderr().lock(), "{text}")));
            }
        })
    }

    /// Shows the progress of long work, on a terminal.
    pub fn start_progress(&mut self, length: u64, unit: &str) -> ProgressBar {
        if self.quiet || !io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr_with_hz(10));
        let template = format!("{{bar:30}} {{pos}}/{{len}} {unit} {{msg}}");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        self.progress = bar.clone();
        bar
    }

    /// Takes the progress away.
    pub fn end_progress(&mut self) {
        self.progress.finish_and_clear();
        self.progress = ProgressBar::hidden();
    }

    /// Writes the output that is still held back.
    ///
    /// # Errors Standard output is closed or full.
    pub fn finish(&mut self) -> io::Result<()> {
        self.end_progress();
        self.out.flush()
    }

    /// Writes answers first, so that both come in order on a terminal. If standard error is closed, nothing can be
    /// reported.
    fn complain(&mut self, text: &str) {
        let Screen { out, progress, .. } = self;
        progress.suspend(|| {
            let _ = out.flush();
            let _ = writeln!(io::stderr().lock(), "{text}");
        });
    }
}
