//! Codes of what can be wrong with policy documents, whatever their dialect.

use super::codes;

codes! {
    Problem SYNTAX = "syntax": "the text is not YAML, or not JSON",
"The file cannot be read as the format that its name promises: JSON for `.json`, YAML for everything
else.

    preconditions:
      - requires_prior_tool: lint
     description: no column fits this key

The place is where reading had to give up; the mistake is there or shortly before. Usual causes are
a tab in the indentation, an unclosed bracket or quote, text with `: ` in it without quotes, and a
comma before the closing bracket in JSON. Other documents of the same file are still read.
";

    Problem DUPLICATE_KEY = "duplicate_key": "a mapping has the same key twice",
"Most readers silently take one of the two values, and not all the same one. So it is an error, shown
at both places.

    tool: deploy
    preconditions: [{requires_prior_tool: test}]
    preconditions: [{requires_prior_tool: lint}]

Put both values under one key, or take one out.
";

    Problem KEY_NOT_TEXT = "key_not_text": "a key of a mapping is not text",
"YAML allows numbers, booleans, lists and nothing at all as keys. Policies know text only.

    limits:
      404: {maxPerSession: 1}

Write the key in quotes: `\"404\"`. A key of nothing at all is usually a colon too many.
";

    Problem BAD_TAG = "bad_tag": "a YAML tag is unknown or does not fit its value",
"Only the tags of YAML's core schema are known: `!!str`, `!!int`, `!!float`, `!!bool`, `!!null`,
`!!seq`, `!!map`.

    equals: !!int seven
    tool: !secret deploy

The first is not a whole number, the second tag is nobody's. Take the tag out. Text that begins with
`!` stands in quotes.
";

    Problem BAD_NUMBER = "bad_number": "a number that JSON does not have",
"Calls and results are JSON, which has no infinity and no not-a-number. So these can never equal
anything.

    - {path: $.score, lte: .inf}

Leave a bound that does not bound anything out. Numbers in base 8 or 16 may have up to 128 bits; in
base 10 they may have any length. If text is meant, write it in quotes.
";

    Problem BAD_ALIAS = "bad_alias": "a YAML alias without its anchor",
"`*name` repeats the value that `&name` marked earlier in the same document.

    preconditions: [*eligible]

Here no `&eligible` stands before it, or the alias stands within the very value it repeats. Names do
not reach from one document of a file to the next. If text is meant, write it in quotes: `\"*\"`.
";

    Problem TOO_DEEP = "too_deep": "lists and mappings nest too deep",
"More than 128 levels of lists and mappings within each other are not read. No policy needs a tenth
of it, so such a text is a mistake or an attack.

Aliases count with the levels of what they stand for.
";

    Problem TOO_LARGE = "too_large": "the document holds too many values",
"A file may hold a million values, and its aliases may repeat 64 MB of text. Aliases count with all
that they stand for, every time.

    a: &a [x, x, x, x, x, x, x, x, x]
    b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]

A few more lines of this kind would fill any memory. Split the file, or write out less by aliases.
";

    Problem UNKNOWN_KEY = "unknown_key": "a key that is not known here",
"A key that nobody reads would be a rule that nobody keeps, so it is an error. The nearest known key
is named, and so are all that are known at this place.

    - requires_prior_tool: check_eligibility
      with_outputs: [{path: $.eligible}]

Here `with_output` was meant. Also look at the indentation: a key may have slipped into the wrong
mapping.
";

    Problem MISSING_KEY = "missing_key": "a key that must be there is not",
"The mapping means nothing without this key.

    preconditions:
      - with_output: [{equals: true}]

An entry of `with_output` needs its `path`. The place shown is the key of the mapping, or its first
key.
";

    Problem WRONG_TYPE = "wrong_type": "a value of another type than expected",
"Text, numbers, booleans, lists and mappings are not turned into each other.

    forbids_after: void_order
    tool: 404

The first must be a list even of one: `[void_order]`. The second is a number: write `\"404\"`. In
YAML 1.2 `yes`, `no`, `on` and `off` are text; booleans are `true` and `false`. A key with nothing
behind its colon has the value nothing.
";

    Problem BAD_VALUE = "bad_value": "a value that is not allowed here",
