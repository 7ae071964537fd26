//! Codes of the sequence rules dialect.

use crate::diagnostic::code::codes;

codes! {
    Finding REQUIRED_MISSING = "required_missing": "a tool that the session needs never succeeded",
"A `require` rule wants at least one call of a tool that ends with success.

    - {type: require, tool: VerifyIdentity}

Stopping a call cannot bring another one about, so nothing is denied: the rule is violated when the
session is over. A call that failed, or that has no result, does not count.
";

    Finding BEFORE_MISSING = "before_missing": "the call that must come first has not succeeded yet",
"A `before` rule lets a tool run only once another one has succeeded.

    - {type: before, first: VerifyIdentity, then: DeleteCustomer}

`DeleteCustomer` is denied as long as no `VerifyIdentity` has ended with success. While one is on its
way, or has no result, the call is denied as well: it might fail. A call that matches both sides is
its own `first`. With a list in `then` each of its tools needs `first`.
";

    Finding BEFORE_LATE = "before_late": "the call that must come first came later",
"Over the whole session, the first `then` of a `before` rule stands ahead of the first successful
`first`.

    - {type: before, first: VerifyIdentity, then: DeleteCustomer}

`DeleteCustomer, VerifyIdentity` violates it. As a gate the same rule says `before_missing`, for when
the call is decided nobody knows what comes later.
";

    Finding NOT_ADJACENT = "not_adjacent": "the call directly before is not the one that is wanted",
"An `immediately_before` rule wants every `then` to stand directly behind a successful `first`.

    - {type: immediately_before, first: ValidateInput, then: ExecuteAction}

`ValidateInput, LogEvent, ExecuteAction` violates it, and so does a second `ExecuteAction` behind the
first. Only calls that ran are counted; one that was stopped stands between nothing.
";

    Finding BLOCKLISTED = "blocklisted": "the tool is on a blocklist",
"The tool's name is on the list, or contains the pattern, of a `blocklist` rule.

    - {type: blocklist, tools: [admin_*, drop_database]}
    - {type: blocklist, pattern: admin_}

In `tools` a star stands for any text and a question mark for one character, over the whole name. In
`pattern` nothing is special: it is looked for anywhere in the name.
";

    Finding NOT_ALLOWLISTED = "not_allowlisted": "the tool is not on the allowlist",
"An `allowlist` rule names every tool that may run.

    - {type: allowlist, tools: [GetCustomer, Update*]}

A star stands for any text and a question mark for one character, over the whole name. Two such rules
must both be content with a call.
";

    Finding MAX_CALLS_OVER = "max_calls_over": "the tool has run as often as it may",
"A `max_calls` rule (in older documents `count`) bounds how often a tool runs in a session.

    - {type: max_calls, tool: SendEmail, max: 3}

The fourth `SendEmail` is denied. Every call that ran counts, also one that failed or has no result;
one that was stopped does not. `max: 0` forbids the tool.
";

    Finding DEADLINE_MISSED = "deadline_missed": "a call that was to come early did not",
"An `eventually` rule wants a tool to succeed among the first calls of the session.

    - {type: eventually, tool: ValidateOutput, within: 5}

The first to the fifth call may be it. Stopping a call does not help, so the call at which the
deadline passes is reported and not denied. `within: 0` can never be met.
";

    Finding AFTER_TRIGGER = "after_trigger": "the tool may not run after a call that did",
"A `never_after` rule forbids a tool once another one ran.

    - {type: never_after, trigger: CommitTransaction, forbidden: ModifyData}

The trigger counts as soon as it ran, also when it failed or has no result: it may have happened.
With one tool on both sides the second call is denied.
";

    Finding FOLLOW_UP_MISSING = "follow_up_missing": "a call was not followed by the one it needs",
"An `after` rule wants every call of a tool to be followed, soon enough, by a successful call of
another.

    - {type: after, trigger: OpenFile, then: CloseFile, within: 10}

`CloseFile` must be among the ten calls behind each `OpenFile`; one `CloseFile` may answer several.
`within` left out means 1. The call at which a deadline passes is reported and not denied, and at the
end of the session a window that is still open counts as missed.
";

    Finding SEQUENCE_INTERRUPTED = "sequence_interrupted": "another call came between the steps of a strict sequence",
"With `strict: true` nothing may come between the first and the last step of a sequence.

    - {type: sequence, tools: [Plan, Review, Apply], strict: true}

`Plan, Log, Review` violates it at `Log`, and so does a second `Plan`. Calls ahead of the first step
and behind the last are free. A step that fails neither advances the sequence nor interrupts it;
while it is on its way, what might interrupt is denied.
";

    Finding SEQUENCE_OUT_OF_ORDER = "sequence_out_of_order": "a later step came before its turn",
"A `sequence` rule wants its steps in order, with anything else between them.

    - {type: sequence, tools: [Plan, Review, Apply]}

`Plan, Apply` violates it at `Apply`, and so does an `Apply` ahead of everything. Repeating an earlier
step does no harm, and behind the last step everything is free. A step counts once it has succeeded.
";

    Finding SEQUENCE_CUT_SHORT = "sequence_cut_short": "the session ended in the middle of a sequence",
"Some steps of a `sequence` rule were done and the session ended before the last one.

    - {type: sequence, tools: [Plan, Review, Apply]}

Stopping a call cannot bring the missing steps about, so nothing is denied. A session without any of
the steps does not concern the rule. The exact `sequence` of a test is different: it is cut short by
every session that ends before its last call.
";

    Finding SEQUENCE_NOT_EXACT = "sequence_not_exact": "the call is not the one that the exact sequence has here",
"The `sequence` of a test lists every call of the session: nothing before, between or after.

    expected: {type: sequence_valid, sequence: [Plan, Review, Apply]}

After `Plan` only `Review` may run, and after `Apply` nothing may. A call also needs all calls before it
to have succeeded: one that failed, or has no result yet, did not do its part. `sequence: []` wants a
session without calls. Aliases are not looked up, as in the lists of `blocklist` and `allowlist`.
";

    Problem TESTS_SKIPPED = "tests_skipped": "tests that are not about sequences were skipped",
"A file of tests can hold tests of many kinds. Those with `metric: sequence_valid`, or with
`type: sequence_valid` in `expected` or in an entry of `assertions`, hold sequence rules; all others are
skipped, and so is an assertion that brings calls of its own (`test_trace`).

    - {id: arguments, expected: {type: args_valid, policy: arguments.yaml}}    # skipped

This is a notice, so that nobody takes a test for a rule that is at work. A metric that looks like a
misspelt `sequence_valid` is an error.
";

    Problem STAR_IN_PATTERN = "star_in_pattern": "a star in `pattern` is an ordinary character",
"The `pattern` of a blocklist is plain text that is looked for anywhere in a name, so `admin_*` finds
only names with a star in them, which no tool has.

    - {type: blocklist, pattern: admin_*}    # blocks nothing
    - {type: blocklist, tools: [admin_*]}    # blocks admin_delete

Write `tools` for names with stars, or leave the star out of `pattern`.
";

    Problem WHEN_NEVER_EQUAL = "when_never_equal": "`when` compares with a value that sessions hardly have",
"A rule with `when` is off in sessions whose context has another value at that key. Values are compared as
JSON: a list equals only the same list, and the text \"true\" does not equal `true`.

    - {type: require, tool: Audit, when: {context.is_admin: \"true\"}}      # off where is_admin is true
    - {type: require, tool: Audit, when: {context.role: [admin, root]}}   # off where role is admin

Write `true` and numbers without quotes, and one rule for each value.
";

    Problem ALIAS_IN_LIST = "alias_in_list": "blocklists and allowlists do not look up aliases",
"An entry of a `blocklist` or an `allowlist` is a tool's own name. One that is also an alias does not
stand for the alias's members there.

    aliases: {Write: [write_file, append_file]}
    rules: [{type: blocklist, tools: [Write]}]

This blocks a tool called `Write` and neither of the other two. List the members.
";

    Problem UNUSED_ALIAS = "unused_alias": "no rule names this alias",
"The document gives a name to several tools and never uses it.

    aliases: {Search: [search_web, search_kb]}

Often the rule names it in another spelling: names are compared letter by letter, case included.
";

    Problem BROKEN_PATTERN = "broken_pattern": "an argument pattern is no regular expression, so it never matches",
"A pattern in `args_match` must be a regular expression of Rust's `regex` crate. One that is not
matches nothing, and the rule is kept with it.

    - {type: max_calls, tool: {tool: bash, args_match: {command: \"[\"}}, max: 0}

So this forbids nothing. Lookaround and backreferences are no part of that language.
";

    Problem EQUAL_OPERANDS = "equal_operands": "both sides of the rule name the same tool",
"A rule about two tools names one tool twice.

    - {type: before, first: Login, then: Login}

`before` is then always content, for a call is its own `first`; `immediately_before` denies the first
call there is; `never_after` denies the second; `after` wants one call after the other.
Probably one of the names should be another.
";

    Problem NEVER_MET = "never_met": "the rule can never be met, or never says anything",
"As it stands the rule has only one answer: `within: 0` leaves room for no call, an empty `pattern` is
contained in every name, an empty allowlist allows nothing, and a sequence without steps, or an old
`sequences` entry with fewer than two names, asks nothing.
";

    Problem VAGUE_ID = "vague_id": "the test's id does not say what it is about",
"Findings name the test that a rule belongs to, so its id is what people read first.

    - {id: test_1, metric: sequence_valid, rules: []}
    - {id: verify_before_delete, metric: sequence_valid, rules: []}

The second one says what is wrong without a look into the file.
";

    Problem OLD_SEQUENCES = "old_sequences": "`sequences` is the old form of sequence rules",
"In old documents `sequences` holds lists of names, and each name must come before the next. A list of
rules there is the current form.

    sequences:
      - [GetCustomer, UpdateCustomer]

It is read as `before` rules, one for each pair of neighbours. `rulestep migrate FILE` writes them
out, and `--write` puts them into the file.
";
}
