//! Codes of problems that documents of every dialect can have.

use crate::codes;

codes! {
    Problem SYNTAX = "syntax": "the text is not YAML, or not JSON",
"The file's name decides its format: JSON for `.json`, YAML for every other name. The text is not valid in
this format.

    preconditions:
      - requires_prior_tool: lint
     description: no column fits this key

The marked place is where reading stopped; the mistake is there or shortly before. Common causes are a tab
in the indentation, an unclosed bracket or quote, text that contains `: ` without quotes, and a comma
before the closing bracket in JSON. Other documents of the same file are still read.
";

    Problem DUPLICATE_KEY = "duplicate_key": "a mapping has the same key twice",
"Most readers silently use one of the two values, and not all use the same one. So it is an error, which
shows both places.

    tool: deploy
    preconditions: [{requires_prior_tool: test}]
    preconditions: [{requires_prior_tool: lint}]

Merge the values under one key, or remove one.
";

    Problem KEY_NOT_TEXT = "key_not_text": "a key of a mapping is not text",
"YAML allows numbers, booleans, lists and empty values as keys. Policies allow only text.

    limits:
      404: {maxPerSession: 1}

Put the key in quotes: `\"404\"`. If the key is empty, there is usually a colon too many.
";

    Problem BAD_TAG = "bad_tag": "a YAML tag is unknown or does not fit its value",
"Only the tags of YAML's core schema are allowed: `!!str`, `!!int`, `!!float`, `!!bool`, `!!null`,
`!!seq`, `!!map`. A value must fit its tag.

    equals: !!int seven
    tool: !secret deploy

`seven` is not a whole number, and `!secret` is not a known tag. Remove the tag. Put text that begins
with `!` in quotes.
";

    Problem BAD_NUMBER = "bad_number": "a number that JSON does not have",
"Calls and results are JSON, which has no infinity and no not-a-number. So such a number cannot equal any
value in them.

    - {path: $.score, lte: .inf}

Remove a bound that has no effect. Numbers in base 8 or 16 can have up to 128 bits; in base 10 they can
have any length. If you mean text, put it in quotes.
";

    Problem BAD_ALIAS = "bad_alias": "a YAML alias without its anchor",
"`*name` repeats the value that `&name` marked earlier in the same document.

    preconditions: [*eligible]

Here no `&eligible` comes before it, or the alias is inside the value that it repeats. An anchor is known
only in its own document of the file. If you mean text, put it in quotes: `\"*\"`.
";

    Problem TOO_DEEP = "too_deep": "lists and mappings nest too deep",
"Lists and mappings can nest up to 128 levels deep. No policy needs a tenth of that, so a deeper text is a
mistake or an attack.

    [[[[[[[[ … ]]]]]]]]

An alias adds the levels of the value that it repeats. Write the document with fewer levels.
";

    Problem TOO_LARGE = "too_large": "the document contains too many values",
"A file can contain a million values, and its aliases can repeat 64 MB of text. Each alias counts with
all the values that it repeats.

    a: &a [x, x, x, x, x, x, x, x, x]
    b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]

A few more lines of this kind would fill any memory. Split the file, or use fewer aliases.
";

    Problem UNKNOWN_KEY = "unknown_key": "a key that is not known here",
"A misspelt key would be a rule that is not enforced, so an unknown key is an error. The message names the
nearest known key, and the help lists all keys that are known at this place.

    - requires_prior_tool: check_eligibility
      with_outputs: [{path: $.eligible}]

Here `with_output` was meant. Check the indentation too: the key may be in the wrong mapping.
";

    Problem MISSING_KEY = "missing_key": "a required key is missing",
"The mapping has no meaning without this key.

    preconditions:
      - with_output: [{equals: true}]

An entry of `with_output` needs a `path`. The marked place is the key of the mapping, or its first key.
Add the missing key.
";

    Problem WRONG_TYPE = "wrong_type": "a value of another type than expected",
"Values are not converted: where text is expected, a number is an error, and so on.

    forbids_after: void_order
    tool: 404

The first must be a list, even with one item: `[void_order]`. The second is a number: write `\"404\"`. In
YAML 1.2, `yes`, `no`, `on` and `off` are text; booleans are `true` and `false`. A key without a value
after its colon has the value null.
";

    Problem BAD_VALUE = "bad_value": "a value that is not allowed here",
"The value has the right type, but it is not one of the values that are allowed at this place.

    - {sequence: [runPython], action: stop}

The message lists the allowed values (here `deny` and `halt`), and names the nearest one if there is one.
";

    Problem BAD_PATH = "bad_path": "a JSONPath that cannot be read here",
"Paths are JSONPath, as defined by RFC 9535. They begin with `$`.

    path: $.items[0].id
    path: $['order id']

A `resource` path must name one place, because it selects one value to compare. Use only names and
indices: no `*`, no `..`, no slices and no filters. `with_output` accepts every query.
";

    Problem STAR_IN_NAME = "star_in_name": "a wildcard in a name that is compared exactly",
"At most places of a policy, tool names are exact. No tool is named `slack.*`, so the rule would never
apply. That is why `*`, `?`, `[a-z]`, `{a,b}` and `|` are errors in a name, and so are other signs that no
name has: `^`, `$`, `(`, `)`, `{{`, a comma before a blank, those of regular expressions (`delete_.+`,
`drop\\w*`, `/del/`, `re:x`), the `%` of SQL at an end, and `!` at the beginning.

    requires_prior_tool: get_*
    - {sequence: ['slack.*'], action: deny, reason: security:chat}
    - {type: blocklist, tools: ['delete_.*']}          # delete_*
    - {type: allowlist, tools: [get_*, '!get_keys']}   # and {type: blocklist, tools: [get_keys]}

