//! Commands that end the shell if others have failed, so that what follows shows that those have succeeded.

use std::borrow::Cow;

use brush_parser::ast::{
    AndOr, AndOrList, BraceGroupCommand, Command, CommandPrefixOrSuffixItem, CompoundCommand, CompoundList,
    CompoundListItem, Pipeline, SeparatorOperator,
};

/// Whether a pipeline only ends the shell.
pub fn is_exit(pipeline: &Pipeline) -> bool {
    matches!(pipeline.seq.as_slice(), [Command::Simple(simple)]
        if simple.prefix.is_none() && simple.word_or_name.as_ref().is_some_and(|name| name.value == "exit"))
}

/// Whether the shell exits if a part of the list fails: `a && b || exit 1`, and with `{ …; exit 1; }`.
pub fn bails(list: &AndOrList) -> bool {
    let Some((AndOr::Or(last), others)) = list.additional.split_last() else { return false };
    others.iter().all(|next| matches!(next, AndOr::And(_))) && !last.bang && is_failure(&last.seq)
}

/// Whether a command ends the shell, certainly with an error.
fn is_failure(commands: &[Command]) -> bool {
    match commands {
        [Command::Simple(simple)] => {
            let words = simple.suffix.iter().flat_map(|suffix| &suffix.0);
            let words: Vec<_> = words.collect();
            let status = match words.as_slice() {
                // After a failure, that of what has failed.
                [] => true,
                [CommandPrefixOrSuffixItem::Word(word)] => {
                    word.value.parse::<u8>().is_ok_and(|status| status != 0)
                }
                _ => false,
            };
            status
                && simple.prefix.is_none()
                && simple.word_or_name.as_ref().is_some_and(|name| name.value == "exit")
        }
        [Command::Compound(CompoundCommand::BraceGroup(group), None)] => {
            let items = group.list.0.as_slice();
            // Without a status it is that of the command before.
            let [.., CompoundListItem(last, separator)] = items else { return false };
            let own =
                matches!(last.first.seq.as_slice(), [Command::Simple(simple)] if simple.suffix.is_some());
            !matches!(separator, SeparatorOperator::Async)
                && last.additional.is_empty()
                && !last.first.bang
                && (own || items.len() == 1)
                && is_failure(&last.first.seq)
        }
        _ => false,
    }
}

/// `if ! a; then b; exit 1; fi` as `a || { b; exit 1; }`: both exit if `a` fails, and succeed if it does not.
pub fn as_choice(list: &AndOrList) -> Cow<'_, AndOrList> {
    choice(list).map_or(Cow::Borrowed(list), Cow::Owned)
}

fn choice(list: &AndOrList) -> Option<AndOrList> {
    let [Command::Compound(CompoundCommand::IfClause(clause), None)] = list.first.seq.as_slice() else {
        return None;
    };
    if !list.additional.is_empty() || list.first.bang || clause.elses.is_some() {
        return None;
    }
    // A condition of several lists is decided by the last of them.
    let [CompoundListItem(asked, SeparatorOperator::Sequence)] = clause.condition.0.as_slice() else {
        return None;
    };
    if !asked.additional.is_empty() || !asked.first.bang {
        return None;
    }
    let group = BraceGroupCommand { list: CompoundList(clause.then.0.clone()), loc: clause.loc.clone() };
    let fails = vec![Command::Compound(CompoundCommand::BraceGroup(group), None)];
    // Without a status, `exit` has that of the condition, which is a success.
    if !is_failure(&fails) || ends_plainly(&clause.then) {
        return None;
    }
    let otherwise = Pipeline { timed: None, bang: false, seq: fails };
    let first = Pipeline { bang: false, ..asked.first.clone() };
    Some(AndOrList { first, additional: vec![AndOr::Or(otherwise)] })
}

/// Whether a list ends with an `exit` that names no status.
fn ends_plainly(list: &CompoundList) -> bool {
    list.0.last().is_none_or(|CompoundListItem(last, _)| {
        matches!(last.first.seq.as_slice(), [Command::Simple(simple)] if simple.suffix.is_none())
    })
}

/// Whether a shell with `set -e` may continue after its failure: that of `a && b` in a group ends nothing.
pub fn may_go_on(commands: &[Command]) -> bool {
    commands.last().is_some_and(|command| {
        matches!(command, Command::Compound(compound, _) if !matches!(compound, CompoundCommand::Subshell(_)))
    })
}
