//! Which files hold only cases, and so are no part of a version: most are larger than the policy beside them, and need
//! not be parsed whenever it is loaded.

use std::collections::BTreeSet;

use super::is_case_file;

/// The keys of a case.
const KEYS: [&str; 7] = ["name", "description", "policy", "without", "mode", "session", "expect"];

/// A document that has two of these keys is a case.
const OWN: [&str; 3] = ["policy", "session", "expect"];

/// Whether the text is that of a file of cases, and each of its documents has the keys of a case and no other at the start of
/// its lines, so that none can be a policy. Of a text in any other form the parser decides.
pub(super) fn are_all_of(name: &str, text: &str) -> bool {
    // Line ends of other systems and other versions of YAML, and a byte order mark.
    if !is_case_file(name) || text.contains(['\r', '\u{85}', '\u{2028}', '\u{2029}', '\u{feff}']) {
        return false;
    }
    let (mut keys, mut documents, mut begun) = (BTreeSet::new(), 0, false);
    for line in text.lines().chain(["---"]) {
        match line.chars().next() {
            _ if line == "---" => {
                let is_case = OWN.iter().filter(|key| keys.contains(*key)).count() >= 2;
                if !is_case && (begun || !keys.is_empty()) {
                    return false;
                }
                documents += usize::from(is_case);
                begun = true;
                keys.clear();
            }
            None | Some('#') => {}
            Some(' ') if !keys.is_empty() || line.trim().is_empty() => {}
            _ => match line.split_once(':') {
                Some((key, rest)) if KEYS.contains(&key) && (rest.is_empty() || rest.starts_with(' ')) => {
                    keys.insert(key);
                }
                _ => return false,
            },
        }
    }
    documents > 0
}

#[cfg(test)]
mod tests {
    use super::super::is_case;
    use super::are_all_of;
    use crate::dialect;
    use rulestep_base::source::{Source, parse};

    /// All texts of up to four of these lines: where the parser finds a policy, or something that may be one, this one does not
    /// find cases alone.
    #[test]
    fn no_policy_is_taken_for_a_case() {
        const LINES: [&str; 19] = [
            "policy: p.yaml",
            "session: {file: s.jsonl}",
            "expect:",
            "  - {call: 1.1, decision: deny}",
            "---",
            "--- {tool: pay, preconditions: [{requires_prior_tool: check}]}",
            "...",
            "tool: pay",
            "  tool: pay",
            "preconditions: [{requires_prior_tool: check}]",
            "rules: [{type: never, call: {runs: {program: rm}}}]",
            "dialect: contract",
            "- {type: never, call: {runs: {program: rm}}}",
            "name: \"open",
            "description: |",
            "session: [",
            "  <<: &a",
            "# rules:",
            "",
        ];
        let (mut cases, mut others) = (0, 0);
        for number in 0..LINES.len().pow(4) {
            let lines = (0u32..4).map(|at| LINES[number / LINES.len().pow(at) % LINES.len()]);
            let text: String = lines.flat_map(|line| [line, "\n"]).collect();
            if !are_all_of("a.case.yaml", &text) {
                others += 1;
                continue;
            }
            cases += 1;
            let parsed = parse(&Source::new("a.case.yaml", text.as_str()));
            for node in &parsed.documents {
                let is_broken = !parsed.problems.is_empty();
                assert!(dialect::of(node).is_none() && (is_case(node) || is_broken), "{text}");
            }
        }
        assert!(cases > 1000 && others > 100_000, "{cases} {others}");
        assert!(!are_all_of("a.yaml", "policy: p.yaml\nexpect: []\n"));
    }
}
