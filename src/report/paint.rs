//! Colours of the text that goes to a terminal.

use std::fmt::Display;

use anstyle::{AnsiColor, Style};

use rulestep_engine::run::Verdict;

/// Colours, where they are wanted.
#[derive(Clone, Copy)]
pub struct Paint {
    /// Whether they are.
    pub color: bool,
}

impl Paint {
    /// In a style.
    pub fn with(self, style: Style, text: impl Display) -> String {
        if self.color { format!("{style}{text}{style:#}") } else { text.to_string() }
    }

    /// The subject of a line.
    pub fn bold(self, text: &str) -> String {
        self.with(Style::new().bold(), text)
    }

    /// Secondary text.
    pub fn dim(self, text: &str) -> String {
        self.with(Style::new().dimmed(), text)
    }

    /// In the colour of a decision.
    pub fn verdict(self, verdict: Verdict, text: impl Display) -> String {
        let style = match verdict {
            Verdict::Allow => AnsiColor::Green.on_default(),
            Verdict::Ask => AnsiColor::Yellow.on_default(),
            Verdict::Deny => AnsiColor::Red.on_default(),
            Verdict::Halt => AnsiColor::Red.on_default().bold(),
            Verdict::NotReached => Style::new().dimmed(),
        };
        self.with(style, text)
    }
}
