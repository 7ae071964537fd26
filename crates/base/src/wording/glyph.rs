//! The marks of the output and of the screen: one table, from which they are drawn and explained.

/// Where a mark is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// In the output of commands and in the workbench.
    Everywhere,
    /// In the workbench.
    OnScreen,
}

/// Declares marks in both sets.
macro_rules! glyphs {
    ($($shown:ident $variant:ident = $unicode:literal $ascii:literal $doc:literal;)*) => {
        /// A mark with a meaning.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Glyph { $(#[doc = $doc] $variant,)* }

        impl Glyph {
            /// Every mark, those of decisions first.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// What it means, with the key that finds it in the workbench.
            pub const fn doc(self) -> &'static str {
                match self { $(Self::$variant => $doc,)* }
            }

            /// Where it is drawn.
            pub const fn shown(self) -> Shown {
                match self { $(Self::$variant => Shown::$shown,)* }
            }

            /// Its form where fonts are good.
            pub const fn unicode(self) -> &'static str {
                match self { $(Self::$variant => $unicode,)* }
            }

            /// Its form in ASCII, as wide as the other; only the arrow is wider.
            pub const fn ascii(self) -> &'static str {
                match self { $(Self::$variant => $ascii,)* }
            }
        }
    };
}

glyphs! {
    Everywhere Deny = "✗" "x"
        "stopped (a call), violated (a session rule) or failed (a condition, a case); `]f` goes to the next `✗`, `■` or `~`";
    Everywhere Halt = "■" "#" "stopped, and the session ends here: later calls are not decided (halt)";
    Everywhere After = "~" "~"
        "stopped too, but less certain (counterfactual): an earlier call is decided differently than in the recording. The agent would have seen other results and might not have made this call";
    Everywhere Allow = "✓" "+" "allowed (a call), held (a session rule) or passed (a condition, a case)";
    Everywhere None = "–" "-"
        "no decision: the row of a tool that the policy hides now, a call after `■`, a rule that is off or that no call was checked against, a case that no rule applied to";
    Everywhere Ask = "¿" "&" "a person is asked whether the call runs";
    Everywhere Report = "!" "!"
        "allowed, but reported: the rule only reports, or has `mode: shadow` and would stop the call; `]!` goes to the next. The option `--mode shadow` still gives `✗`";
    OnScreen Problem = "?" "?"
        "could not be read or judged: a recording or a part of it, a policy, a case; the key `!` lists the reasons";
    Everywhere Disagree = "≠" "@"
        "the decision differs from the recording. In the workbench `✓≠` is allowed now and was refused, `✗≠` is stopped now and ran; `]d` goes to the next. In the output only allowed calls have it: `≠` is allowed now and was refused";
    OnScreen Refused = "⊘" "%" "the recorded call was refused, so it did not run";
    OnScreen Failed = "↯" "*" "the recorded result is an error; `]e` goes to the next";
    OnScreen Changed = "∆" "^" "changed by the new version: a decision, a visible tool or a session rule; `]c` goes to the next";
    OnScreen Base = "◂" "b" "a row that only the base version has";
    OnScreen New = "▸" "n" "a row that only the new version has";
    OnScreen Counterfactual = "┄" "." "from here on the recording is counterfactual (see `~`)";
    OnScreen Rule = "▌" ":" "a line of the rule that decided";
    OnScreen Dot = "·" ","
        "not judged yet, a pending rule (what it requires may still come), or one more finding of the same call; between two facts in a line, it only separates them";
    OnScreen Arrow = "→" "->" "from the base to the new version, or from before to after";
    OnScreen Cursor = "›" ">" "the selected row";
    OnScreen Folded = "⊞" "[" "a folded part (`Space` opens it) or group of sessions (`Enter` opens it)";
    OnScreen Open = "⊟" "v" "an open part (`Space` folds it) or group of sessions (`Enter` folds it)";
    OnScreen Track = "─" "_" "in the timeline (the row above the bottom line, with the mark of each call): a line between two calls";
    OnScreen End = "┤" "]" "in the timeline: the end of the session, after a `✗` for the session rules that are violated";
    OnScreen Between = "│" "|" "between two versions or two parts of a line";
    OnScreen Thumb = "┃" "H" "the visible part of a long list";
}

/// Combinations that are not marks of their own, but are explained among them.
pub const NOTES: &[(&str, &str, &str)] = &[
    ("…", "`", "text was cut here; `Enter` or `b` shows all of it"),
    (
        "␛",
        "^[",
        "a terminal control character; other invisible characters are shown by code, such as `⟨U+202E⟩`",
    ),
    ("↵", "\\n", "a line break, where a text is shown on one line"),
];

/// The table as Markdown, for the documentation.
pub fn markdown() -> String {
    let mut text = String::from("| mark | ASCII | meaning |\n|---|---|---|\n");
    let cell = |text: &str| match text {
        "`" => "`` ` ``".to_owned(),
        text => format!("`{}`", text.replace('|', "\\|")),
    };
    for (shown, title) in [
        (Shown::Everywhere, "in the output and in the workbench"),
        (Shown::OnScreen, "in the workbench alone"),
    ] {
        text.push_str(&format!("| | | **{title}** |\n"));
        for glyph in Glyph::ALL.iter().filter(|glyph| glyph.shown() == shown) {
            let (mark, ascii) = (glyph.unicode(), cell(glyph.ascii()));
            text.push_str(&format!("| `{mark}` | {ascii} | {} |\n", glyph.doc()));
        }
    }
    text.push_str("| | | **where text is shown** |\n");
    for (mark, ascii, doc) in NOTES {
        text.push_str(&format!("| `{mark}` | {} | {doc} |\n", cell(ascii)));
    }
    text
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;

    #[test]
    fn glyphs_are_one_column_in_both_sets() {
        for glyph in Glyph::ALL {
            assert_eq!(glyph.unicode().width(), 1, "{glyph:?}");
            assert_eq!(glyph.ascii().len(), if *glyph == Glyph::Arrow { 2 } else { 1 }, "{glyph:?}");
            assert!(glyph.ascii().is_ascii());
        }
    }

    #[test]
    fn one_mark_means_one_thing() {
        for (at, one) in Glyph::ALL.iter().enumerate() {
            for other in &Glyph::ALL[at + 1..] {
                assert_ne!(one.unicode(), other.unicode());
                assert_ne!(one.ascii(), other.ascii());
                assert_ne!(one.doc(), other.doc());
            }
            for (mark, ascii, _) in NOTES {
                assert!(one.unicode() != *mark && one.ascii() != *ascii, "{mark}");
            }
        }
    }

    #[test]
    fn verdicts_differ_in_glyph() {
        let verdicts =
            [Glyph::Deny, Glyph::Halt, Glyph::After, Glyph::Allow, Glyph::None, Glyph::Ask, Glyph::Report];
        for (at, one) in verdicts.iter().enumerate() {
            assert!(verdicts[at + 1..].iter().all(|other| one.ascii() != other.ascii()));
        }
    }
}
