//! The code that rules of every dialect share.

use super::codes;

codes! {
    Finding RULE_FAULT = "rule_fault": "a rule failed by itself, so nothing passes on its word",
"Something inside the rule panicked. What it would have said is not known, so it counts against the call.

    the rule failed while it checked the call: attempt to divide by zero

The finding names the rule and repeats the panic's message. Where several rules keep one state together,
such as all contracts of a version, it says so: any of them may have failed. What follows depends on when:

- while it checked a call: that call is denied;
- while it checked whether a tool is visible: the tool is hidden;
- while it started, recorded what happened or copied its state: all later calls it governs are denied,
  and the session counts as violated;
- while it checked the whole session: the session counts as violated.

This is never the fault of the agent. Please report it with the policy and the session.

A program built with `panic = \"abort\"` ends instead, because the engine cannot catch the panic there.
";
}
