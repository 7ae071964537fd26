//! The one table of commands. Dispatch, the footer, help, the list of continuations of a chord, and the list in the
//! README are all made from it, so they cannot disagree.
//!
//! The effect of a command is in `update`; its availability is defined here, over a few facts.

mod argument;
pub mod chord;
mod facts;
mod keymap;

use std::fmt::Write as _;

pub use self::argument::{Argument, Place, place};
pub use self::chord::Key;
pub use self::facts::Facts;
use self::facts::{
    back, body, call, cause, chosen, compared, decided, finding, forward, judged, loads, marked, never,
    result, rule, scrolled, search, session, source, stopped, texts, told, undo, watched, what_if, witness,
    written,
};
pub use self::keymap::Keymap;

/// Where a command's keys are active.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Wherever keys are not text.
    All,
    /// While no popup is open.
    Panes,
    /// In the pane of the policy's text, which has the keys of all panes in addition.
    Policy,
    /// In the view of one whole body.
    Body,
    /// In the list of all findings.
    Findings,
    /// In the list of commands.
    Help,
    /// In the text of two versions.
    Texts,
    /// In the list of rules, and of what recordings hold.
    Survey,
}

/// Under which heading help lists a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    /// Between rows, calls, turns, sessions.
    Move,
    /// To the next thing worth looking at.
    Jump,
    /// What is on the screen.
    Look,
    /// Commands that leave the workbench or change decisions.
    Do,
    /// Inside an overlay.
    Overlay,
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The command.
    pub command: Command,
    /// Its name in the palette and in the configuration.
    pub name: &'static str,
    /// What may be typed after its name.
    pub argument: Option<Argument>,
    /// Its chords, the first one is shown if there is little room; none if it is run only by name.
    pub keys: &'static [&'static str],
    /// Where they are active.
    pub scope: Scope,
    /// Its heading.
    pub group: Group,
    /// Its effect, in one line.
    pub doc: &'static str,
    /// Why it cannot be used just now, if so.
    pub missing: fn(&Facts) -> Option<&'static str>,
}

macro_rules! argument {
    () => {
        None
    };
    ($kind:ident) => {
        Some(Argument::$kind)
    };
}

macro_rules! commands {
    ($(
        $scope:ident $group:ident $command:ident $name:literal $(<$argument:ident>)? [$($key:literal)*] $missing:ident
        $doc:literal;
    )*) => {
        /// A command of the user.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Command { $(#[doc = $doc] $command,)* }

        /// Every command, once.
        pub const TABLE: &[Row] = &[$(Row {
            command: Command::$command, name: $name, argument: argument!($($argument)?), keys: &[$($key),*],
            scope: Scope::$scope, group: Group::$group, doc: $doc, missing: $missing,
        },)*];
    };
}

