//! Recognises secrets: forms in which services issue keys, words that name one, and words that look random.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex, RegexSet};

/// Keys and tokens by the form in which they are issued; if there is a group `secret`, only that is one.
const FORMS: [&str; 19] = [
    r"\b(?:sk|pk|rk|whsec)[-_][A-Za-z0-9_-]{16,}",
    r"\bgh[pousr]_[A-Za-z0-9]{16,}",
    r"\bgithub_pat_\w{16,}",
    r"\bgl(?:pat|rt|dt|ptt|soat)-[\w.-]{16,}",
    r"\bxox[a-z]-[\w-]{8,}|\bxapp-[\w-]{8,}",
    r"\b(?:AKIA|ASIA|AROA|ABIA|ACCA)[A-Z0-9]{12,}",
    r"\bAIza[\w-]{24,}|\bya29\.[\w.-]{8,}",
    r"\beyJ[\w-]{8,}(?:\.[\w-]*)*",
    r"\b(?:npm|hf|dckr_pat|dop_v1|doo_v1|sbp|lin_api|shpat|shpca|shppa|shpss|pat|figd|ATATT)_?[A-Za-z0-9_-]{24,}",
    r"\bpypi-[\w-]{16,}",
    r"\bSG\.[\w-]{8,}\.[\w-]{8,}",
    r"hooks\.slack\.com/(?P<secret>(?:services|workflows|triggers)/[\w/]+)",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?P<secret>[\s\S]*?)(?:-----END|\z)",
    // The part of an address before the host.
    r"[A-Za-z][\w+.-]*://(?P<secret>[^\s/@'\x22]+)@",
    r"(?i)\b(?:bearer|basic|negotiate|digest)\s+(?P<secret>[\w+/=.~-]{8,})",
    // A name that says so, and its value.
    r"(?i)(?:secret|token|passw(?:or)?d|passwd|pwd|passphrase|credential|api[_-]?key|access[_-]?key|private[_-]?key|auth(?:orization)?|signature|cookie)s?[\w-]*\\?['\x22]?\s*[=:]\s*\\?['\x22]?(?P<secret>[^\s'\x22`$;&|<>(){}\\,]{3,})",
    r"(?i)--?(?:secret|token|passw(?:or)?d|pass|pwd|passphrase|api[_-]?key|access[_-]?key|private[_-]?key|auth|user|proxy-user)[ =]['\x22]?(?P<secret>[^\s'\x22`$;&|<>(){}\\-][^\s'\x22`$;&|<>(){}\\]{2,})",
    r"\b(?:mysql|mariadb|sshpass)[\w-]*\s(?:[^|;&\n]*\s)?-p(?P<secret>[^\s'\x22`$;&|<>(){}\\]+)",
    r"\b(?:\d[ -]?){12,18}\d\b",
];

/// Words of letters and digits that may be random.
const WORD: &str = r"[A-Za-z0-9+/_=-]{16,}";

/// Bits for each character from which a word is taken for random.
const RANDOM: f64 = 3.0;

struct Forms {
    any: RegexSet,
    each: Vec<Regex>,
    word: Regex,
}

static COMPILED: LazyLock<Option<Forms>> = LazyLock::new(|| {
    let each: Result<Vec<Regex>, _> = FORMS.iter().map(|form| Regex::new(form)).collect();
    Some(Forms { any: RegexSet::new(FORMS).ok()?, each: each.ok()?, word: Regex::new(WORD).ok()? })
});

/// The parts of a text that look like secrets, in order of their beginnings. They may overlap.
#[must_use]
pub fn secrets(text: &str) -> Vec<Range<usize>> {
    // The forms are tested to compile. If they did not, nothing could be shown.
    let Some(forms) = &*COMPILED else { return std::iter::once(0..text.len()).collect() };
    let secret = |found: Captures<'_>| found.name("secret").or_else(|| found.get(0)).map(|part| part.range());
    let by_form = forms.any.matches(text).into_iter().filter_map(|number| forms.each.get(number));
    let mut all: Vec<Range<usize>> =
        by_form.flat_map(|form| form.captures_iter(text).filter_map(secret)).collect();
    let random = forms.word.find_iter(text).filter(|word| is_random(word.as_str()));
    all.extend(random.map(|word| word.range()));
    all.sort_by_key(|part| (part.start, part.end));
    all
}

