//! Names that are probably typing mistakes: a policy's own tools, compared with each other.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::linter::Linter;
use crate::explore::inventory::words;
use rulestep_base::diagnostic::{Diagnostic, Fix, code};
use rulestep_base::source::quoted;
use rulestep_engine::monitor::{RuleId, Says};

/// How the rules of a version use a name.
#[derive(Default)]
struct Use {
    rules: BTreeSet<RuleId>,
    /// Whether some rule needs calls of it, and none is about it.
    only_required: bool,
}

/// Finds names that only one rule has and that are nearly a name which others have.
pub fn lint(linter: &mut Linter<'_>, out: &mut Vec<Diagnostic>) {
    let uses = uses(linter);
    let mut alike: HashMap<String, Vec<&Arc<str>>> = HashMap::new();
    for name in uses.keys() {
        left_alone(name).into_iter().for_each(|key| alike.entry(key).or_default().push(name));
    }
    for (name, own) in &uses {
        let [rule] = own.rules.iter().copied().collect::<Vec<_>>()[..] else { continue };
        let near: BTreeSet<&Arc<str>> =
            left_alone(name).iter().filter_map(|key| alike.get(key)).flatten().copied().collect();
        let known = near.into_iter().filter_map(|other| uses.get_key_value(other)).filter(|(other, used)| {
            let firmer = if own.only_required { !used.only_required } else { false };
            let others = used.rules.iter().filter(|other| **other != rule).count();
            // Of two names that differ only by case and signs, each in one rule, the later one is the slip.
            let later = own.only_required
                && used.only_required
                && used.rules.last().is_some_and(|other| *other < rule)
                && spelt_alike(name, other);
            (others > 1 || ((firmer || later) && others > 0)) && is_slip(name, other)
        });
        let Some((meant, used)) = known.max_by_key(|(_, used)| used.rules.len()) else { continue };
        let Some(written) = linter.policy.rules().get(rule) else { continue };
        // Names that are not in the text, like the usual read tools, are not misspelt.
        let Some(span) = linter.places.of(written, name) else { continue };
        let count = used.rules.len();
        let rules = if count == 1 { "one rule has".to_owned() } else { format!("{count} rules have") };
        let message = format!("only this rule has the tool {}; {rules} {}", quoted(name), quoted(meant));
        let title = format!("write {}", quoted(meant));
        let fix = Fix::rewrite(&written.source, span, &(***meant).into(), title);
        let told = Diagnostic::warning(code::MISSPELT_TOOL, message).at(&written.source, span);
        out.push(told.help(format!("did you mean {}?", quoted(meant))).fix(fix));
    }
}

fn uses<'p>(linter: &Linter<'p>) -> BTreeMap<&'p Arc<str>, Use> {
    let names = linter.policy.names();
    let known =
        |name: &str| names.binary_search_by(|known| (**known).cmp(name)).ok().and_then(|at| names.get(at));
    let mut uses: BTreeMap<&Arc<str>, Use> = BTreeMap::new();
    let mut required: BTreeSet<(&str, RuleId)> = BTreeSet::new();
    for statement in linter.statements {
        let (needed, about): (&[Arc<str>], Option<&Arc<str>>) = match &statement.says {
            Says::Needs { tool, any_of, .. } => (any_of, Some(tool)),
            Says::Must(any_of) => (any_of, None),
            Says::Follows { after, any_of, .. } => (any_of, Some(after)),
            Says::Forbids { after, tool } => {
                for name in [after, tool].into_iter().filter_map(|name| known(name)) {
                    uses.entry(name).or_default().rules.insert(statement.rule);
                }
                continue;
            }
            Says::Never(_) | Says::Apart(..) | Says::Exactly(_) | Says::Nothing => continue,
        };
        for name in needed.iter().chain(about).filter_map(|name| known(name)) {
            uses.entry(name).or_default().rules.insert(statement.rule);
        }
        required.extend(needed.iter().filter_map(|name| known(name)).map(|name| (&**name, statement.rule)));
        if let Some(about) = about {
            required.remove(&(&**about, statement.rule));
        }
    }
    for (id, rule) in linter.policy.rules().iter() {
        for name in rule.tools.iter().chain(&rule.tool).filter_map(|name| known(name)) {
            uses.entry(name).or_default().rules.insert(id);
        }
    }
    for (name, used) in &mut uses {
        used.only_required = used.rules.iter().all(|rule| required.contains(&(&***name, *rule)));
    }
    uses
}