commands! {
    All Move NextCall "next-call" ["j"] never "next call (in a list: next row)";
    All Move PreviousCall "previous-call" ["k"] never "previous call (in a list: previous row)";
    All Move Down "down" ["Down"] never "next row, messages and results included";
    All Move Up "up" ["Up"] never "previous row, messages and results included";
    Panes Move NextTurn "next-turn" ["J"] session "next turn";
    Panes Move PreviousTurn "previous-turn" ["K"] session "previous turn";
    Panes Move NextSession "next-session" ["}"] session "next session";
    Panes Move PreviousSession "previous-session" ["{"] session "previous session";
    All Move First "first" ["gg" "Home"] never "first row";
    All Move Last "last" ["G" "End"] never "last row";
    All Move HalfDown "half-down" ["Ctrl-d"] never "half a screen down";
    All Move HalfUp "half-up" ["Ctrl-u"] never "half a screen up";
    All Move PageDown "page-down" ["PgDn"] never "a screen down";
    All Move PageUp "page-up" ["PgUp"] never "a screen up";

    All Move Right "right" ["l" "Right"] never "scroll right, to text that is cut off";
    All Move Left "left" ["h" "Left"] scrolled "scroll back to the left";

    Panes Jump NextFinding "next-finding" ["]f"] judged "next stopped call or violated rule, in any session";
    Panes Jump PreviousFinding "previous-finding" ["[f"] judged "previous stopped call or violated rule, in any session";
    Panes Jump NextReport "next-report" ["]!"] judged "next call that is allowed, but reported by a rule, in any session";
    Panes Jump PreviousReport "previous-report" ["[!"] judged "previous call that is allowed, but reported, in any session";
    Panes Jump NextSameRule "next-same-rule" ["]r"] finding "next finding of the same rule as this one, in this session";
    Panes Jump PreviousSameRule "previous-same-rule" ["[r"] finding "previous finding of the same rule as this one, in this session";
    Panes Jump NextChange "next-change" ["]c"] compared "next change in any session: decision, visible tool or session rule";
    Panes Jump PreviousChange "previous-change" ["[c"] compared "previous change in any session: decision, visible tool, session rule";
    Panes Jump NextDisagreement "next-disagreement" ["]d"] judged "next call whose decision differs from the recording, in this session";
    Panes Jump PreviousDisagreement "previous-disagreement" ["[d"] judged "previous call decided differently than recorded, in this session";
    Panes Jump NextError "next-error" ["]e"] session "next recorded result that is an error, in this session";
    Panes Jump PreviousError "previous-error" ["[e"] session "previous recorded result that is an error, in this session";
    Panes Jump NextHidden "next-hidden" ["]h"] judged "next turn in which a visible tool becomes hidden, in this session";
    Panes Jump PreviousHidden "previous-hidden" ["[h"] judged "previous turn in which a visible tool becomes hidden, in this session";
    Panes Jump NextStop "next-stop" ["]s"] session "next session with a stopped call or a violated rule";
    Panes Jump PreviousStop "previous-stop" ["[s"] session "previous session with a stopped call or a violated rule";
    Panes Jump Cause "cause" ["o"] cause "go to the earlier call that this finding is based on";
    Panes Jump GoTo "go-to" <Place> [] session "go to call 42 (`42`), to turn 7 (`T7`) or to its second call (`T7.2`)";
    Panes Jump SetMark "bookmark" <Letter> ["+"] session "set a bookmark on this row, with a letter: `+a`";
    Panes Jump GoMark "go-to-bookmark" <Letter> ["'"] marked "go to the bookmark with this letter: `'a`";
    Panes Jump Back "back" ["Ctrl-o"] back "back to the row before the last jump";
    Panes Jump Forward "forward" ["Alt-o"] forward "forward again, after going back";

    All Look Open "open" ["Enter"] never "do the main action of this row; the bottom line names it";
    Panes Look Body "body" ["b"] body "show the whole message, call or result";
    Panes Look Findings "findings" ["F"] never "findings of all sessions: stopped calls, violated session rules, reports";
    Panes Look FilterSessions "filter-sessions" <Filter> ["f"] never "filter the sessions: `tool:pay` (see `rulestep explain filter`)";
    Panes Look SortSessions "sort-sessions" <Column> ["S"] never "sort the sessions: choose a column (the same again: reversed)";
    Panes Look GroupSessions "group-sessions" ["t"] never "next grouping of the sessions: recording, project, day, rule, verdict";
    Panes Look FoldSessions "fold-sessions" ["Space"] never "pane 1: fold or unfold all groups; pane 2: mark another call for `a`";
    Panes Look SearchSessions "search-sessions" ["g/"] session "search the text of all listed sessions";
    Panes Look Overview "overview" ["O"] never "all rules: how often each was checked, and how often it stopped a call";
    Panes Look Inventory "inventory" ["I"] never "what the sessions contain: tools, what calls do, projects, days";
    Panes Look Cases "cases" ["C"] never "test cases beside the policy, with their results";
    Panes Look Problems "problems" ["!"] never "problems in the policy, its cases, the settings and the recordings";
    All Look Search "search" ["/"] never "search in this pane; in a list popup: keep the rows with the text";
    All Look SearchNext "search-next" ["n"] search "next match of the search";
    All Look SearchPrevious "search-previous" ["N"] search "previous match of the search";
    Panes Look NextPane "next-pane" ["Tab"] never "next pane";
    Panes Look PreviousPane "previous-pane" ["Shift-Tab"] never "previous pane";
    Panes Look PaneSessions "pane-sessions" ["1"] never "go to pane 1: sessions";
    Panes Look PaneTranscript "pane-transcript" ["2"] never "go to pane 2: transcript of the open session";
    Panes Look PaneTools "pane-tools" ["3"] never "go to pane 3: tools that the model can see, and hidden ones";
    Panes Look PaneForbidden "pane-forbidden" ["4"] never "go to pane 4: tools that earlier calls forbid";
    Panes Look PanePreconditions "pane-preconditions" ["5"] never "go to pane 5: preconditions and session rules";
    Panes Look PaneDecision "pane-decision" ["6"] never "go to pane 6: decision on this call, with its reasons";
    Panes Look PanePolicy "pane-policy" ["7"] never "go to pane 7: policy text, at the rule that decides";
    Panes Look PaneChanges "pane-changes" ["8"] never "go to pane 8: what the last edit or the base changes, in all sessions";
    Panes Look Zoom "zoom" ["z"] never "show this pane alone (zoom), or all panes again (unzoom)";
    All Look Help "help" ["?" "F1"] never "all keys with what they do, and what marks and colours mean";
    All Look Palette "palette" [":" "Ctrl-p"] never "list all commands, and run one by its name";
    All Look Theme "theme" <Theme> [] never "choose the colours of the screen, for this run";
    All Look Redraw "redraw" ["Ctrl-l"] never "redraw the screen";

    Panes Look Base "base" <Version> ["db"] never "compare with a base: `git:HEAD`, a file, a folder, `recorded`, `live`";
    Panes Look LastLoad "last-load" ["dl"] loads "compare with the policy before the last edit, or an earlier one (list)";
    Panes Look Texts "texts" ["dt"] texts "show the policy diff: each edit, and the decisions that it changes";
    Panes Look EndCompare "end-compare" ["dd"] compared "stop comparing with the base, or with the policy before the edit";

    Panes Do Judge "judge" ["r"] never "reload the policy and the recordings";
    Panes Do Live "live" ["R"] watched "turn reloading of edited files on or off (live reload)";
    Panes Do Mode "mode" ["m"] never "replay: stopped calls did not run (enforce), or ran (shadow)";
    Panes Do Save "save" ["s"] decided "save the session up to this call as a test case";
    Panes Do Suggest "suggest" ["a"] chosen "suggest rules about this call (and a marked one); `Enter` adds one";
    All Do Test "test" ["T"] body "try a JSONPath, regex, Liquid template or call matcher on this row";
    Panes Do UndoWrite "undo-write" ["u"] written "undo the last rule that was written with `a` or `i`";
    Panes Do Witness "witness" ["W"] witness "minimal example: the fewest calls that still show this stop or change";
    Panes Do WayOut "way-out" ["w"] stopped "way out: calls after which this one is allowed, or why there are none";
    Panes Do WhatIfArguments "what-if-arguments" ["xa"] call "what if this call had other arguments";
    Panes Do WhatIfResult "what-if-result" ["xr"] call "what if this call had another result";
    Panes Do WhatIfOutcome "what-if-outcome" ["xo"] call "what if this call failed; again: was refused, had no result, succeeded";
    Panes Do WhatIfDrop "what-if-drop" ["xd"] call "what if this call were removed";
    Panes Do WhatIfNew "what-if-new" ["xn"] judged "what if the turn had one more call: `pay {\"id\": 7} => paid`";
    Panes Do WhatIfRule "what-if-rule" ["xx"] rule "what if the rule at the cursor were off (press again to turn it on)";
    Panes Do WhatIfUndo "what-if-undo" ["xu"] undo "undo the last what-if step, or the last `xq`";
    Panes Do WhatIfNone "what-if-none" ["xq"] what_if "drop all what-ifs and show the recording; `xu` brings them back";
    All Do Edit "edit" ["e"] source "open the rule in your editor (on a message: the recording)";
    All Do CopyRow "copy-row" ["yy"] never "copy the selected row";
    All Do CopyJson "copy-json" ["yj"] session "copy the call, message or decision as JSON";
    All Do CopyRule "copy-rule" ["yr"] rule "copy the id of the rule (file and place in it)";
    Panes Do CopyExplain "copy-command" ["yc"] judged "copy the `rulestep explain` command for this decision";
    Panes Do CopyMarkdown "copy-markdown" ["ym"] told "copy the decision as Markdown for a ticket";
    All Do Export "export" <File> [] never "write (replace) the screen (`X.svg`) or this session (`X.html`, `X.md`)";
    All Do Mouse "mouse" ["M"] never "turn the mouse on or off (Shift selects text while it is on)";
    All Do Suspend "suspend" ["Ctrl-z"] never "suspend; `fg` in the shell returns";
    All Do Close "close" ["Esc"] never "close the popup, search, zoom or minimal example";
    All Do Quit "quit" ["q"] never "close the popup, zoom, example or all what-ifs; with nothing open, quit";
    All Do QuitNow "quit-now" ["Ctrl-c"] never "quit at once";

    Policy Look Reference "reference" ["K"] never "open the reference page of the policy key on this line";

    Body Overlay CopyPath "copy-path" ["yp"] never "copy the JSONPath of this line";
    Body Overlay WithOutput "with-output" ["i"] result "in a result: write a rule: another tool needs a result with this value";
    Body Overlay Fold "fold" ["Space"] never "fold or unfold the value on this line";
    Body Overlay FoldAll "fold-all" ["zM"] never "fold everything below the first level";
    Body Overlay UnfoldAll "unfold-all" ["zR"] never "unfold everything";
    Body Overlay NextBody "next-body" ["]b"] never "whole text of the next row";
    Body Overlay PreviousBody "previous-body" ["[b"] never "whole text of the previous row";
    Texts Overlay NextHunk "next-edit" ["]c"] never "next edit of the policy text";
    Texts Overlay PreviousHunk "previous-edit" ["[c"] never "previous edit of the policy text";
    Survey Overlay NextTab "next-tab" ["t" "Tab"] never "next list (in `O`: the rules, or the tools that no rule covers)";
    Survey Overlay PreviousTab "previous-tab" ["Shift-Tab"] never "previous list";
    Survey Overlay FirstCall "first-call" ["o"] never "go to the first call or session counted in this row";
    Survey Overlay SortRows "sort-rows" ["S"] never "sort by the next column; after the last column by name";
    Findings Overlay GroupBy "group-by" ["t"] never "next grouping of the findings: session, rule, tool, code, reason";
}

