//! Codes of probable mistakes: rules that contradict each other, that never decide, or that recordings refute.

use crate::codes;

codes! {
    Problem MISSPELT_TOOL = "misspelt_tool": "a tool's name is nearly the name of another tool of the policy",
"Only one rule has this name, and other rules have a name that differs from it by a slip of the keyboard.

    tool: issue_refund
    preconditions: [{requires_prior_tool: check_eligibilty}]    # another contract is about check_eligibility

A required tool that does not exist never succeeds, so every call that needs it is denied. If both tools
exist, write `# rulestep: allow(misspelt_tool)` at the end of the line.
";

    Problem SELF_DEPENDENCY = "self_dependency": "a tool needs itself",
"A tool that must have succeeded before it runs can never run.

    {type: sequential_dependency, dependencies: {deploy: [deploy]}}
    {tool: deploy, preconditions: [{requires_prior_tool: deploy}]}

Remove it from its own list. To allow only one call to a tool, use `forbids_after` in its contract, or
`limits` in a sequence policy.
";

    Problem DEPENDENCY_CYCLE = "dependency_cycle": "tools need each other in a circle",
"Each of these tools needs the next to succeed first, and the last needs the first. None of them can ever
run. The rules may be of several documents and languages.

    {type: sequential_dependency, dependencies: {build: [test], test: [build]}}

    - {type: before, first: build, then: test}    # two sequence rules
    - {type: before, first: test, then: build}

Remove one of the entries.
";

    Problem REQUIRED_TOOL_DENIED = "required_tool_denied": "a tool that is required can never run",
"One rule requires a call to the tool, and another one denies every call to it.

    - {type: require, tool: verify_identity}
    - {type: allowlist, tools: [get_customer, delete_customer]}    # verify_identity is missing

The same is reported if a precondition needs a tool that a blocklist, an allowlist, a limit of 0 or a
forbidden sequence of one step denies. Then the tool that needs it is always denied too.
";

    Problem PREREQUISITE_BANS = "prerequisite_bans_dependant": "what a tool needs first forbids the tool",
"The tool needs another one to run first. Once that one has run, the tool is forbidden for the rest of the
session. So the tool can never run.

    {tool: issue_refund, preconditions: [{requires_prior_tool: check_eligibility}]}
    {tool: check_eligibility, forbids_after: [issue_refund]}

Remove one of the two rules, or let something else forbid the tool.
";

    Problem CONTRADICTORY_RULES = "contradictory_rules": "two rules cannot both be kept",
"What one rule asks for, the other one forbids.

    - {type: after, trigger: open_ticket, then: close_ticket, within: 5}
    - {type: never_after, trigger: open_ticket, forbidden: close_ticket}

Every session that calls `open_ticket` violates one of them. The finding names both rules. Rules with a
`when` are compared only with rules that apply to the same sessions.
";

    Problem CONTRADICTORY_CONDITIONS = "contradictory_conditions": "conditions on one value that no value passes",
"All conditions of a precondition must pass for the same result, and these cannot.

    with_output:
      - {path: $.score, gte: 10, lte: 5}
      - {path: $.status, equals: done, exists: false}

So the precondition is never satisfied, and every call to the tool is denied. Conditions on a value and on
something inside it are compared too: `$.order` cannot equal `\"A\"` while `$.order.id` exists.
";

    Problem BINDINGS_NEVER_MEET = "bindings_never_meet": "two bindings that no value of a call can satisfy",
"Each `resource` makes a value of this call equal to a value of an earlier one. Together with the conditions
on those earlier values, no value of this call is left.

    - requires_prior_tool: check
      resource: {bind_from: arguments, path: $.id, prior: {bind_from: output, path: $.id}}
      with_output: [{path: $.id, equals: A}]
    - requires_prior_tool: approve
      resource: {bind_from: arguments, path: $.id, prior: {bind_from: output, path: $.id}}
      with_output: [{path: $.id, equals: B}]

Paths that no call can have together, as `$.order.id` and `$.order[0]`, are reported too.
";

    Problem SHADOWED_RULE = "shadowed_rule": "the rule never decides, because another one always decides first",
"Another rule stops every call that this one would stop.

    forbidden:
      - {sequence: [pay], action: deny, reason: security:pay}
      - {sequence: [login, pay], action: deny, reason: security:login}    # never reached

The first matching sequence of a document decides. A rule about a tool that is denied in any case, for
example by a blocklist, has no effect either, and neither has the larger of two limits on the same tool.
Remove the rule, or put the special case first.
";

    Problem NEVER_MET = "never_met": "the rule always fails, or never applies",
"The rule has the same outcome for every session:

- `within: 0` leaves no room for a call, and every name contains an empty `pattern`;
- an empty allowlist allows no call, and two allowlists with no name in common allow none either;
- an allowlist with `*` allows every call, and a sequence with one step has nothing to put in order;
- an empty blocklist, a sequence without steps, an alias without members, or an old `sequences` entry with
  fewer than two names, never applies;
- `requires_step_count: {gte: 0}` holds before the first turn;
- a rejection plan without conditions never rejects a call;
- a pattern can never be found, such as `a^`, `/rm/i`, `> 500`, `!staging`, `“prod”`, or a block (`|`) that
  ends with a line break;
- `yes`, `no`, `on`, `off` or `True` is written where calls and results have `true` or `false`. In YAML 1.2
  the first four are texts; put them in quotes if texts are meant.

    - {type: allowlist, tools: []}    # denies every call

Correct the rule, or remove it.
";

    Problem DUPLICATE_RULE = "duplicate_rule": "the same rule is written twice",
"The second one has no effect.

    tool: issue_refund
    forbids_after: [void_order, void_order]

`rulestep check --fix` removes it. If something else was meant, correct it.
";

    Problem COMMAND_AS_TEXT = "command_as_text": "a regular expression over a command line where a key matches what the call does",
"The expression is searched in the text of the command. A command can be spelt in many ways, and the text can
name a command without running it.

    - type: never
      # Misses `git -C . push`, stops `grep 'git push'`.
      call: {tool: Bash, args_match: {command: 'git\\s+push'}}

    - type: never
      call: {tool: Bash, runs: {program: git, args: [push]}}    # every push, and nothing else

Expressions that name a program, perhaps with its first words and options, are `runs`; those that name a
file are `reads`. `writes`, `deletes` and `reaches` ask for other things. The fix is a suggestion, because
other calls are stopped with it: `rulestep check --fix --suggested` applies it. `rulestep explain shell
'COMMAND'` shows what a command does.
";

    Problem ZERO_LIMIT = "zero_limit": "every call to the tool reaches a limit of 0",
"Every call to the tool reaches a limit of 0, so a rule that is enforced never lets it run, and one that only
reports (`effect: report`, `mode: shadow`) reports every call. That can be said directly, and then findings do
not speak of a limit.

    limits: {drop_database: {maxPerSession: 0, action: deny, reason: security:drop}}
    forbidden: [{sequence: [drop_database], action: deny, reason: security:drop}]

In sequence rules, `{type: blocklist, tools: [drop_database]}` says the same as `max: 0`. If the tool may run
once, write 1.
";

    Problem EMPTY_SEQUENCE = "empty_sequence": "a forbidden sequence without steps stops every call",
"After any calls at all, an empty sequence is complete.

    forbidden:
      - {sequence: [], action: halt, reason: security:none}

So the first call of every session is stopped. Write the steps, or remove the rule.
";

    Problem EMPTY_PREFIX = "empty_prefix": "an empty prefix matches every tool",
"Every name begins with the empty text.

    forbidden:
      - {sequence: [read_secrets, {namePrefix: ''}], action: deny, reason: security:exfiltration}

Here any call directly after `read_secrets` is stopped. It is a notice, because that may be meant: then write
`# rulestep: allow(empty_prefix)` at the end of the line. If every step is empty, every call is stopped.
";

    Problem TWO_CATEGORIES = "two_categories": "a reason with two categories",
"Reports group findings by the category of their reason, the word before its first colon. The second category
is never counted.

    reason: security:exfiltration, cost:api

Keep the category that matters more, or split the rule in two.
";

    Problem UNKNOWN_TOOL = "unknown_tool": "no tool has this name",
"Nothing that is known about tools has this name: no section of the document lists it, or with
`rulestep check --against SESSIONS` and in the workbench, no recording calls or offers it.

    {type: sequential_dependency, dependencies: {deploy: [lnt]}}

A tool that does not exist never succeeds, so every tool that needs it is always denied, and rules about it
have no effect. The message names the nearest known tool, and how often it is called. It is a notice only
if nothing similar is known and no recorded call needs the tool: the recordings may be of another agent.
";

    Problem PATH_NOT_RECORDED = "path_not_recorded": "no recorded call has a value at this path",
"With `--against SESSIONS`, every path of a rule is looked up in the recorded calls to its tool. None has a
value there, so the rule denies every call that needs one.

    with_output: [{path: $.eligible, equals: true}]    # the results are {\"result\": {\"eligible\": true}}

Compare the path with a recorded call. Often the value is one level deeper.
";

    Problem CONDITION_NEVER_PASSES = "condition_never_passes": "no recorded value passes this condition",
"The recorded calls have a value at the path, and the condition passes for none of them.

    with_output: [{path: $.status, equals: OK}]    # the results say \"ok\"

Values are compared as JSON: 1 and \"1\" are different, and so are \"OK\" and \"ok\". For a pattern in
`args_match` it is a notice: a rule may well be about calls that never happened.
";

    Problem CONDITION_ALWAYS_PASSES = "condition_always_passes": "every recorded value passes this condition",
"The condition passes for each recorded call, so nothing shows that it distinguishes anything.

    with_output: [{path: $.status, exists: true}]

This is only a notice: a guard is often there for what has not happened yet. Check that the path is the one
that says whether the call did what it should.
";

    Problem FIRES_ON_EVERY_CALL = "fires_on_every_call": "the rule objects to every recorded call it is checked for",
"A guard lets some calls pass. This one stops all of them, so either the recordings are of an agent that
breaks the rule each time, or the rule asks for something that never happens.

    prior_tool_missing: check_eligibility has not succeeded in an earlier turn    28 of 28 calls

`rulestep replay --by rule` lists the calls. Rules that deny a tool altogether are not reported.
";

    Problem RULE_NEVER_EXERCISED = "rule_never_exercised": "no recorded call is one that the rule is about",
"With these recordings nothing is known of the rule: it may be right, misspelt, or about another agent.

    rulestep check --against sessions/ --deny rule_never_exercised

`rulestep coverage` shows the same for every rule. `--deny` makes it an error.
";

    Problem WHEN_NEVER_EQUAL = "when_never_equal": "`when` compares with a value that sessions rarely have",
"A rule with `when` does not apply to sessions whose context has another value at that key. Values are
compared as JSON: a list equals only the same list, and the text \"true\" does not equal `true`. In YAML 1.2,
`yes`, `no`, `on` and `off` without quotes are texts.

    - {type: require, tool: Audit, when: {context.is_admin: \"true\"}}      # off where is_admin is true
    - {type: require, tool: Audit, when: {context.is_admin: yes}}         # the same
    - {type: require, tool: Audit, when: {context.role: [admin, root]}}   # off where role is admin

Write `true` and numbers without quotes, and write one rule for each value. If `yes` is a text that sessions
have, put it in quotes.

With recordings, it is also reported where no session has the value and some have one that it was probably
meant to equal (`Admin` and `admin`, `1` and `true`).
";

    Problem RULE_NEVER_FIRED = "rule_never_fired": "the rule was checked and has no findings",
"Every recorded call that the rule is about satisfies it. A good rule looks like this, but so does a rule that
cannot fail.

    rulestep check --against sessions/ --deny rule_never_fired

Denying this code denies `rule_never_exercised` as well: a rule that is never checked has no findings. A case
file (`rulestep test`) with a call that the rule stops is the better proof.
";

    Problem UNUSED_ALLOW = "unused_allow": "`allow` where nothing is to be allowed",
"The comment allows a code on its line, and nothing is reported there with this code. It would hide a mistake
that somebody makes later.

    - {type: before, first: a, then: b}    # rulestep: allow(equal_operands)

Remove the comment; `rulestep check --fix` does. Errors, without which the policy would not load, cannot be
allowed.
";

    Problem BAD_ALLOW = "bad_allow": "a comment for Rulestep that cannot be read",
"A comment that begins with `# rulestep:` is an instruction. There is one:

    # rulestep: allow(shadowed_rule, zero_limit)

It is at the end of the line on which the finding begins, or on a line of its own before it.
";

    Problem UNKNOWN_CODE = "unknown_code": "there is no code of this name",
"`--allow`, `--deny`, `[lint]` in `rulestep.toml` and `# rulestep: allow(…)` take the codes that findings about
policies have. The message names the nearest one.

    [lint]
    shadowd_rule = \"allow\"

`rulestep explain` lists all codes.
";

    Problem BAD_LINT_SETTINGS = "bad_lint_settings": "the lint settings in `rulestep.toml` cannot be used",
"`rulestep.toml` is TOML. Its table `lint` gives codes a level: `allow` hides the findings, `warn` makes them
warnings, `deny` makes them errors of `rulestep check`.

    [lint]
    rule_never_fired = \"deny\"
    zero_limit = \"allow\"

The nearest file counts: in the folder of the policy, or in a folder above it. A setting that cannot be read
has no effect, and everything else in the file is used.
";
}
