//! Letter case of JavaScript's `i` flag without the u flag: two units are the same if their upper case is, except that
//! a unit whose upper case is not one unit stays itself, and nothing outside ASCII equals ASCII (so `ſ` is not `s` and
//! the Kelvin sign is not `k`). Surrogates have no case, so astral letters have none.

use std::sync::OnceLock;

use super::set::Set;

/// Units whose canonical form is another unit, and their classes.
struct Folds {
    /// (unit, canonical form), by unit; only if they differ.
    canonical: Vec<(u16, u16)>,
    /// (canonical form, member), sorted; only classes of several members.
    classes: Vec<(u16, u16)>,
}

/// The representative of a unit's case class.
pub(super) fn canonical(unit: u16) -> u16 {
    if unit < 128 {
        return u8::try_from(unit).map_or(unit, |byte| u16::from(byte.to_ascii_uppercase()));
    }
    let table = &folds().canonical;
    let at = table.binary_search_by_key(&unit, |&(from, _)| from);
    at.ok().and_then(|at| table.get(at)).map_or(unit, |&(_, to)| to)
}

/// All units that are the same as this one, itself included.
pub(super) fn equivalents(unit: u16) -> Vec<(u16, u16)> {
    let (canonical, classes) = (canonical(unit), &folds().classes);
    let from = classes.partition_point(|&(class, _)| class < canonical);
    let members = classes.iter().skip(from).take_while(|&&(class, _)| class == canonical);
    let mut ranges: Vec<_> = members.map(|&(_, member)| (member, member)).collect();
    if ranges.is_empty() {
        ranges.push((unit, unit));
    }
    ranges
}

/// The set with everything that is the same as one of its members.
pub(super) fn close(set: &Set) -> Set {
    let classes = &folds().classes;
    let mut ranges = set.ranges().to_vec();
    for class in classes.chunk_by(|a, b| a.0 == b.0) {
        if class.iter().any(|&(_, member)| set.contains(member)) {
            ranges.extend(class.iter().map(|&(_, member)| (member, member)));
        }
    }
    Set::new(ranges)
}

fn folds() -> &'static Folds {
    static FOLDS: OnceLock<Folds> = OnceLock::new();
    FOLDS.get_or_init(|| {
        let canonical: Vec<(u16, u16)> =
            (0..=u16::MAX).map(|unit| (unit, upper(unit))).filter(|(from, to)| from != to).collect();
        let mut classes: Vec<(u16, u16)> =
            canonical.iter().flat_map(|&(unit, to)| [(to, unit), (to, to)]).collect();
        classes.sort_unstable();
        classes.dedup();
        Folds { canonical, classes }
    })
}

/// Upper case by Unicode's full mapping, if that is one unit and does not lead into ASCII.
fn upper(unit: u16) -> u16 {
    let Some(letter) = char::from_u32(u32::from(unit)) else { return unit };
    let mut letters = letter.to_uppercase();
    let (Some(first), None) = (letters.next(), letters.next()) else { return unit };
    match u16::try_from(u32::from(first)) {
        Ok(mapped) if unit < 128 || mapped >= 128 => mapped,
        _ => unit,
    }
}

#[cfg(test)]
mod tests {
    use super::{canonical, close, equivalents};
    use crate::js_regex::set::Set;

    fn letters(of: char) -> String {
        let ranges = equivalents(of as u16);
        let units: Vec<u16> = ranges.into_iter().flat_map(|(low, high)| low..=high).collect();
        String::from_utf16(&units).unwrap()
    }

    #[test]
    fn classes_are_those_of_upper_case() {
        assert_eq!(letters('k'), "Kk");
        assert_eq!(letters('\u{212a}'), "\u{212a}");
        assert_eq!(letters('s'), "Ss");
        assert_eq!(letters('ſ'), "ſ");
        assert_eq!(letters('ß'), "ß");
        assert_eq!(letters('σ'), "Σςσ");
        assert_eq!(letters('µ'), "µΜμ");
        assert_eq!(letters('ǆ'), "ǄǅǆǄ".chars().take(3).collect::<String>());
        assert_eq!(letters('-'), "-");
    }

    #[test]
    fn a_form_that_stands_for_a_class_stands_for_itself() {
        for unit in 0..=u16::MAX {
            assert_eq!(canonical(canonical(unit)), canonical(unit), "{unit:04x}");
        }
    }

    #[test]
    fn sets_are_closed() {
        let set = close(&Set::new(vec![(0x61, 0x63), (0x3C3, 0x3C3)]));
        assert_eq!(set.ranges(), [(0x41, 0x43), (0x61, 0x63), (0x3A3, 0x3A3), (0x3C2, 0x3C3)]);
        assert_eq!(close(&set), set);
    }
}
