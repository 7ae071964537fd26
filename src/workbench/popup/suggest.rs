//! Suggested rules; below the one under the cursor its text and its effect. Then the changed file.

pub mod acts;
mod look;

use super::spec::{Popup, Preview, acts};
use crate::report::words;
use crate::suggest::Suggestion;
use crate::workbench::line::place;
use crate::workbench::model::Model;
use crate::workbench::model::select::Editable;
use crate::workbench::model::suggest::{DraftView, SuggestView, SuggestedRule};
use crate::workbench::paint::Row;
use crate::workbench::rows::{Hint, Rows, Space, hints};
use crate::workbench::theme::{Glyph, Role};
use rulestep_base::session::CallRef;

/// Calls that are listed of those that a rule would stop, and lines of the rule.
const CALLS: usize = 4;
const LINES: usize = 9;

impl SuggestedRule {
    /// Its effect on the recorded calls, in a sentence.
    pub fn effect(&self) -> String {
        let against = self.proposal.suggestion.against;
        if against == 0 {
            let sessions = words::count(self.proposal.suggestion.sessions, "session");
            return format!("stops no recorded call; {sessions} could have broken it");
        }
        let newly = match self.newly as u64 {
            newly if self.proposal.broken.len() as u64 == against => {
                format!("{} of them allowed now", words::thousands(newly))
            }
            newly => format!(
                "of the first {}, {} are allowed now",
                self.proposal.broken.len(),
                words::thousands(newly)
            ),
        };
        let this = if self.stops_this { ", this one among them" } else { "" };
        format!("stops {}{this}; {newly}", words::count(against, "recorded call"))
    }

    /// The calls that it would stop, those first that are allowed now, in at most this many rows.
    pub fn broken<'m>(
        &self,
        view: &SuggestView,
        model: &'m Model,
        width: usize,
        rows: usize,
    ) -> Vec<Row<'m>> {
        let broken = &self.proposal.broken;
        let shown = if broken.len() > rows { rows.saturating_sub(1) } else { rows };
        let one = |(at, (session, call)): (usize, &(usize, CallRef))| {
            let session = view.wish.sessions.get(*session)?;
            let mut line = Row::new(&model.theme, width);
            match at < self.newly {
                true => line.gap(1).glyph(Role::VerdictDeny, Glyph::Deny).gap(1),
                false => line.gap(1).glyph(Role::TextDim, Glyph::None).gap(1),
            };
            line.put(Role::Text, &place(*call)).gap(1);
            let title = session.title.as_deref().unwrap_or(&session.id);
            let room = line.left() / 2;
            line.put_at_most(Role::TextDim, title, room).gap(2);
            // There are at most as many of them as fit on a screen.
            let content = session.session().ok();
            if let Some(call) = content.as_ref().and_then(|content| content.calls.get(call.index as usize)) {
                line.put(Role::Text, call.arguments.raw());
            }
            Some(line)
        };
        let mut lines: Vec<Row<'m>> = broken.iter().enumerate().take(shown).filter_map(one).collect();
        if let Some(more) = broken.len().checked_sub(shown).filter(|more| *more > 0) {
            let mut line = Row::new(&model.theme, width);
            line.gap(3).put(Role::TextDim, &format!("and {} more", words::thousands(more as u64)));
            lines.push(line);
        }
        lines
    }

    fn below<'m>(&self, view: &SuggestView, model: &'m Model, space: &Space<'_>) -> Vec<Row<'m>> {
        let row = || {
            let mut row = space.columns(model);
            row.gap(5);
            row
        };
        let mut rows = Vec::new();
        let mut effect = row();
        let (role, glyph) = match self.proposal.suggestion.against {
            0 => (Role::VerdictAllow, Glyph::Allow),
            _ => (Role::VerdictDeny, Glyph::Deny),
        };
        effect.glyph(role, glyph).gap(1).put(Role::Text, &self.effect());
        rows.push(effect);
        // With enough room, they are below the list.
        if model.layout().preview.is_none() {
            let calls = self.broken(view, model, space.width.saturating_sub(5), CALLS + 1);
            rows.extend(calls.into_iter().map(|call| {
                let mut line = row();
                line.append(call);
                line
            }));
        }
        match &self.insertion {
            Ok(insertion) => {
                let mut file = row();
                let new = if insertion.before.is_none() { "new file " } else { "" };
                let lines = self.new_lines();
                let first = lines.first().map_or(1, |(number, _)| *number);
                file.put(Role::TextDim, &format!("{new}{}:{first}", insertion.file));
                rows.push(file);
                for (_, text) in lines.iter().take(LINES) {
                    let mut line = row();
                    line.gap(2).put(Role::ChangeNew, text);
                    rows.push(line);
                }
            }
            Err(why) => {
                let mut line = row();
                line.put(Role::StatusProblem, &format!("not to be written: {why}"));
                rows.push(line);
            }
        }
        rows
    }
}

