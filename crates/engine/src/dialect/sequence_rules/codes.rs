//! Codes of the sequence rules dialect.

use rulestep_base::codes;

codes! {
    Finding REQUIRED_MISSING = "required_missing": "a tool that the session needs never succeeded",
"A `require` rule requires at least one successful call to a tool.

    - {type: require, tool: VerifyIdentity}

Stopping a call cannot make another one happen, so nothing is denied. The rule is violated when the
session ends without a success. A call that failed, or that has no result, does not count.
";

    Finding BEFORE_MISSING = "before_missing": "the call that must come first has not succeeded yet",
"A `before` rule allows a tool only after another one has succeeded.

    - {type: before, first: VerifyIdentity, then: DeleteCustomer}

`DeleteCustomer` is denied until a `VerifyIdentity` has succeeded. A `VerifyIdentity` that is still
running, or that has no result, does not count, because it may have failed. A call that matches both
sides is its own `first`. If `then` is a list, each of its tools needs `first`.
";

    Finding UNSEEN_SESSION = "unseen_session": "another session of the tree was not read",
"A `never_after` rule with `scope: tree` forbids a call after something that the agent, its parent or a
subagent did. One of these sessions is not known, so the trigger may have happened there.

    - {type: never_after, trigger: {reads: .env}, forbidden: {reaches: '*'}, scope: tree}

Name the recordings of the whole tree. What is not known counts against the agent: with `unsure: ask` a person
is asked, and with `unsure: allow` it is only reported.
";

    Finding BEFORE_LATE = "before_late": "the call that must come first came later",
"In the whole session, the first `then` of a `before` rule comes before the first successful `first`.

    - {type: before, first: VerifyIdentity, then: DeleteCustomer}

`DeleteCustomer, VerifyIdentity` violates the rule. When a single call is decided, the same rule gives
`before_missing`, because later calls are not known yet.
";

    Finding NOT_ADJACENT = "not_adjacent": "the call directly before is not the required one",
"An `immediately_before` rule requires a successful `first` directly before every `then`.

    - {type: immediately_before, first: ValidateInput, then: ExecuteAction}

`ValidateInput, LogEvent, ExecuteAction` violates the rule, and so does a second `ExecuteAction` after
the first. Only calls that ran count: a stopped call between the two does no harm.
";

    Finding FORBIDDEN_CALL = "forbidden_call": "the rule never allows such a call",
"A `never` rule stops every call that it describes, by what the call does.

    - {type: never, call: {deletes: ['/**', '!/tmp/**']}}
    - {type: never, call: {runs: {program: git, args: [push], flags: [force]}}}

A call that perhaps does it is stopped as well, unless the rule says `unsure: allow` or `unsure: ask`. The
finding names the word that is not known.
";

    Finding SELF_GUARD = "self_guard": "the call would change what guards the agent",
"`hook`, `gate` and `proxy` have rules of their own, whatever policy they are given. The agent does not change
or delete what decides its calls:

- the settings that hold hooks or turn them off, of every agent that `rulestep install` knows
- the policy in use. Where a person can be asked, a change of its files is asked about and not denied
- the journals, `rulestep.toml` and the program itself

Nor does it run `rulestep install`, `uninstall` or `prune`. A call that perhaps does one of these things is
reported (where it fills a folder of settings with files that it does not name, a person is asked), and so is
code that nobody has read. In shadow mode all of it is only recorded. `--no-self-guard` turns these rules off.
";

    Finding OPAQUE_COMMAND = "opaque_command": "a command runs code that nobody has read",
"Rules that match what a call does read the command line, and nothing else. What a script or code in another
language does is not known, and counts as nothing.

    python3 deploy.py
    make release

A rule that would stop the call if the code did what it forbids reports it. `opaque: deny` stops such calls,
`opaque: ask` asks a person, and `opaque: allow` reports nothing.
";

    Finding SWEEP = "sweep": "a search may come across what the rule is about",
"A search goes through a folder in which a file may lie that the rule is about. The rule names the file
without a place, so every folder may hold one.

    grep -r KEY .          under   {reads: ['.env', '*.pem']}
    rg KEY src             under   {reads: ['**/secrets/**']}

A rule that would stop the call if the search came across such a file reports it, and so it does later calls
that the file would forbid. `sweeps: deny` stops such calls, `sweeps: ask` asks a person, and `sweeps: allow`
reports nothing. A search that names the file (`--include=.env`, `-g '*.pem'`), or a folder that the rule
names, is a match. Deleting, copying, packing and sending are never sweeps.
";

    Finding BLOCKLISTED = "blocklisted": "the tool is on a blocklist",
"The tool's name matches a `blocklist` rule: it is in `tools`, or it contains `pattern`.

    - {type: blocklist, tools: [admin_*, drop_database]}
    - {type: blocklist, pattern: admin_}

In `tools`, `*` matches any text and `?` matches one character, and the whole name must match. A
`pattern` is plain text that may be anywhere in the name.
";

    Finding NOT_ALLOWLISTED = "not_allowlisted": "the tool is not on the allowlist",
"An `allowlist` rule names every tool that may run.

    - {type: allowlist, tools: [GetCustomer, Update*]}

`*` matches any text and `?` matches one character, and the whole name must match. If there are two such
rules, a call must satisfy both.

    - {type: allowlist, tools: [Read, {runs: {program: [git, ls]}}]}

With calls in the list, each command of a call must be one of them. The finding names the command that is not.
";

    Finding MAX_CALLS_OVER = "max_calls_over": "the tool has reached its limit of calls",
"A `max_calls` rule (`count` in older documents) limits how often a tool runs in a session.

    - {type: max_calls, tool: SendEmail, max: 3}

The fourth `SendEmail` is denied. Every call that ran counts, even if it failed or has no result.
Stopped calls do not count. `max: 0` forbids the tool.
";

    Finding DEADLINE_MISSED = "deadline_missed": "a tool did not succeed early enough",
"An `eventually` rule requires a tool to succeed among the first calls of the session.

    - {type: eventually, tool: ValidateOutput, within: 5}

One of the first five calls must be a successful `ValidateOutput`. Stopping a call does not help, so the
call at which the deadline passes is reported, not denied. `within: 0` can never be met.
";

    Finding AFTER_TRIGGER = "after_trigger": "the tool is forbidden after an earlier call",
"A `never_after` rule forbids a tool once another one has run.

    - {type: never_after, trigger: CommitTransaction, forbidden: ModifyData}

The trigger counts as soon as it runs. A trigger that failed or has no result counts too, because its
action may have happened. If both sides name the same tool, its second call is denied. With `until`, a later
call that succeeds allows it again.
";

    Finding FOLLOW_UP_MISSING = "follow_up_missing": "a required follow-up call did not come in time",
"An `after` rule requires a successful call to one tool soon after every call to another.

    - {type: after, trigger: OpenFile, then: CloseFile, within: 10}

One of the ten calls after each `OpenFile` must be a successful `CloseFile`. One `CloseFile` can serve
several `OpenFile` calls. Without `within`, the next call must be the follow-up. The call at which a
deadline passes is reported, not denied. When the session ends, every follow-up still due counts as
missed.
";

    Finding SEQUENCE_INTERRUPTED = "sequence_interrupted": "another call came between the steps of a strict sequence",
"With `strict: true`, no other call may come between the first and the last step of a sequence.

    - {type: sequence, tools: [Plan, Review, Apply], strict: true}

`Plan, Log, Review` violates the rule at `Log`. `Plan, Plan` violates it at the second `Plan`. Calls
before the first step and after the last are allowed. A step that fails neither advances nor interrupts
the sequence. While a step is running, calls that might interrupt are denied.
";

    Finding SEQUENCE_OUT_OF_ORDER = "sequence_out_of_order": "a later step came before its turn",
"A `sequence` rule requires its steps in order. Other calls may come between them.

    - {type: sequence, tools: [Plan, Review, Apply]}

`Plan, Apply` violates the rule at `Apply`, and so does an `Apply` before any other step. An earlier step
may be repeated, and after the last step every call is allowed. A step counts once it has succeeded.
";

    Finding SEQUENCE_CUT_SHORT = "sequence_cut_short": "the session ended in the middle of a sequence",
"The session did some steps of a `sequence` rule, but ended before the last one.

    - {type: sequence, tools: [Plan, Review, Apply]}

Stopping a call cannot make the missing steps happen, so nothing is denied. The rule does not apply to a
session without any of the steps. The exact `sequence` of a test is different: every session that ends
before its last call violates it.
";

    Finding SEQUENCE_NOT_EXACT = "sequence_not_exact": "the call is not the one that the exact sequence has here",
"The `sequence` of a test lists every call of the session. No other call may come before, between or
after them.

    expected: {type: sequence_valid, sequence: [Plan, Review, Apply]}

After `Plan` only `Review` may run, and after `Apply` no call may. All calls before must also have
succeeded: a call that failed, or has no result yet, does not count as its step. `sequence: []` requires
a session without calls. Aliases are not resolved, as in `blocklist` and `allowlist`.
";

    Problem TESTS_SKIPPED = "tests_skipped": "tests that are not about sequences were skipped",
"A test file can contain tests of many kinds. Tests with `metric: sequence_valid`, or with
`type: sequence_valid` in `expected` or in an entry of `assertions`, contain sequence rules, and those that
forbid tools (`tool_blocklist`, `trace_must_not_call_tool`) are read as a `blocklist`. Others that require or
bound calls are an error. All others are skipped, and so is an assertion with calls of its own (`test_trace`).

    - {id: arguments, expected: {type: args_valid, policy: arguments.yaml}}    # skipped

The notice counts them, because a skipped test does not stop any call. A metric that looks like a
misspelt `sequence_valid` is an error.
";

    Problem IDLE_KEY = "idle_key": "the key has no effect in this rule",
"`unsure`, `opaque` and `sweeps` say what happens when it is not known what a call does. A rule that matches
only tools and arguments has no such doubt.

    - {type: never, call: admin_reset, unsure: allow}

A rule that stops no call, such as `require` or `after`, never asks a person, so `ask` means the same as the
default there.

    - {type: require, tool: {runs: {program: pytest}}, unsure: ask}
";

    Problem STAR_IN_PATTERN = "star_in_pattern": "a star or another sign in `pattern` is an ordinary character",
"The `pattern` of a blocklist is plain text that may be anywhere in a name. So `admin_*` matches only
names that contain a star, which no tool has. It is the same with the signs of expressions, such as `^` and
`|`, and with a leading or trailing space.

    - {type: blocklist, pattern: admin_*}    # blocks nothing
    - {type: blocklist, pattern: ^admin_}    # blocks nothing
    - {type: blocklist, tools: [admin_*]}    # blocks admin_delete

Use `tools` for names with stars, or remove the sign from `pattern`.
";

    Problem ALIAS_IN_LIST = "alias_in_list": "lists of tools do not resolve aliases",
"An entry of a `blocklist` or an `allowlist` is a tool's own name. If it is also the name of an alias, the
alias's members are not on the list.

    aliases: {Write: [write_file, append_file]}
    rules: [{type: blocklist, tools: [Write]}]

This blocks a tool called `Write`, but neither `write_file` nor `append_file`. List the members. The same
holds for an alias in the list of another alias.
";

    Problem UNUSED_ALIAS = "unused_alias": "no rule names this alias",
"The document gives a name to several tools and never uses it.

    aliases: {Search: [search_web, search_kb]}

Check the spelling in the rules: names are case-sensitive.
";

    Problem BROKEN_PATTERN = "broken_pattern": "an argument pattern is not a regular expression, so it never matches",
"A pattern in `args_match` must be a regular expression that Rust's `regex` crate accepts. This one is
not, so it matches nothing.

    - {type: max_calls, tool: {tool: bash, args_match: {command: \"[\"}}, max: 0}

This rule forbids nothing. Lookaround and backreferences are not supported.
";

    Problem EQUAL_OPERANDS = "equal_operands": "both sides of the rule name the same tool",
"The rule needs two different tools, but both sides name the same one.

    - {type: before, first: Login, then: Login}

`before` always passes, because a call is its own `first`. `immediately_before` denies the first call,
`never_after` denies the second, and `after` requires one call after the other. Check both names.
";

    Problem VAGUE_ID = "vague_id": "the test's id does not say what it is about",
"Findings name the test that a rule belongs to, so the id should say what the test is about.

    - {id: test_1, metric: sequence_valid, rules: []}
    - {id: verify_before_delete, metric: sequence_valid, rules: []}

The second id explains a finding without opening the file.
";

    Problem OLD_SEQUENCES = "old_sequences": "`sequences` is the old form of sequence rules",
"In old documents `sequences` contains lists of names, and each name must come before the next. In the
current form it contains rules.

    sequences:
      - [GetCustomer, UpdateCustomer]

Each pair of neighbours is read as a `before` rule. `rulestep migrate FILE` prints the current form, and
`--write` changes the file.
";
}
