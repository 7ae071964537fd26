//! Codes of the sequence-policies dialect.

use crate::diagnostic::code::codes;

codes! {
    Finding SEQUENCE_FORBIDDEN = "sequence_forbidden": "the calls before it and this one end in a forbidden sequence",
"A sequence policy lists calls that may not follow each other. The calls that were dispatched, with this
one behind them, end in one of those lists.

    forbidden:
      - {sequence: [read_secrets, {namePrefix: http.}], action: halt, reason: security:exfiltration}

`read_secrets` and then `http.post` is stopped. There are no gaps: a call between the two breaks the
sequence. Dispatched are calls that ran and have a result, good or bad, in the order of the calls; what
was stopped, refused or is still under way is not among them. An empty sequence fits every call.

The first sequence that fits decides, whatever its action, before any limit.
";

    Finding LIMIT_REACHED = "limit_reached": "the tool ran as often as it may in one session",
"A sequence policy limits how often a tool runs in a session, and that many of its calls were dispatched.

    limits:
      process_refund: {maxPerSession: 3, action: deny, reason: correctness:idempotency}

The fourth `process_refund` is denied. Failed calls count, since they ran; stopped calls and calls
without a result do not. `maxPerSession: 0` allows none. The name is exact: `process_refund_v2` has no
part in it.
";

    Problem TELL_LLM_REPEATS_REASON = "tell_llm_repeats_reason": "the model is told the rule's reason",
"`reason` is for people and their logs and is never told; `tellLLM` goes into the conversation. Here the
one repeats the other, so the model, and whoever writes into its context, learns why it was stopped.

    {sequence: [a, b], action: deny, reason: security:exfiltration, tellLLM: stopped, security:exfiltration}

Say what the model should do instead, or leave `tellLLM` out: then it is told nothing of the rule.
";

    Problem TELL_LLM_LEAKS = "tell_llm_leaks": "the text for the model holds data",
"A path, an id, an address, a key or a placeholder in `tellLLM` is read by the model, and perhaps by its
user, each time the rule applies. A placeholder is sent as it is: nothing is filled in.

    process_refund: {maxPerSession: 3, action: deny, reason: cost:refunds, tellLLM: \"ask {name}\"}

Counts and limits are no such data: `Refund limit reached (3/3).` is fine. Better a sentence that is true
for every call: `No further refunds in this conversation.`
";

    Problem REASON_WITHOUT_CATEGORY = "reason_without_category": "the reason names no category",
"Findings are grouped by what stands before the colon of a reason, and this one has no such part.

    reason: too many refunds
    reason: correctness:too-many-refunds

Usual categories are `security:`, `cost:` and `correctness:`; any word will do, if it is used
throughout.
";

    Problem REASON_SHARED = "reason_shared": "one reason stands on rules of different kinds",
"A forbidden sequence and a limit give the same reason, so reports cannot tell which of them stopped a
call.

    forbidden: [{sequence: [pay, pay], action: deny, reason: correctness:pay}]
    limits: {pay: {maxPerSession: 3, action: deny, reason: correctness:pay}}

Give each kind of rule a reason of its own, as in `correctness:pay-twice` and `correctness:pay-limit`.
";
}