/// Parts of a name that a slip leaves unchanged: two names of which one is a slip of the other have one of these in
/// common. So a name is compared with few others, however many there are.
fn left_alone(name: &str) -> Vec<String> {
    if name.len() > LONGEST {
        return Vec::new();
    }
    let words = words(name);
    let without = |at: usize| {
        let word = |(own, word): (usize, &String)| match own == at {
            true => word
                .chars()
                .enumerate()
                .filter(|(at, c)| *at == 0 || c.is_ascii_digit())
                .map(|(_, c)| c)
                .chain(['?'])
                .collect(),
            false => word.clone(),
        };
        words.iter().enumerate().map(word).collect::<Vec<String>>().join(" ")
    };
    (0..words.len()).map(without).chain([words.concat()]).collect()
}

/// Names that are longer are not compared.
const LONGEST: usize = 80;

/// Whether one name is probably the other one with a slip: the same except for case and signs, or one word of it with a
/// letter too many, missing, exchanged or wrong. Names that differ as real tools do (`get_order` and `get_orders`,
/// `lock` and `unlock`, `step_1` and `step_2`) are not slips.
fn is_slip(name: &str, other: &str) -> bool {
    if name == other || name.len() > LONGEST || other.len() > LONGEST {
        return false;
    }
    if spelt_alike(name, other) {
        return true;
    }
    let (own, others) = (words(name), words(other));
    if own.len() != others.len() {
        return false;
    }
    let mut different = own.iter().zip(&others).filter(|(own, other)| own != other);
    match (different.next(), different.next()) {
        (Some((own, other)), None) => is_slip_of_word(own, other),
        _ => false,
    }
}

/// Whether two names are the same but for case and signs.
fn spelt_alike(name: &str, other: &str) -> bool {
    words(name).concat() == words(other).concat()
}

fn is_slip_of_word(word: &str, other: &str) -> bool {
    const ENDINGS: [&str; 8] = ["s", "es", "d", "ed", "r", "er", "ing", "y"];
    let (long, short) = if word.len() >= other.len() { (word, other) } else { (other, word) };
    let letters = long.chars().count();
    let digits = |word: &str| word.chars().filter(char::is_ascii_digit).collect::<String>();
    if digits(word) != digits(other) || word.chars().next() != other.chars().next() {
        return false;
    }
    // `books` is a word like `book`, `refundd` is not one like `refund`.
    let is_ending = |ending: &str| {
        ENDINGS.contains(&ending) && (ending != "y" || letters < 6) && !short.ends_with(ending)
    };
    if long.strip_prefix(short).is_some_and(is_ending) {
        return false;
    }
    let same_length = word.chars().count() == other.chars().count();
    match strsim::damerau_levenshtein(word, other) {
        // Two letters exchanged are a slip in any word; another letter makes a word of a short word.
        1 if same_length => letters >= 6 || is_exchanged(word, other),
        1 => letters >= 4,
        2 => letters >= 8,
        _ => false,
    }
}

fn is_exchanged(word: &str, other: &str) -> bool {
    let (mut own, mut others): (Vec<char>, Vec<char>) = (word.chars().collect(), other.chars().collect());
    own.sort_unstable();
    others.sort_unstable();
    own == others
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn slips_share_what_they_leave_alone(name in "[a-cA-C1_ ßİ]{0,6}[a-z]{0,4}", other in "[a-cA-C1_ ßİ]{0,6}[a-z]{0,4}") {
            if is_slip(&name, &other) {
                let others = left_alone(&other);
                prop_assert!(left_alone(&name).iter().any(|key| others.contains(key)));
            }
        }
    }

    #[test]
    fn slips_are_told_from_other_tools() {
        for (name, other) in [
            ("check_eligibilty", "check_eligibility"),
            ("check_eligibilit", "check_eligibility"),
            ("chekc_eligibility", "check_eligibility"),
            ("lnt", "lint"),
            ("tets", "test"),
            ("VerifyIdentiy", "VerifyIdentity"),
            ("verify-identity", "verify_identity"),
            ("verifyIdentity", "verify_identity"),
            ("process_refundd", "process_refund"),
            ("get_custommer", "get_customer"),
        ] {
            assert!(is_slip(name, other) && is_slip(other, name), "{name} {other}");
            let (own, others) = (left_alone(name), left_alone(other));
            assert!(own.iter().any(|key| others.contains(key)), "{own:?} {others:?}");
        }
        for (name, other) in [
            ("get_order", "get_orders"),
            ("lock_account", "unlock_account"),
            ("step_1", "step_2"),
            ("set_limit", "get_limit"),
            ("create_card", "create_cart"),
            ("import_data", "export_data"),
            ("increase_limit", "decrease_limit"),
            ("read_file", "write_file"),
            ("a", "b"),
            ("deploy", "deploy_v2"),
            ("book_flight", "book_hotel"),
            ("approve", "approved"),
            ("same", "same"),
        ] {
            assert!(!is_slip(name, other) && !is_slip(other, name), "{name} {other}");
        }
    }
}
