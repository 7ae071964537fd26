//! `did you mean`: the known word that is nearest to a misspelt one.

/// The known word that `word` most probably means, if one is near enough.
pub fn nearest<'w>(word: &str, known: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let folded = fold(word);
    let length = folded.chars().count();
    // Longer words are not misspelt; and the distance costs the product of both lengths.
    if length == 0 || length > 64 {
        return None;
    }
    known
        .into_iter()
        .filter_map(|candidate| {
            let other = fold(candidate);
            let distance = strsim::damerau_levenshtein(&folded, &other);
            let longest = length.max(other.chars().count());
            // One slip in three letters; a word that contains the other (`equal_to` for `equals`) may differ more.
            let near = distance * 3 <= longest || strsim::jaro_winkler(&folded, &other) >= 0.9;
            // Of equally near words, the one with letters left out: `files` for `fils`, not `file`.
            near.then_some(((distance, !leaves_out(&folded, &other)), candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Whether a word is the other one with letters left out.
fn leaves_out(word: &str, other: &str) -> bool {
    let mut others = other.chars();
    word.chars().all(|letter| others.any(|other| other == letter))
}

/// The edit distance: letters to change, add, remove or exchange to turn one word into the other.
pub fn edits(word: &str, other: &str) -> usize {
    strsim::damerau_levenshtein(&fold(word), &fold(other))
}

/// Whether the edit distance is at most this.
pub fn is_within(edits: usize, word: &str, other: &str) -> bool {
    // Most words differ too much in length already.
    letters(word).count().abs_diff(letters(other).count()) <= edits && self::edits(word, other) <= edits
}

/// `requiresPriorTool`, `requires-prior-tool` and `requires_prior_tool` are the same word.
fn fold(word: &str) -> String {
    letters(word).collect()
}

fn letters(word: &str) -> impl Iterator<Item = char> {
    word.chars().filter(|c| !matches!(c, '_' | '-' | '.' | ' ')).flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let known = [
            "requires_prior_tool",
            "requires_step_count",
            "resource",
            "with_output",
            "match",
            "path",
            "gte",
            "file",
            "files",
        ];
        let cases = [
            ("requires_prior_tols", Some("requires_prior_tool")),
            ("requiresPriorTool", Some("requires_prior_tool")),
            ("with-outputs", Some("with_output")),
            ("resuorce", Some("resource")),
            ("get", Some("gte")),
            ("Path", Some("path")),
            ("paht", Some("path")),
            ("fils", Some("files")),
            ("color", None),
            ("", None),
            ("x", None),
        ];
        for (word, expected) in cases {
            assert_eq!(nearest(word, known), expected, "{word}");
        }
        assert_eq!(nearest(&"path".repeat(1000), known), None);
        assert!(is_within(0, "forbids_after", "forbidsAfter") && !is_within(0, "forbidden", "forbiden"));
        for (word, other) in
            [("forbidden", "forbiden"), ("tol", "tool"), ("rule", "rules"), ("rulse", "rules")]
        {
            assert!(is_within(1, word, other) && !is_within(0, word, other), "{word}");
        }
        assert!(!is_within(1, "rules", "ruleses") && is_within(2, "rules", "ruleses"));
    }
}
