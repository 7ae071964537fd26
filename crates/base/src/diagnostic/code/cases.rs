//! Codes of problems that only case files have.

use crate::codes;

codes! {
    Problem NOT_A_CASE = "not_a_case": "the file does not contain a case",
"A case is a document with a policy, a session and the expected result.

    policy: ../contracts
    session: [{role: assistant, tool_calls: [{name: issue_refund, arguments: {order_id: ORD-1}}]}]
    expect: {call: 1.1, decision: deny, code: prior_tool_missing}

In a folder, other files are skipped. A file that you name must contain a case.
";

    Problem BAD_REFERENCE = "bad_reference": "a case refers to something that cannot be used",
"`policy` and `session` of a case can be paths, relative to the folder of the case file. This path does not
exist, cannot be read, or does not lead to exactly one session.

    policy: [../refunds, ../desk/analyst.yaml]
    session: {file: ../../sample-traces/transfers.json, id: transfer-402}

If a file contains several sessions, choose one with `id`.
";

    Problem CASE_NOT_REWRITTEN = "case_not_rewritten": "an expectation cannot be rewritten in place",
"`rulestep test --update` replaces expected values with the actual ones and changes nothing else. Here that
is not possible, so the file is unchanged.

    hidden:          # as of March
      - issue_refund

The value cannot change without losing a comment inside a list, an anchor that other values use, or an
unusual form. Or the case names a call, turn, tool or rule that does not exist, so there is no actual
value. Edit the file by hand.
";
}
