//! Codes of contracts.

use rulestep_base::codes;

codes! {
    Finding FORBIDDEN = "forbidden": "an earlier call forbade this tool for the rest of the session",
"A contract's `forbids_after` lists tools that may no longer run once its own tool has run.

    tool: issue_refund
    forbids_after: [issue_refund, void_order]

After one `issue_refund`, every further `issue_refund` and `void_order` is denied, including later calls
of the same response. If the call failed, the tools are allowed again from the next turn. If it
succeeded, or its result is not known, they stay forbidden until the session ends.

The finding names the earliest call that forbade the tool, and the rule in that call's contract. To
allow the tool once more, remove its name from the list.
";

    Finding STEP_COUNT_BELOW = "step_count_below": "too few turns were completed before this call",
"The contract requires a number of completed turns before its tool may run.

    tool: transfer_funds
    preconditions:
      - requires_step_count: {gte: 3}

The first call that passes is one in turn 4. A turn counts if it has no calls, or if at least one of
its calls was started. The turn of the call itself never counts.

If the count is lower than you expect, look for turns in which every call was stopped.
";

    Finding PRIOR_TOOL_MISSING = "prior_tool_missing": "the required tool has not succeeded in an earlier turn",
"The contract requires that another tool has succeeded in an earlier turn.

    tool: issue_refund
    preconditions:
      - requires_prior_tool: check_eligibility

A call in the same response does not count: its result was not known when this call was proposed.
Nor does a call that failed, was refused, was stopped by a policy, or has no result.

The agent skipped the step, or the step failed: the finding lists the earlier calls to the required
tool and why they do not count. If the recording starts in the middle of the session, the earlier call
may be missing from it.
";

    Finding RESOURCE_MISSING = "resource_missing": "this call has no value at the resource path",
"A precondition with `resource` compares a value of this call with a value of an earlier call. This
call's arguments have no value at that path.

    - requires_prior_tool: check_eligibility
      resource: {bind_from: arguments, path: $.order_id}

`{\"order\": \"ORD-1\"}` has no `order_id`, so there is nothing to compare and the call is denied.
Arguments that are not JSON have no values either.

Compare the path with the recorded arguments. Often the value is one level deeper.
";

    Finding RESOURCE_UNMATCHED = "resource_unmatched": "the required tool ran, but for another value",
"The required tool has succeeded before, but never for the value in this call.

    - requires_prior_tool: check_eligibility
      resource: {bind_from: arguments, path: $.order_id}

`check_eligibility` for \"ORD-123\" does not permit `issue_refund` for \"ORD-124\". Values are
compared as JSON: 7 and 7.0 are equal, 7 and \"7\" are not. An earlier call without a value at the
path never matches.

The finding lists the values of earlier calls. If earlier calls have the value at another place, name
the place with `prior`: `resource: {…, prior: {bind_from: output, path: $.order.id}}`.
";

    Finding PRIOR_OUTPUT_UNMATCHED = "prior_output_unmatched": "the required tool ran, but its result does not satisfy the contract",
"The required tool succeeded, but its result does not satisfy `with_output`.

    - requires_prior_tool: check_eligibility
      with_output: [{path: $.eligible, equals: true}]

The result `{\"eligible\": false}` fails, and so does `{\"result\": {\"eligible\": true}}`, because
`$.eligible` finds nothing in it. Every entry must pass, with every operator it has. A missing result
passes nothing, and `gte` and `lte` pass only for numbers.

With `resource`, the newest call for that value decides, so a later result can withdraw the
permission. Without `resource`, any earlier call can satisfy the condition. `match: newest` and
`match: any` choose between the two.
";

    Problem TOOL_FROM_FILE_NAME = "tool_from_file_name": "a contract without `tool` takes the name of its file",
"The contract has no `tool`, so it applies to the tool that its file is named after, as Vesanor's
documentation does it.

    # contracts/issue_refund.yaml
    preconditions: [{requires_prior_tool: check_eligibility}]

This contract applies to `issue_refund`. Renaming the file would change the rule, so it is safer to
write `tool:`. In a file with several documents, separated by `---`, each contract must name its tool.
";

    Problem RUNNER_KEYS = "runner_keys": "keys that only Vesanor's test runner reads",
"Vesanor's contracts also describe how a tool is tested against recorded examples. These keys do not
decide calls, so they are skipped. One notice counts them for all contracts.

    side_effect: write
    timeouts: {total_ms: 30000}
    golden_cases: [{id: refund_ok}]

Keys that stop calls at run time, such as `gate` or `transitions`, are the error `not_enforced`.
";
}
