//! Data in a text that the model reads: data that a policy should not give away, and unfilled placeholders.
//!
//! Counts, limits and hours belong in such a text (`Refund limit reached (3/3)`, `24/7`, `wait 5 minutes`). The search
//! is for data: secrets, ids, paths, addresses, placeholders.

/// The kind of data in the text, and the word that holds it.
pub(super) fn find(said: &str) -> Option<(&'static str, &str)> {
    type Look = fn(&str) -> bool;
    const LOOKS: [(&str, Look); 7] = [
        ("a placeholder, which is not filled in", is_placeholder),
        ("a secret key", is_secret),
        ("a URL with a secret in it", is_url_with_secret),
        ("the address of an internal host", is_internal_host),
        ("an email address", is_email),
        ("a path", is_path),
        ("an id", is_id),
    ];
    LOOKS.iter().find_map(|(what, look)| words(said).find(|word| look(word)).map(|word| (*what, word)))
}

/// The words of a text without the signs of its sentences around them.
fn words(said: &str) -> impl Iterator<Item = &str> {
    let around = |sign: char| "()\"'`<>[]".contains(sign);
    said.split_whitespace().map(move |word| {
        word.trim_matches(around).trim_end_matches([',', ';', '.', '!', '?', ':']).trim_matches(around)
    })
}

/// `{max}`, `{{ name }}`, `${ORDER}`, `<%= x %>`, `%s`, `%(name)s`.
fn is_placeholder(word: &str) -> bool {
    word.contains(['{', '}'])
        || word.contains("<%")
        || word.contains("%>")
        || matches!(word, "%s" | "%d" | "%=" | "%")
        || word.starts_with("%(")
}

/// Keys recognised by their providers' prefixes, and `name=value` with the name of a secret.
fn is_secret(word: &str) -> bool {
    const BEGINNINGS: &[&str] = &[
        "sk-",
        "sk_live_",
        "sk_test_",
        "rk_live_",
        "pk_live_",
        "ghp_",
        "gho_",
        "ghs_",
        "github_pat_",
        "glpat-",
        "xoxb-",
        "xoxp-",
        "AKIA",
        "ASIA",
        "AIza",
        "ya29.",
        "eyJ",
        "hf_",
        "npm_",
        "-----BEGIN",
    ];
    const SHORTEST: usize = 12;
    let made = BEGINNINGS.iter().any(|start| word.starts_with(start)) && word.len() >= SHORTEST;
    made || word.starts_with("-----BEGIN") || names_secret(word)
}

/// `password=…`, `api_key:…`, with something that is not a word of a sentence after it.
fn names_secret(word: &str) -> bool {
    const NAMES: &[&str] = &["password", "passwd", "secret", "token", "apikey", "accesskey", "pwd"];
    let Some((name, value)) = word.split_once(['=', ':']) else { return false };
    let name: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    NAMES.iter().any(|secret| name.ends_with(secret)) && !value.trim_matches('*').is_empty()
}

fn is_url_with_secret(word: &str) -> bool {
    let Some((_, rest)) = word.split_once("://") else { return false };
    let (host, tail) = rest.split_once(['/', '?']).unwrap_or((rest, ""));
    let queries = tail.split(['?', '&', '#', ';']);
    host.contains('@') || queries.into_iter().any(|pair| names_secret(pair) || pair.starts_with("sig="))
}

/// Internal hosts: `localhost`, `10.0.3.7`, `db.internal`, in a URL or alone.
fn is_internal_host(word: &str) -> bool {
    let rest = word.split_once("://").map_or(word, |(_, rest)| rest);
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    let host = host.split_once(':').map_or(host, |(host, _)| host).to_ascii_lowercase();
    let parts: Vec<Option<u8>> = host.split('.').map(|part| part.parse().ok()).collect();
    let private = match parts.as_slice() {
        [Some(first), Some(second), Some(_), Some(_)] => {
            matches!((first, second), (10 | 127, _) | (192, 168) | (172, 16..=31) | (169, 254))
        }
        _ => false,
    };
    private
        || host == "localhost"
        || [".internal", ".local", ".corp", ".lan", ".svc"].iter().any(|end| host.ends_with(end))
}

