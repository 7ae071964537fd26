//! Codes of the sequence-policies dialect.

use rulestep_base::codes;

codes! {
    Finding SEQUENCE_FORBIDDEN = "sequence_forbidden": "the call completes a forbidden sequence",
"A sequence policy lists sequences of calls that may not happen. The dispatched calls, followed by this
one, end in one of these sequences.

    forbidden:
      - {sequence: [read_secrets, {namePrefix: http.}], action: halt, reason: security:exfiltration}

`http.post` directly after `read_secrets` is stopped. A call between the two breaks the sequence. A call
is dispatched if it ran and has a result, including an error. Calls that were stopped, were refused or
are still running are not part of a sequence. An empty sequence matches every call.

The first sequence that matches decides, whatever its action. Limits are checked after all sequences.
";

    Finding LIMIT_REACHED = "limit_reached": "the tool has reached its limit for one session",
"A sequence policy limits how often a tool runs in a session, and the tool has run that often.

    limits:
      process_refund: {maxPerSession: 3, action: deny, reason: correctness:idempotency}

The fourth `process_refund` is denied. Failed calls count, because they ran; stopped calls and calls
without a result do not. `maxPerSession: 0` allows no call. The name is exact: calls of
`process_refund_v2` do not count.
";

    Problem TELL_LLM_REPEATS_REASON = "tell_llm_repeats_reason": "the text for the model repeats the rule's reason",
"`reason` is for people and logs, and the model never sees it; `tellLLM` goes into the conversation. Here
`tellLLM` repeats the reason, so the model learns why it was stopped, and so does anyone who can write
into its context.

    {sequence: [a, b], action: deny, reason: security:exfiltration, tellLLM: stopped, security:exfiltration}

Say what the model should do instead, or remove `tellLLM`: then the model learns nothing about the rule.
";

    Problem TELL_LLM_LEAKS = "tell_llm_leaks": "the text for the model contains data",
"The model, and perhaps its user, reads `tellLLM` each time the rule applies. This one contains a path, an
id, an address, a key or a placeholder. Placeholders are not filled in.

    process_refund: {maxPerSession: 3, action: deny, reason: cost:refunds, tellLLM: \"ask {name}\"}

Counts and limits are fine, as in `Refund limit reached (3/3).` Write a sentence that is true for every
call: `No further refunds in this conversation.`
";

    Problem REASON_WITHOUT_CATEGORY = "reason_without_category": "the reason names no category",
"Reports group findings by the category of their reason, the word before its colon. This reason has no
category.

    reason: too many refunds                 # without a category
    reason: correctness:too-many-refunds

The usual categories are `security:`, `cost:` and `correctness:`. You can use others, if you use them
consistently.
";

    Problem REASON_SHARED = "reason_shared": "rules of different kinds have the same reason",
"A forbidden sequence and a limit give the same reason, so reports cannot tell which of them stopped a
call.

    forbidden: [{sequence: [pay, pay], action: deny, reason: correctness:pay}]
    limits: {pay: {maxPerSession: 3, action: deny, reason: correctness:pay}}

Give each kind of rule a reason of its own, as in `correctness:pay-twice` and `correctness:pay-limit`.
";
}
