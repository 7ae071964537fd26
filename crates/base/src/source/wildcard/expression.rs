//! Names written as regular expressions, or with the `%` of SQL.
//!
//! `slack.*` is not one: it is a glob over names with dots. Only characters that no such glob has make a regular
//! expression.

/// The first character in a name that only a regular expression has.
pub(super) fn sign(name: &str) -> Option<&str> {
    if let Some((begin, _)) = named(name) {
        return Some(begin);
    }
    if slashed(name).is_some() {
        return name.get(..1);
    }
    let mut before = None;
    for (at, letter) in name.char_indices() {
        let rest = name.get(at..).unwrap_or_default();
        // A dot at the beginning, or after one of these, does not separate words of a name.
        let parts_nothing = before.is_none_or(|before| matches!(before, '_' | '-' | ']' | ')'));
        match letter {
            // `App\Tools\Delete` is a class of PHP.
            '\\' if is_escape(rest) => {
                let end = rest.char_indices().nth(2).map_or(rest.len(), |(end, _)| end);
                return rest.get(..end);
            }
            '.' if rest.starts_with(".+") || is_counted(rest) => return rest.get(..2),
            '.' if parts_nothing && (rest.starts_with(".*") || rest.starts_with(".?")) => {
                return rest.get(..2);
            }
            _ => {}
        }
        before = Some(letter);
    }
    let last = name.len().saturating_sub(1);
    // `g++` is a program.
    let repeats = name.ends_with('+') && !name.ends_with("++");
    match name.len() > 1 {
        true if repeats || name.ends_with('%') => name.get(last..),
        true if name.starts_with('%') => name.get(..1),
        _ => None,
    }
}

/// Whether a backslash begins something that only a regular expression has: a class such as `\w`, an anchor, or an
/// escaped character.
fn is_escape(rest: &str) -> bool {
    let mut after = rest.chars().skip(1);
    let next = after.next();
    let ends = after.next().is_none_or(|letter| !letter.is_ascii_alphabetic());
    next.is_none_or(|letter| {
        letter.is_ascii_punctuation()
            || matches!(letter, 'b' | 'd' | 's' | 'w')
            || ends && matches!(letter, 'B' | 'D' | 'S' | 'W')
    })
}

/// `.{3}`.
fn is_counted(rest: &str) -> bool {
    rest.strip_prefix(".{").is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()))
}

/// Whether the parentheses of a name are a group of a regular expression: those of `Bash(git push)` hold words.
pub(super) fn has_group(name: &str) -> bool {
    let begins = ["(.", "(?", "(\\", "(["].iter().any(|group| name.contains(group));
    begins || [")?", ")*", ")+"].iter().any(|group| name.contains(group))
}

/// The common beginning of all intended names, if the expression says nothing else. `sign`: the part of the name that
/// [`sign`] found.
pub(super) fn prefix<'a>(name: &'a str, sign: &str) -> Option<&'a str> {
    let (before, after) = name.split_once(sign)?;
    let any = matches!(after, "" | "*" | "+") && !sign.starts_with("\\b");
    (any && (!before.is_empty() || matches!(sign, ".*" | ".+"))).then_some(before)
}