/// The meaning of the keys pressed so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// This command.
    Command(Command),
    /// This command, with the letter that was pressed last.
    Letter(Command, char),
    /// The start of these: the keys still to press, and the command.
    Prefix(Vec<(String, Command)>),
    /// Nothing.
    Nothing,
}

impl Command {
    /// Its row of the table.
    #[expect(clippy::indexing_slicing, reason = "one macro makes the commands and, in their order, the rows")]
    pub fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }
}

impl Scope {
    /// Whether its keys are active while `scope` has the keys.
    pub fn has_keys_in(self, scope: Scope) -> bool {
        self == scope || self == Scope::All || (self, scope) == (Scope::Panes, Scope::Policy)
    }
}

impl Row {
    /// Why it cannot be used just now where `scope` has the keys, if so.
    pub fn missing_in(&self, scope: Scope, facts: &Facts) -> Option<&'static str> {
        if self.scope.has_keys_in(scope) {
            return (self.missing)(facts);
        }
        Some(match self.scope {
            Scope::All | Scope::Panes => "close the popup first",
            Scope::Policy => "only in the pane of the policy's text (`7`)",
            Scope::Body => "only while a whole body is shown",
            Scope::Findings => "only in the list of findings",
            Scope::Help => "only in a list of commands",
            Scope::Texts => "only beside the texts of two versions",
            Scope::Survey => "only in the list of rules or the inventory",
        })
    }
}

