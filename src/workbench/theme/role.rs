//! The closed list of roles that a theme dresses, and which of them each mark has.

pub use rulestep_base::wording::glyph::Glyph;

/// Declares roles with their names, so that the list, the names and the enum cannot part.
macro_rules! roles {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal,)*) => {
        /// A purpose on the screen.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Role { $($(#[doc = $doc])* $variant,)* }

        impl Role {
            /// Every role.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// What it is for, in a sentence.
            pub fn doc(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),*).trim_start(),)* }
            }

            /// Its name in a theme.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

roles! {
    /// Anything without a role of its own; its background is the screen's.
    Text = "text",
    /// What matters less: labels, ids, times.
    TextDim = "text.dim",
    /// What matters more: names of tools.
    TextStrong = "text.strong",
    /// A mark in place of a character that must not reach the screen.
    TextMark = "text.mark",
    /// Frames of panes.
    Border = "border",
    /// The frame of the pane that has the keys.
    BorderFocus = "border.focus",
    /// Names of panes.
    Title = "title",
    /// The name of the pane that has the keys.
    TitleFocus = "title.focus",
    /// The selected row of the pane that has the keys.
    Cursor = "cursor",
    /// The selected row of another pane.
    CursorIdle = "cursor.idle",
    /// A call that may run.
    VerdictAllow = "verdict.allow",
    /// A call that was stopped.
    VerdictDeny = "verdict.deny",
    /// A call that stopped the session.
    VerdictHalt = "verdict.halt",
    /// A call that is stopped and counterfactual: an earlier decision differs from the recording.
    VerdictAfter = "verdict.after",
    /// A call that was not reached, a tool the model could not see.
    VerdictNone = "verdict.none",
    /// What a rule reports without stopping anything.
    VerdictReport = "verdict.report",
    /// Where the decision differs from the recording.
    Disagree = "disagree",
    /// Where the text was written by the user.
    SpeakerUser = "speaker.user",
    /// Where the text was written by the model.
    SpeakerAssistant = "speaker.assistant",
    /// Where the text came from a tool.
    SpeakerTool = "speaker.tool",
    /// Numbers of lines.
    CodeLine = "code.line",
    /// Keys of YAML and JSON.
    CodeKey = "code.key",
    /// Strings.
    CodeString = "code.string",
    /// Numbers, `true`, `null`.
    CodeNumber = "code.number",
    /// Comments.
    CodeComment = "code.comment",
    /// The lines of the rule that decided.
    CodeRule = "code.rule",
    /// What is in the base alone.
    ChangeBase = "change.base",
    /// What is in the new version alone.
    ChangeNew = "change.new",
    /// The words that differ between the two versions.
    ChangeWord = "change.word",
    /// What a search found.
    Match = "match",
    /// What a search found and the cursor is on.
    MatchCurrent = "match.current",
    /// The line at the top.
    Status = "status",
    /// Highlighted numbers and names in it.
    StatusStrong = "status.strong",
    /// A problem that remains: an older policy is in use, a file cannot be read.
    StatusProblem = "status.problem",
    /// Work under way, an answer to a key.
    StatusNote = "status.note",
    /// A key in the footer and in help.
    Key = "key",
    /// What a key does.
    KeyDoc = "key.doc",
    /// The ground of what lies above the panes.
    Overlay = "overlay",
    /// The mark of the visible part of a long list.
    Scroll = "scroll",
}

impl Role {
    /// The roles whose colours mean something by themselves, as help lists them.
    pub const LEGEND: &'static [Self] = &[
        Self::VerdictAllow,
        Self::VerdictDeny,
        Self::VerdictHalt,
        Self::VerdictAfter,
        Self::VerdictNone,
        Self::VerdictReport,
        Self::Disagree,
        Self::SpeakerUser,
        Self::SpeakerAssistant,
        Self::SpeakerTool,
        Self::ChangeBase,
        Self::ChangeNew,
        Self::ChangeWord,
        Self::CodeRule,
        Self::Match,
        Self::MatchCurrent,
        Self::TextMark,
        Self::StatusProblem,
    ];
}

impl Role {
    /// The role that a glyph is mostly drawn in.
    pub const fn of(glyph: Glyph) -> Role {
        match glyph {
            Glyph::Deny => Role::VerdictDeny,
            Glyph::Halt => Role::VerdictHalt,
            Glyph::After => Role::VerdictAfter,
            Glyph::Allow => Role::VerdictAllow,
            Glyph::None => Role::VerdictNone,
            Glyph::Ask | Glyph::Report | Glyph::Failed => Role::VerdictReport,
            Glyph::Problem => Role::StatusProblem,
            Glyph::Disagree | Glyph::Refused => Role::Disagree,
            Glyph::Changed | Glyph::New => Role::ChangeNew,
            Glyph::Base => Role::ChangeBase,
            Glyph::Rule => Role::CodeRule,
            _ => Role::TextDim,
        }
    }
}

/// The role with this name, or the name again if it is a prefix that roles fall back to.
pub fn known(name: &str) -> Option<&'static str> {
    names().find(|known| *known == name)
}

/// The known name nearest to a misspelt one.
pub fn nearest(name: &str) -> Option<&'static str> {
    names()
        .map(|known| (strsim::damerau_levenshtein(known, name), known))
        .filter(|(distance, _)| *distance <= 3)
        .min()
        .map(|(_, known)| known)
}

/// What a role without a look of its own looks like; `None` for `text`, the root of all.
pub fn prefix(name: &'static str) -> Option<&'static str> {
    match name.rsplit_once('.') {
        Some((prefix, _)) => Some(prefix),
        None => (name != "text").then_some("text"),
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    Role::ALL.iter().flat_map(|role| {
        let name = role.name();
        [Some(name), prefix(name)].into_iter().flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_fall_back_to_text() {
        for role in Role::ALL {
            let mut name = role.name();
            while let Some(next) = prefix(name) {
                name = next;
            }
            assert_eq!(name, "text");
        }
        assert_eq!(nearest("verdict.dney"), Some("verdict.deny"));
        assert_eq!(known("code"), Some("code"));
        assert_eq!(known("cod"), None);
    }
}