impl Rows for SuggestView {
    fn len(&self, _: &Model) -> usize {
        self.rows.as_ref().map_or(0, Vec::len)
    }

    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>> {
        let Some(rule) = self.rows.as_ref().and_then(|rows| rows.get(at)) else { return Vec::new() };
        let mut row = space.columns(model);
        let (role, glyph) = match rule.proposal.suggestion.against {
            0 => (Role::VerdictAllow, Glyph::Allow),
            _ => (Role::VerdictDeny, Glyph::Deny),
        };
        row.gap(1).glyph(role, glyph).gap(1);
        let Suggestion { calls, against, .. } = rule.proposal.suggestion;
        let support = format!("{} of {}", words::thousands(calls), words::count(calls + against, "call"));
        let room = row.left().saturating_sub(support.len() + 3);
        row.put_at_most(Role::TextStrong, &rule.sentence, room);
        row.to(space.width.saturating_sub(support.len() + 1));
        row.put(Role::TextDim, &support);
        let mut rows = vec![row];
        if at == self.list.cursor {
            rows.extend(rule.below(self, model, space));
        }
        rows
    }

    fn text(&self, _: &Model, at: usize) -> Option<String> {
        let rule = self.rows.as_ref()?.get(at)?;
        Some(format!("{}: {}", rule.sentence, rule.support))
    }

    fn instead(&self, model: &Model) -> Vec<(Role, String)> {
        let sessions = words::count(self.wish.sessions.len() as u64, "session");
        let line = match &self.rows {
            None => format!("looking at {sessions}"),
            Some(_) if self.wish.field.is_some() => {
                format!("in {sessions} no other tool is called after this one, so none could require it")
            }
            Some(_) => format!("{sessions} suggest no rule about this tool"),
        };
        vec![(Role::TextDim, model.preferences.keymap.worded(&line).into_owned())]
    }
}

impl Popup for SuggestView {
    fn title(&self, _: &Model, _: usize) -> String {
        let subject = &self.wish.subject;
        let tool = words::name(&subject.tool);
        if let Some(field) = &self.wish.field {
            return format!(
                "Rules on {} = {} of {tool}",
                words::line(&field.path),
                words::line(&field.value)
            );
        }
        match &subject.earlier {
            Some(earlier) => format!("Rules about {tool} and {}", words::name(earlier)),
            None => format!("Rules about {tool}"),
        }
    }

    fn height(&self, model: &Model, at: usize, space: &Space<'_>) -> usize {
        Rows::rows(self, model, at, space).len()
    }

    fn hints(&self) -> &'static [Hint] {
        hints![Open "see the file with it", Quit "close"]
    }

    acts![Open Do(acts::enter)];

    fn preview(&self) -> Option<&dyn Preview> {
        Some(self)
    }
}

impl Preview for SuggestView {
    fn title(&self) -> &'static str {
        "Stopped by this rule"
    }

    fn note(&self) -> String {
        self.row().map(SuggestedRule::effect).unwrap_or_default()
    }

    fn rows<'m>(&self, model: &'m Model, width: usize, height: usize) -> Vec<Row<'m>> {
        let mut rows = self.row().map(|rule| rule.broken(self, model, width, height)).unwrap_or_default();
        if rows.is_empty() {
            let mut row = Row::new(&model.theme, width);
            row.gap(1).put(Role::TextDim, if self.rows.is_some() { "no recorded call" } else { "looking" });
            rows.push(row);
        }
        rows
    }
}

impl Rows for DraftView {
    fn len(&self, _: &Model) -> usize {
        self.lines.len()
    }

    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>> {
        let mut row = space.row(model);
        if let Some((line, is_new)) = self.lines.get(at) {
            let digits = self.lines.len().to_string().len().max(2);
            row.put(Role::TextDim, &format!("{:>digits$} ", at + 1));
            row.put(if *is_new { Role::ChangeNew } else { Role::TextDim }, if *is_new { "+ " } else { "  " });
            row.put(if *is_new { Role::ChangeNew } else { Role::Text }, line);
        }
        vec![row]
    }

    fn text(&self, _: &Model, at: usize) -> Option<String> {
        self.lines.get(at).map(|(line, _)| line.clone())
    }
}

impl Popup for DraftView {
    fn title(&self, _: &Model, _: usize) -> String {
        let new = if self.insertion.before.is_none() { "new file " } else { "" };
        format!("Not written yet: {new}{}", words::line(&self.insertion.file))
    }

    fn note(&self, _: &Model) -> String {
        self.sentence.clone()
    }

    fn hints(&self) -> &'static [Hint] {
        hints![Open "write it", Edit "edit it first", Quit "back"]
    }

    acts![Open Ask(acts::write), Edit Ask(acts::edit)];

    fn editable(&self, _: &Model) -> Option<Editable> {
        Some(Editable::rule(&self.insertion.file, self.list.cursor as u32 + 1))
    }
}
