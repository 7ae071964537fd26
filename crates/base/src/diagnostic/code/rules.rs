//! The code that rules of every dialect share.

use crate::codes;

codes! {
    Finding RULE_FAULT = "rule_fault": "the program failed inside a rule, so the rule's calls are denied",
"The program panicked inside the rule. It is not known what the rule would have decided, so it counts
against the call.

    the rule failed while it checked the call: attempt to divide by zero

The finding names the rule and the panic's message. Where rules share one state, as all contracts of a
version do, any of them may have failed. The consequence depends on what the rule was doing:

- while it checked a call: that call is denied;
- while it checked whether a tool is visible: the tool is hidden;
- while it started, recorded a call or copied its state: all later calls it governs are denied, and the
  session counts as violated;
- while it checked the whole session: the session counts as violated.

This is a defect in the program, not in the agent. Please report it with the policy and the session.

A program built with `panic = \"abort\"` ends instead, because the engine cannot catch the panic.
";
}