fn is_email(word: &str) -> bool {
    let word = word.strip_prefix("mailto:").unwrap_or(word);
    let Some((user, domain)) = word.split_once('@') else { return false };
    let labels = || domain.split('.');
    !user.is_empty()
        && !word.contains('/')
        && labels().count() > 1
        && labels().all(|label| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-'))
}

/// `/etc/passwd`, `./a`, `~/a`, `src/main.rs`, `a/b-c/d`, `C:\a`; not `and/or`, `24/7`, `/help`, `yes/no/maybe`.
fn is_path(word: &str) -> bool {
    if word.contains("://") {
        return false;
    }
    let drive = word.get(1..3).is_some_and(|sign| sign == ":\\" || sign == ":/");
    let steps: Vec<&str> = word.split(['/', '\\']).filter(|step| !step.is_empty()).collect();
    let letters = word.chars().any(char::is_alphabetic);
    let Some(last) = steps.last().filter(|_| letters && word.contains(['/', '\\'])) else { return false };
    let rooted = word.starts_with('/') && steps.len() > 1;
    let relative = ["./", "../", "~/", ".\\", "..\\"].iter().any(|start| word.starts_with(start));
    let named = last.trim_matches('.').rsplit_once('.').is_some_and(|(_, end)| {
        end.len() <= 5 && end.chars().any(char::is_alphabetic) && end.chars().all(char::is_alphanumeric)
    });
    let joined = steps.len() > 2 && word.contains(['-', '_']);
    drive || rooted || relative || named || joined
}

/// `ORD-20417`, `cus_8fK2m1`, a UUID, a long hash, a long number; not `ISO-8601`, `GPT-4`, `2024-05-01`, `1,000,000`.
fn is_id(word: &str) -> bool {
    const RUN: usize = 5;
    const NUMBER: usize = 8;
    const MIXED: usize = 16;
    let plain = |sign: char| sign.is_ascii_alphanumeric() || sign == '-' || sign == '_';
    if word.is_empty() || !word.trim_start_matches('#').chars().all(plain) {
        return false;
    }
    let digits = |part: &str| part.chars().filter(char::is_ascii_digit).count();
    let letters = word.chars().any(|sign| sign.is_ascii_alphabetic());
    let runs = || word.split(|sign: char| !sign.is_ascii_digit()).map(str::len);
    let longest = runs().max().unwrap_or_default();
    let hashed = word.starts_with('#') && longest >= RUN - 1;
    if !letters {
        return hashed || longest >= NUMBER;
    }
    // `cus_8fK2m1`: a short name, an underscore, and letters and digits by turns.
    let prefixed = word.split_once('_').is_some_and(|(name, rest)| {
        name.len() <= 5
            && rest.len() >= 6
            && digits(rest) > 1
            && digits(rest) < rest.len()
            && !rest.contains('_')
    });
    hashed || longest >= RUN || prefixed || word.len() >= MIXED && digits(word) >= 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_found() {
        let cases = [
            ("Only {max} more.", "a placeholder, which is not filled in", "{max}"),
            ("Order ${ORDER_ID} is closed.", "a placeholder, which is not filled in", "${ORDER_ID}"),
            ("%s is not allowed", "a placeholder, which is not filled in", "%s"),
            ("see /etc/passwd.", "a path", "/etc/passwd"),
            ("`./a`, please", "a path", "./a"),
            ("not src/main.rs, please", "a path", "src/main.rs"),
            (r"not C:\keys", "a path", r"C:\keys"),
            ("under home/my-app/keys", "a path", "home/my-app/keys"),
            ("use sk-proj-9aB3kd82mX instead", "a secret key", "sk-proj-9aB3kd82mX"),
            ("AKIAIOSFODNN7EXAMPLE is revoked", "a secret key", "AKIAIOSFODNN7EXAMPLE"),
            ("try with password=hunter2", "a secret key", "password=hunter2"),
            ("https://bob:pw@example.com/x", "a URL with a secret in it", "https://bob:pw@example.com/x"),
            (
                "https://example.com/x?token=abc",
                "a URL with a secret in it",
                "https://example.com/x?token=abc",
            ),
            (
                "http://10.0.3.7:8080/admin is down",
                "the address of an internal host",
                "http://10.0.3.7:8080/admin",
            ),
            ("ask db.prod.internal", "the address of an internal host", "db.prod.internal"),
            ("Write to jane.doe@example.com.", "an email address", "jane.doe@example.com"),
            ("Refund ORD-20417 first", "an id", "ORD-20417"),
            ("as for (#4471)", "an id", "#4471"),
            ("customer cus_8fK2m1q is blocked", "an id", "cus_8fK2m1q"),
            (
                "3f2b8c1e-77aa-4c0d-9f61-0a1b2c3d4e5f is closed",
                "an id",
                "3f2b8c1e-77aa-4c0d-9f61-0a1b2c3d4e5f",
            ),
            ("account 4000123412341234", "an id", "4000123412341234"),
        ];
        for (said, what, word) in cases {
            assert_eq!(find(said), Some((what, word)), "{said}");
        }
    }

    #[test]
    fn ordinary_sentences_hold_none() {
        for said in [
            "Refund limit reached (3/3). Escalate to a human agent.",
            "at most 3 refunds",
            "Support is open 24/7.",
            "Wait 5 minutes, then try again.",
            "Only 1 of 2 steps is done: 50% left.",
            "Ask again after 2024-05-01 or on 1/6/2025.",
            "No transfers over $1,000,000 or 2500 EUR.",
            "Read and/or write: neither is possible.",
            "Answer yes/no/maybe.",
            "Ask a person / a colleague.",
            "This combination is restricted.",
            "Use the tool list_orders instead, or mcp__github__create_issue.",
            "Dates are ISO-8601, text is UTF-8, the model is GPT-4.",
            "Type /help for more.",
            "See https://example.com/help.html for the rules.",
            "Call process_refund_v2 once.",
            "Mention @support.",
            "A token: ask for it.",
            "",
        ] {
            assert_eq!(find(said), None, "{said}");
        }
    }
}