/// Numbers typed before keys: an example, and its effect.
pub const COUNTS: &[(&str, &str)] = &[
    ("3]f", "a number before keys (not `j`, `k`) repeats them: the third stop"),
    ("12j", "12 calls down. Before `j` and `k` one digit is a pane: for 3 type `03j`"),
    ("2gg", "go to call number 2 (in a list: row 2); `2G` does the same"),
];

/// The heading of [`COUNTS`].
pub const COUNTED: &str = "Counts";

/// The commands that are active while `scope` has the keys, in the order of the table.
#[cfg(test)]
pub fn in_scope(scope: Scope) -> impl Iterator<Item = &'static Row> {
    TABLE.iter().filter(move |row| row.scope == scope || row.scope == Scope::All)
}

/// The heading of a row: the pane or popup where its keys are active, if it is only one, else its group.
pub const fn heading(row: &Row) -> &'static str {
    match (row.scope, row.group) {
        (Scope::Policy, _) => "Policy pane",
        (Scope::Body, _) => "Message or call",
        (Scope::Texts, _) => "Policy diff",
        (Scope::Survey, _) => "Rules, inventory",
        (Scope::Findings, _) => "Findings",
        (_, Group::Move) => "Move",
        (_, Group::Jump) => "Jump",
        (_, Group::Look) => "Look",
        (_, Group::Do) => "Do",
        (_, Group::Overlay) => "Popups",
    }
}

