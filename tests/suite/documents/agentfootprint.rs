//! Sequence policies as agentfootprint's guide to sequence governance prints them, as YAML and JSON.

use super::check;

#[test]
fn documents_as_published() {
    check(&[
        (
            "security.yaml",
            "id: support-agent\nforbidden:\n- sequence: [runPython, {namePrefix: slack.}]\n  action: halt\n  reason: security:exfiltration\n  tellLLM: This combination is restricted.\n",
            "",
        ),
        (
            "cost.yaml",
            "forbidden:\n- {sequence: [search, search, search], action: deny, reason: cost:search-loop, tellLLM: Summarize what you have.}\n",
            "",
        ),
        (
            "limits.json",
            "{\"limits\": {\"processRefund\": {\"maxPerSession\": 3, \"action\": \"deny\", \"reason\": \"correctness:idempotency\", \"tellLLM\": \"Refund limit reached (3/3). Escalate to a human agent.\"}}}",
            "",
        ),
        (
            "both.yaml",
            "id: x\nforbidden: [{sequence: [readSecrets, {namePrefix: http.}], action: halt, reason: security:exfiltration}]\nlimits: {chargeCard: {maxPerSession: 1, action: halt, reason: correctness:double-charge}}\n",
            "",
        ),
        // Slips that the library would let through.
        (
            "a.yaml",
            "forbidden: [{sequence: [{prefix: slack.}], action: halt, reason: 'a:b'}]",
            "1 error missing_key; 1 error unknown_key",
        ),
        ("a.yaml", "forbidden: [{sequence: [a], action: gate_open, reason: 'a:b'}]", "1 error bad_value"),
        (
            "a.yaml",
            "forbidden: [{sequence: [a], action: halt, reason: 'a:b', tellLlm: no}]",
            "1 error unknown_key",
        ),
        (
            "a.yaml",
            "limits: {a: {maxPerSesion: 1, action: deny, reason: 'a:b'}}",
            "1 error missing_key; 1 error unknown_key",
        ),
        (
            "a.yaml",
            "forbidden: [{sequence: ['slack.*'], action: halt, reason: 'a:b'}]",
            "1 error star_in_name",
        ),
    ]);
}