"The value has the right type, though not one of the values that mean something at this place.

    - {sequence: [runPython], action: stop}

The message lists what is allowed (here `deny` and `halt`), and names the nearest if one is near.
";

    Problem BAD_PATH = "bad_path": "a JSONPath that cannot be read here",
"Paths are JSONPath as RFC 9535 defines it. They begin with `$`.

    path: $.items[0].id
    path: $['order id']

A `resource` path must name one place: names and indices only, no `*`, no `..`, no slices and no
filters, because the one value there is compared with another. `with_output` takes any query.
";

    Problem STAR_IN_NAME = "star_in_name": "a wildcard in a name that is compared as it is written",
"Tool names are exact at most places of a policy: no call has a tool named `slack.*`, so the rule would
never apply. It is an error for `*`, `?`, `[a-z]`, `{a,b}` and `|`.

    requires_prior_tool: get_*
    - {sequence: ['slack.*'], action: deny, reason: security:chat}

The help names the form that works: `{namePrefix: slack.}` in a sequence policy, otherwise one entry for
each tool. Sequence rules read `*` and `?` in the `tools` of `blocklist` and `allowlist`, and their
`aliases` give several tools one name.
";

    Problem DUPLICATE_CONTRACT = "duplicate_contract": "two contracts for one tool",
"Within one version a tool has one contract. Two would leave open which precondition is meant to be
the whole list, so they are an error, shown at both places.

Merge the two documents; preconditions add up, and so do the lists of `forbids_after`. If one of the
files is an old copy, take it out of the folder.
";

    Problem EMPTY_DOCUMENT = "empty_document": "a policy document says nothing",
"The file or the document between two `---` has no value: only white space or comments.

An empty policy allows everything, which is hardly ever what an empty file is meant to say. Delete
it, or write its rules.
";

    Problem UNRECOGNISED_DOCUMENT = "unrecognised_document": "no dialect claims this document",
"Which dialect a document is written in shows in its keys: `tool` with `preconditions` or
`forbids_after` is a contract, and so on for each. None fits here.

    services: {web: {image: nginx}}

In a folder such a file is counted and noted, since folders hold other YAML too. A file that was named
itself must be a policy: `dialect: NAME` in it says which. A key that is nearly a known one
(`preconditons`) is the error `unknown_key`, in a folder as well.
";

    Problem NOT_ENFORCED = "not_enforced": "a guard that would not be enforced",
"The document holds a guard that is known but not supported, or one at a place where it guards nothing.
Reading on without it would allow the calls that it was written to stop, so it is an error.

    tools: {allow: [read_file], deny: [shell]}             # Assay's lists of tools
    phases: [{name: triage, initial: true}]                # Vesanor's session.yaml
    conditions: [{type: regex, regex: 'cancel'}]           # a rejection plan without a tool
    {name: a, type: say, rejectionPlan: {conditions: []}}  # a plan on something that is no tool

The help names the form that works, if there is one. Otherwise take the guard out, so that nobody relies
on it, or keep the file outside the folder of policies.
";

    Problem NO_RULES = "no_rules": "a document in which nothing is a rule",
"The document was read without a mistake, and nothing in it can stop a call.

    tool: issue_refund
    description: only after the eligibility check

Here the `preconditions` are missing. Write them, or delete the file: as it is, a run that it passes says
nothing. Of configurations of assistants in a folder, which mostly hold no rejection plan, this is only
a notice.
";

    Problem UNKNOWN_DIALECT = "unknown_dialect": "there is no dialect of this name",
"`dialect: NAME` in a document, and `--only NAME`, choose among the dialects that Rulestep knows.

    dialect: contarct

The message names the nearest, here `contract`. Without the key a document is recognised by its other
keys.
";

    Problem READER_FAULT = "reader_fault": "the reader of a policy failed by itself",
"Something in the program panicked while it read the document. Which rules the document has is not known, so
the version does not decide, as with any other error.

    error[reader_fault]: the policy cannot be read: its reader failed: attempt to divide by zero

This is a defect in the program, whatever the document says. Please report it together with the document.
";
}