/// The commands that open what a heading is about.
const fn openers(scope: Scope) -> &'static [Command] {
    match scope {
        Scope::Policy => &[Command::PanePolicy],
        Scope::Body => &[Command::Body],
        Scope::Texts => &[Command::Texts],
        Scope::Survey => &[Command::Overview, Command::Inventory],
        Scope::Findings => &[Command::Findings],
        Scope::All | Scope::Panes | Scope::Help => &[],
    }
}

/// The table as Markdown, for the README.
pub fn markdown() -> String {
    let mut text = String::from("| keys | does |\n|---|---|\n");
    let mut group = None;
    for row in TABLE {
        if group != Some(heading(row)) {
            if group == Some("Move") {
                let _ = writeln!(text, "| **{COUNTED}** | |");
                for (keys, doc) in COUNTS {
                    let _ = writeln!(text, "| `{keys}` | {doc} |");
                }
            }
            group = Some(heading(row));
            let keys = openers(row.scope).iter().flat_map(|command| command.row().keys.first());
            let keys: Vec<String> = keys.map(|key| format!("`{key}`")).collect();
            let keys = if keys.is_empty() { String::new() } else { format!(" ({})", keys.join(", ")) };
            let _ = writeln!(text, "| **{}**{keys} | |", heading(row));
        }
        let mut keys: Vec<String> = row.keys.iter().map(|key| format!("`{key}`")).collect();
        if let (Some(argument), true) = (row.argument, keys.is_empty()) {
            keys.push(format!("`:{} {}`", row.name, argument.word()));
        }
        let _ = writeln!(text, "| {} | {} |", keys.join(", "), row.doc);
    }
    text
}

#[cfg(test)]
mod tests;