The help shows the form that works: `{namePrefix: slack.}` in a sequence policy, or one entry for each
tool in other languages. Sequence rules accept `*` and `?` in the `tools` of `blocklist` and `allowlist`,
and their `aliases` give several tools one name. `slack.*` is a glob there, over names with a dot;
`delete_.*` is an expression, and lists have no exceptions.
";

    Problem MATCHES_NOTHING = "matches_nothing": "a text that no call can match",
"A policy compares names, words, hosts and paths with what calls have. Some texts can never be what a call
has, so that the rule around them would look like a guard and stop nothing.

    runs: {program: git push}               # program: git, args: [push]
    runs: {program: git, args: [--force]}   # flags: [--force]
    runs: {program: git, args: [push|pull]} # args: [[push, pull]]
    reaches: https://host.example:443/path  # reaches: host.example
    reaches: .host.example                  # reaches: [host.example, '*.host.example']
    reads: $HOME/.netrc                     # reads: ~/.netrc
    reads: [!.env]                          # reads: ['**', !.env]
    tools: [“rm”, 'rm,', 'rm ']             # tools: [rm]
    existing_files: ['src/{a,b}.py']        # existing_files: [src/a.py, src/b.py]
    sequence: [a, namePrefix:slack.]        # sequence: [a, {namePrefix: slack.}]

The help shows the form that works. A letter of another script among those of a word, which may look the
same (a Cyrillic `е` in a Latin word), is shown with its number. In a list of tools, a path or a host,
write `?` in place of a sign that is meant as it is: it matches any letter.
";

    Problem BACKSPACE_IN_PATTERN = "backspace_in_pattern": "a pattern holds a backspace where a word boundary was meant",
"In JSON, and in YAML between double quotes, `\\b` is the backspace character, so the pattern searches
for a backspace.

    {\"type\": \"regex\", \"regex\": \"\\bcancel\\b\"}      finds nothing
    {\"type\": \"regex\", \"regex\": \"\\\\bcancel\\\\b\"}    finds the word

In YAML, single quotes leave backslashes as they are: `regex: '\\bcancel\\b'`.
";

    Problem DUPLICATE_CONTRACT = "duplicate_contract": "two contracts for one tool",
"In one version, a tool can have only one contract. With two, it would not be clear whether one replaces
the other, so they are an error, which shows both places.

    contracts/issue_refund.yaml: tool: issue_refund
    contracts/old/refund.yaml:   tool: issue_refund

Merge the two documents: one list of preconditions, one list of `forbids_after`. If one of the files is an
old copy, remove it from the folder.
";

    Problem EMPTY_DOCUMENT = "empty_document": "a policy document is empty",
"The file, or the document between two `---`, contains only white space or comments.

    # contracts/issue_refund.yaml
    # to be written

An empty policy would allow everything, which is rarely what you want. Write the rules, or delete the
file.
";

    Problem UNRECOGNISED_DOCUMENT = "unrecognised_document": "the document is not a policy in any known language",
"The keys of a document decide its dialect: for example, `tool` with `preconditions` or `forbids_after` is
a contract. The keys of this document fit no dialect.

    services: {web: {image: nginx}}

In a folder, such a file is only a notice, because folders contain other YAML too. A file that you name
must be a policy: add `dialect: NAME` to it. A key that is almost a known one (`preconditons`) is the
error `unknown_key`, also in a folder.
";

    Problem NOT_ENFORCED = "not_enforced": "a guard that would not be enforced",
"The document contains a guard that is not supported, or one at a place where it has no effect. Skipping
it would allow the calls that it should stop, so it is an error.

    tools: {allow: [read_file], deny: [shell]}             # Assay's lists of tools
    phases: [{name: triage, initial: true}]                # Vesanor's session.yaml
    conditions: [{type: regex, regex: 'cancel'}]           # a rejection plan without a tool
    {name: a, type: say, rejectionPlan: {conditions: []}}  # a plan on something that is not a tool

The help shows the form that works, if there is one. If there is none, remove the guard, so that nobody
relies on it, or move the file out of the folder of policies.
";

    Problem NO_RULES = "no_rules": "the document has no rules",
"The document is valid, but nothing in it can stop a call.

    tool: issue_refund
    description: only after the eligibility check

Here the `preconditions` are missing. Write them, or delete the file. For the configuration of an assistant
in a folder this is only a notice, because most configurations have no rejection plan.
";

    Problem UNKNOWN_DIALECT = "unknown_dialect": "there is no policy language of this name",
"`dialect: NAME` in a document, and `--only NAME`, choose one of the dialects that Rulestep knows.

    dialect: contarct

The message names the nearest one, here `contract`. Correct the name, or remove the key: the document is
then recognised by its other keys.
";

    Problem READER_FAULT = "reader_fault": "the program failed while it read a policy",
"The program panicked while it read the document. It is not known which rules the document has, so the
version does not decide, as with any other error.

    error[reader_fault]: the policy cannot be read: its reader failed: attempt to divide by zero

This is a defect in the program, not in the document. Please report it together with the document.
";
}