/// Whether a word looks random: letters and digits that no person would choose. The folders of a path, and the parts of
/// a name, are looked at one by one: together they have many letters and prove nothing.
fn is_random(word: &str) -> bool {
    let of_key = matches!(word.len(), 40 | 64) && mixed(word) && turns(word) >= 6;
    of_key
        || word
            .split(['/', '_', '-', '=', '+'])
            .any(|part| part.len() >= 16 && turns(part) >= 3 && bits(part) > RANDOM)
}

/// The number of changes between letters and digits.
fn turns(word: &str) -> usize {
    let turns = |pair: &&[u8]| match pair {
        [one, other] => one.is_ascii_digit() != other.is_ascii_digit(),
        _ => false,
    };
    word.as_bytes().windows(2).filter(turns).count()
}

fn mixed(word: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| word.as_bytes().iter().any(kind);
    has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase)
}

/// The entropy of a word, in bits for each character.
fn bits(word: &str) -> f64 {
    let mut counts = [0_u32; 256];
    word.bytes().for_each(|byte| {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    });
    let all = word.len() as f64;
    let share = |count: &u32| f64::from(*count) / all;
    counts.iter().filter(|count| **count > 0).map(share).map(|share| -share * share.log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        secrets(text).into_iter().map(|part| &text[part]).collect()
    }

    #[test]
    fn keys_are_known_by_form_by_name_and_by_chance() {
        // Each is assembled here, so that no scanner takes this file for a leak.
        let letters = "Q7wE4rT9yU2iO5pA8sD3";
        let cases = [
            format!("sk-{letters}"),
            format!("ghp_{letters}"),
            format!("github_pat_{letters}"),
            format!("glpat-{letters}"),
            format!("xoxb-1234-{letters}"),
            format!("AKIA{}", "Q7WE4RT9YU2IO5PA"),
            format!("eyJ{letters}.{letters}.x"),
            letters.to_owned(),
            "9f86d081884c7d659a2feaa0c55ad015".to_owned(),
        ];
        for secret in cases {
            let text = format!("echo {secret} | cat");
            assert!(found(&text).iter().any(|part| *part == secret), "{secret}: {:?}", found(&text));
        }
        for (text, secret) in [
            ("PGPASSWORD=hunter2 psql", "hunter2"),
            ("curl -H 'Authorization: hunter2' x", "hunter2"),
            ("mysql --password hunter2", "hunter2"),
            ("mysql -h db -phunter2 shop", "hunter2"),
            ("curl --user me:hunter2 x", "me:hunter2"),
            ("git clone https://me:hunter2@example.com/x", "me:hunter2"),
            (r#"-d "{\"password\": \"hunter2\"}""#, "hunter2"),
            ("pay 4111 1111 1111 1111 now", "4111 1111 1111 1111"),
        ] {
            assert!(found(text).contains(&secret), "{text}: {:?}", found(text));
        }
    }

    #[test]
    fn what_people_write_is_none() {
        for text in [
            "cargo test --workspace --all-features",
            "cat /Users/me/Dev/shop/src/agent-workflows-monorepo-v2/apps/app2/src/client/pages/NewSession3Button.tsx",
            "rm -rf node_modules/@types/jest-environment-jsdom",
            "cat src/dialect/sequence_rules/commands/until.rs",
            "git -C /srv/repository commit -m 'Say what changed'",
            "kubectl get pods --namespace production-eu-west-1",
            "pytest tests/test_authentication_middleware.py::TestRefresh",
        ] {
            assert_eq!(found(text), Vec::<&str>::new(), "{text}");
        }
    }
}
