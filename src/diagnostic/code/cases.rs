//! Codes of what can be wrong with case files, beside what any document can have.

use super::codes;

codes! {
    Problem NOT_A_CASE = "not_a_case": "the file holds no case",
"A case is a document with a policy, a session and what is expected of the two.

    policy: ../contracts
    session: [{role: assistant, tool_calls: [{name: issue_refund, arguments: {order_id: ORD-1}}]}]
    expect: {call: 1.1, decision: deny, code: prior_tool_missing}

In a folder other files are passed over; a file that is named itself must hold a case.
";

    Problem BAD_REFERENCE = "bad_reference": "a case refers to something that cannot be used",
"`policy` and `session` of a case may be paths, relative to the folder of the case file. This one leads to
nothing, to something that cannot be read, or not to exactly one session.

    policy: [../refunds, ../desk/analyst.yaml]
    session: {file: ../../sample-traces/transfers.json, id: transfer-402}

`id` says which session is meant where a file holds several.
";

    Problem CASE_NOT_REWRITTEN = "case_not_rewritten": "an expectation cannot be rewritten in place",
"`rulestep test --update` puts what was decided in the place of what was expected, and changes nothing
else. Here that is not possible, so the file was left as it is.

    hidden:          # as of March
      - issue_refund

A comment within a list, an anchor that other values repeat, or a value in an unusual form cannot be
kept while the value changes. A call, turn, tool or rule that is not there has nothing to be written.
Change it by hand.
";
}
