//! The text of a page, split into headings, items and entries.

/// The entry of a key.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// The key.
    pub name: &'static str,
    /// Its type, in words.
    pub form: String,
    /// Whether it may be missing.
    pub presence: Presence,
    /// Its meaning.
    pub meaning: String,
}

/// Whether a key may be missing.
#[derive(Clone, Debug, PartialEq)]
pub enum Presence {
    /// It must be present.
    Required,
    /// It may be missing, and then has no effect.
    Optional,
    /// It may be missing, and then has this value.
    Default(String),
}

/// The values of a key, if they can be listed.
#[derive(Clone, Debug, PartialEq)]
pub enum Values<'k> {
    /// These words.
    Words(Vec<&'k str>),
    /// Names of tools.
    Tools,
    /// JSONPaths.
    Paths,
    /// Anything else.
    Other,
}

impl Key {
    /// The values that can be listed.
    pub fn values(&self) -> Values<'_> {
        let (words, between): (Vec<_>, Vec<_>) =
            self.form.split('`').enumerate().partition(|(place, _)| place % 2 == 1);
        if !words.is_empty() && between.iter().all(|(_, text)| matches!(text.trim(), "" | "," | "or")) {
            return Values::Words(words.into_iter().map(|(_, word)| word).collect());
        }
        match &self.form {
            form if form.contains("tool name") => Values::Tools,
            form if form.contains("JSONPath") => Values::Paths,
            _ => Values::Other,
        }
    }
}

impl std::fmt::Display for Presence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Presence::Required => f.write_str("required"),
            Presence::Optional => f.write_str("optional"),
            Presence::Default(default) => write!(f, "default {default}"),
        }
    }
}

/// The parts of a page: where the text begins, the heading, the text.
pub(super) fn parts(page: &'static str) -> impl Iterator<Item = (usize, &'static str, &'static str)> {
    let mut at = page.find("\n# ").unwrap_or(page.len());
    page.split("\n# ").skip(1).map(move |part| {
        let start = at;
        at += part.len() + 3;
        let (heading, body) = part.split_once('\n').unwrap_or((part, ""));
        (start, heading, body)
    })
}

/// The items of a list whose first words are keys, each as one line.
pub(super) fn items(body: &'static str) -> Vec<(Vec<&'static str>, String)> {
    let mut items: Vec<(Vec<&str>, String)> = Vec::new();
    let mut open = false;
    for line in body.lines() {
        if let Some(item) = line.strip_prefix("- `") {
            let Some((keys, text)) = item.split_once("`:") else {
                // The names of an item may need more than a line.
                open = item.ends_with(',');
                items.extend(open.then(|| {
                    (item.split("`, `").map(|key| key.trim_end_matches("`,")).collect(), String::new())
                }));
                continue;
            };
            items.push((keys.split("`, `").collect(), text.trim().to_owned()));
            open = true;
        } else if let (true, Some(more), Some((keys, text))) =
            (open, line.strip_prefix("  "), items.last_mut())
        {
            match more.split_once("`:").filter(|_| text.is_empty()) {
                Some((names, rest)) => {
                    keys.extend(names.trim_start_matches('`').split("`, `"));
                    text.push_str(rest.trim());
                }
                None => {
                    text.push(' ');
                    text.push_str(more.trim());
                }
            }
        } else {
            open = false;
        }
    }
    items
}

/// The entry of each key of an item: `TYPE, PRESENCE. MEANING`.
pub(super) fn entries(names: &[&'static str], text: &str) -> Vec<Key> {
    let (form, meaning) = text.split_once(". ").unwrap_or((text, ""));
    let form = form.trim_end_matches('.');
    let (form, presence) = [", required", ", optional", ", default "]
        .into_iter()
        .find_map(|word| form.split_once(word).map(|(form, rest)| (form, word, rest)))
        .map_or((form, Presence::Optional), |(form, word, rest)| match word {
            ", required" => (form, Presence::Required),
            ", optional" => (form, Presence::Optional),
            _ => (form, Presence::Default(rest.to_owned())),
        });
    let key = |name: &&'static str| Key {
        name,
        form: form.to_owned(),
        presence: presence.clone(),
        meaning: meaning.to_owned(),
    };
    names.iter().map(key).collect()
}