/// The expression as a glob: `delete_*` for `delete_.+`, `*del*` for `/del/`. `None`: no glob means the same.
pub(super) fn as_glob(name: &str) -> Option<String> {
    let name = name.replace("(.*)", ".*").replace("(.+)", ".+");
    let inner = named(&name).map_or(&*name, |(_, inner)| inner);
    let marked = named(&name).is_some();
    let (inner, anywhere) = slashed(inner).map_or((inner, marked), |inner| (inner, true));
    let (begins, ends) = (inner.starts_with('^'), inner.ends_with('$'));
    let inner = inner.trim_start_matches('^').trim_end_matches('$');
    let mut glob = String::new();
    let mut rest = inner.chars().peekable();
    while let Some(letter) = rest.next() {
        let mut repeated = || rest.next_if(|next| matches!(next, '*' | '+' | '?')).is_some();
        match letter {
            '.' if repeated() => glob.push('*'),
            '\\' => match rest.next()? {
                // A word boundary may be within a name.
                'b' | 'B' => return None,
                letter if letter.is_ascii_alphanumeric() => {
                    let several = rest.next_if(|next| matches!(next, '*' | '+' | '?')).is_some();
                    glob.push(if several { '*' } else { '?' });
                }
                '*' | '?' => return None,
                letter => glob.push(letter),
            },
            '+' if rest.peek().is_none() => glob.push('*'),
            letter => glob.push(letter),
        }
    }
    let glob = match (glob.strip_prefix('%'), anywhere && !begins) {
        (Some(rest), _) => format!("*{rest}"),
        (None, true) => format!("*{glob}"),
        (None, false) => glob,
    };
    let glob = match (glob.strip_suffix('%'), anywhere && !ends) {
        (Some(rest), _) => format!("{rest}*"),
        (None, true) => format!("{glob}*"),
        (None, false) => glob,
    };
    let glob = glob.replace("**", "*");
    let others = ['^', '$', '(', ')', '[', ']', '{', '}', '|', '\\', '+', '%'];
    (!glob.is_empty() && !glob.contains(others)).then_some(glob)
}

/// `re:x`, as some programs mark expressions: the mark, and the rest.
fn named(name: &str) -> Option<(&str, &str)> {
    let (_, inner) = ["re:", "regex:"].iter().find_map(|mark| Some((mark, name.strip_prefix(mark)?)))?;
    (!inner.is_empty()).then_some((name.get(..name.len() - inner.len())?, inner))
}

/// `/x/`, as JavaScript writes an expression: the text between the slashes.
fn slashed(name: &str) -> Option<&str> {
    let (inner, flags) = name.strip_prefix('/')?.rsplit_once('/')?;
    let plain = !inner.is_empty() && !inner.contains('/');
    (plain && matches!(flags, "" | "i" | "g" | "gi" | "ig")).then_some(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_told_from_globs() {
        for (name, expected, glob) in [
            ("delete_.*", ".*", "delete_*"),
            ("delete-.*", ".*", "delete-*"),
            ("rm.+", ".+", "rm*"),
            ("a.+b", ".+", "a*b"),
            ("admin_.?", ".?", "admin_*"),
            (".*_prod", ".*", "*_prod"),
            (".*", ".*", "*"),
            ("drop\\w*", "\\w", "drop*"),
            ("del_\\d", "\\d", "del_?"),
            ("a\\_b", "\\_", "a_b"),
            ("delete_+", "+", "delete_*"),
            ("/del/", "/", "*del*"),
            ("/^del/i", "/", "del*"),
            ("re:^x$", "re:", "x"),
            ("regex:x.*", "regex:", "*x*"),
            ("re:^delete", "re:", "delete*"),
            ("del%", "%", "del*"),
            ("%del%", "%", "*del*"),
            ("del_(.+)", ".+", "del_*"),
        ] {
            assert_eq!(sign(name), Some(expected), "{name}");
            assert_eq!(as_glob(name).as_deref(), Some(glob), "{name}");
        }
        for name in [
            "slack.*",
            "a.b*",
            "*.*",
            "v1.?",
            "get_?",
            "g++",
            "a.b",
            "a/b",
            "/a/b",
            "/a/b/",
            "/",
            "//",
            "%",
            "+",
            "x:y",
            "re:",
            "50%_off",
            "größe",
            "a.{b}",
            "",
            "App\\Tools\\DeleteUser",
        ] {
            assert_eq!(sign(name), None, "{name}");
        }
        assert_eq!(as_glob("re:(a|b)"), None);
        assert_eq!((sign("\\bdel"), as_glob("\\bdel")), (Some("\\b"), None));
        assert!(has_group("delete(_user)?"));
        assert_eq!((sign("a.{3}"), as_glob("a.{3}")), (Some(".{"), None));
        assert!(has_group("del(.*)") && has_group("(?i)del") && !has_group("Bash(git push)"));
        assert_eq!(prefix("drop\\w*", "\\w"), Some("drop"));
        assert_eq!(prefix("a.+b", ".+"), None);
    }
}
