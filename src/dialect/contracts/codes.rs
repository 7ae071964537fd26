//! Codes of contracts.

use crate::diagnostic::code::codes;

codes! {
    Finding FORBIDDEN = "forbidden": "an earlier call forbade this tool for the rest of the session",
"A contract's `forbids_after` lists tools that may not run any more once its own tool has run.

    tool: issue_refund
    forbids_after: [issue_refund, void_order]

After one `issue_refund` every further `issue_refund` and `void_order` is denied. Calls later in the
same response are bound at once. The entry stays when the call succeeded or nothing is known of its
end, and is dropped at the end of the turn when the call failed.

The finding names the earliest call that forbade the tool and the contract that says so; the rule is
in that contract, not in the one of the denied tool. If a retry should be possible, take the tool's
own name out of its list.
";

    Finding STEP_COUNT_BELOW = "step_count_below": "too few turns were completed before this call",
"The contract wants a number of completed turns before its tool may run.

    tool: transfer_funds
    preconditions:
      - requires_step_count: {gte: 3}

A call in turn 4 is the first that passes. Turns without calls count; a turn that proposed calls of
which none was started does not. Calls of the same turn never count for each other.

If the call comes later than this says, look for turns whose calls were all stopped.
";

    Finding PRIOR_TOOL_MISSING = "prior_tool_missing": "the required tool has not succeeded in an earlier turn",
"The contract wants another tool to have run, with success, in an earlier turn.

    tool: issue_refund
    preconditions:
      - requires_prior_tool: check_eligibility

A call in the same response does not count: its result was not known when this call was proposed.
Neither does one that failed, was refused, was stopped by a policy, or has no result.

Either the agent skipped the step, or its call ended in an error: the finding tells which calls
there were. In a recording that starts in the middle the earlier call may be missing from the
record.
";

    Finding RESOURCE_MISSING = "resource_missing": "this call has not exactly one value at the resource path",
"A bound precondition compares one value of this call with one of an earlier call. This call's
arguments have none at that path, or more than one.

    - requires_prior_tool: check_eligibility
      resource: {bind_from: arguments, path: $.order_id}

`{\"order\": \"ORD-1\"}` has no `order_id`, so there is nothing to compare and the call is denied.
The same happens when the arguments are not JSON.

Compare the path with the arguments as they were recorded: often the value is one level further
down.
";

    Finding RESOURCE_UNMATCHED = "resource_unmatched": "the required tool ran, but for another value",
"The required tool has succeeded before, though never for the value that this call names.

    - requires_prior_tool: check_eligibility
      resource: {bind_from: arguments, path: $.order_id}

`check_eligibility` for \"ORD-123\" does not permit `issue_refund` for \"ORD-124\". Values are
compared as JSON: 7 and 7.0 are equal, 7 and \"7\" are not. An earlier call without exactly one
value at the path never matches.

The finding lists the values that earlier calls had. If the earlier call has the value elsewhere,
say where with `resource: {…, prior: {bind_from: output, path: $.order.id}}`.
";

    Finding PRIOR_OUTPUT_UNMATCHED = "prior_output_unmatched": "the required tool ran, but its result does not satisfy the contract",
"The earlier call that decides has a result for which `with_output` does not hold.

    - requires_prior_tool: check_eligibility
      with_output: [{path: $.eligible, equals: true}]

`{\"eligible\": false}` fails it, and so does `{\"result\": {\"eligible\": true}}`, where
`$.eligible` finds nothing. Every entry must hold, with every operator it has; on a missing result
nothing holds, and `gte` and `lte` never hold for what is not a number.

With a `resource` the newest call for that value decides, so a later contrary result takes the
permission back; without one, any earlier call may satisfy it. `match: newest` or `match: any` says
otherwise.
";

    Problem TOOL_FROM_FILE_NAME = "tool_from_file_name": "a contract without `tool` takes the name of its file",
"The contract does not say which tool it is for. It is taken to be for the tool that its file is named
after, as Vesanor's documentation does.

    # contracts/issue_refund.yaml
    preconditions: [{requires_prior_tool: check_eligibility}]

Here that is `issue_refund`. Renaming the file would change the rule, so better write `tool:`. In a file
of several documents, parted by `---`, each contract must name its tool.
";

    Problem RUNNER_KEYS = "runner_keys": "keys that only Vesanor's test runner reads",
"Vesanor's contracts also describe how a tool is tested against recorded examples. These keys say nothing
about which call may happen when, so they are skipped and counted, once for all contracts.

    side_effect: write
    timeouts: {total_ms: 30000}
    golden_cases: [{id: refund_ok}]

Keys that stop calls at run time, such as `gate` or `transitions`, are the error `not_enforced`.
";
}
