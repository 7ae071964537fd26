//! Codes of problems with recordings, and with named files.

use crate::codes;

codes! {
    Problem MISSING_FILE = "missing_file": "there is no such file or folder",
"A path that you named does not exist. Paths are relative to the folder in which the program was started.

    rulestep replay sessions/*.jsonl

Rulestep expands `*`, `?` and `[` itself if the shell does not. Then the message means that no file
matched.
";

    Problem UNREADABLE_FILE = "unreadable_file": "a file cannot be read",
"The file exists, but the system refused to read it, or its bytes are not UTF-8 text. The message gives the
reason, and for text the line and byte of the first problem.

Other files are still read. Convert text that has another encoding:

    iconv -f latin1 -t utf-8 old.json > new.json
";

    Problem EMPTY_FOLDER = "empty_folder": "a folder contains nothing to read",
"The folder and its subfolders contain no file of the right kind. The search skips hidden files and the
folders `target` and `node_modules`.

    rulestep replay sessions/.hidden/run.log

A file that you name is always read, whatever its name.
";

    Problem LINK_REPEATS = "link_repeats": "a link leads to a folder that is already read",
"Symbolic links are followed, but each folder is read once: under its own path if it is inside the named
folder, else under the first link to it. So a link to a parent folder does no harm.

    policies/current -> releases/7
    policies/all -> .

From a git revision only files are read. Links and submodules in it are skipped with this notice.
";

    Problem NAMED_TWICE = "named_twice": "a file is named more than once",
"Several of the names lead to the same file: a folder and a file in it, overlapping patterns, a link, or
the same name again. The file is read once, under the first of these names, so that nothing in it is counted
twice.

    rulestep replay sessions sessions/refund-124.json
    rulestep replay sessions ./sessions

Copies of a file are files of their own, and each is read.
";

    Problem NOT_SEARCHED = "not_searched": "a folder has files that are not read",
"A search of a folder passes over hidden files and folders, `target` and `node_modules`, since these are
seldom anybody's policies or recordings. Where they hold files that would be read elsewhere, this says so.

    policies/orders.yaml       is read
    policies/target/ship.yaml  is not

To read them, name them beside the folder: `-p policies -p policies/target`.
";

    Problem NO_GIT = "no_git": "the `git` program could not be run",
"Rulestep reads `git:REVISION` versions with the `git` program, but could not find or start it.

    git worktree add ../base main

Install git, or name a folder as the version: check out the revision with a command like this one.
";

    Problem NO_REPOSITORY = "no_repository": "the path is not in a git repository",
"`git:REVISION` versions are read from the repository that contains the path, and there is none.

    git:HEAD:contracts

This reads the repository that contains `contracts`, or the current folder if `contracts` no longer exists.
Start the program inside the repository, or name a file or folder as the version.
";

    Problem GIT_FAILED = "git_failed": "git ended with an error",
"The `git` program ended with an error. The message gives the first line of its output.

A repository that belongs to another user is refused until it is trusted:

    git config --global --add safe.directory /path/to/repository

In a partial clone, objects may be missing. Rulestep does not fetch them, so run `git fetch` first.
";

    Problem BAD_REVISION = "bad_revision": "git knows no such revision",
"The text after `git:` is not a commit, branch or tag of this repository.

    git:HEAD    git:main    git:v1.2:contracts    git:HEAD~3:policies/refunds.yaml

A branch of a remote is `origin/NAME`. In a shallow clone, older commits are missing: run `git fetch
--unshallow`.
";

    Problem NOT_IN_REVISION = "not_in_revision": "the path is not part of that revision",
"The revision exists, but has no file or folder at this path.

    git:HEAD:policies

A path after a revision is relative to the current folder, like every path. A file that was never
committed is in no revision. A file that was moved later has its old path in the revision.
";

    Problem NOT_A_SESSION = "not_a_session": "the file is not a recording in a known format",
"Recordings are recognised by their content, not by their name. This file matches no known format.

    rulestep replay --from anthropic log.txt

With `--from FORMAT`, the file is read in that format, and the messages say where it differs from the
format. `rulestep explain formats` lists the formats, with where their files are and how to export them.

In a folder, files that match no format are counted and skipped; that something in one looks like a tool
call is a warning. With `--strict`, each of them is an error.
";

    Problem DAMAGED_LINE = "damaged_line": "a line of a recording cannot be read",
"A line of the recording is not JSON, or is not a record of its format. The line is skipped, and the rest
of the file is read.

    {\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"te

The last line is often cut off because the program that wrote it was killed. A call whose result was on a
damaged line has no result, so it satisfies no rule.
";

    Problem DAMAGED_RECORD = "damaged_record": "a part of a recording does not have the expected form",
"A message, call or field of the recording does not have the type that the format defines.

    {\"role\": \"assistant\", \"tool_calls\": \"deploy\"}

Here a list of calls is expected. The part is skipped or kept as text, as the message says, and the rest
is read.
";

    Problem LEFT_ASIDE = "left_aside": "a part of a recording does not belong to the session and is skipped",
"Nothing is damaged. The recording contains more than the session itself, for example an abandoned branch,
turns that were undone, a demonstration for the model, or calls of a simulated user.

    note: 2 turns with 3 calls on a branch that was abandoned; the first is here

The agent did not make these calls in the session, so no rule checks them. The message says how much is
skipped, and where.
";

    Problem AMBIGUOUS_RECORD = "ambiguous_record": "a part of a recording can mean two things",
"Nothing is damaged, but the recording does not say which of two readings is right. The message says how the
part is read.

    {\"type\": \"assistant\", \"message\": {\"id\": \"msg_1\", \"content\": [{\"type\": \"tool_use\", \"id\": \"c1\", … }]}}
    {\"type\": \"user\", \"message\": {\"content\": [{\"type\": \"tool_result\", \"tool_use_id\": \"c1\", … }]}}
    {\"type\": \"assistant\", \"message\": {\"id\": \"msg_1\", \"content\": [{\"type\": \"tool_use\", \"id\": \"c2\", … }]}}

Here a tool ran while the response was still written, or a gateway gives every response the same id. It is
read as one response, so the second call does not rest on the first one's result. A request id, a stop
reason or a message of the user between them would tell.

Two equal calls without results are the other case: a result that names neither belongs to the older one.
";

    Problem ARGUMENTS_NOT_JSON = "arguments_not_json": "the arguments of a call are not JSON",
"Arguments are recorded as JSON text. This text is not JSON, so no path finds a value in it, and a
precondition with `resource` denies the call.

    \"arguments\": \"{\\\"order_id\\\": \\\"ORD-1\\\"\"

Models sometimes write broken arguments, and then the tool received the same text.

Arguments that nest deeper than 127 levels, that have a key which JSON readers reserve (`$serde_json::…`) or,
as a text, half of a surrogate pair, or that give a key twice with different values, mean different things
to different programs. No rule can decide such a call. A replay denies it whatever the policy says, as a
gate does.
";

    Problem RESULT_WITHOUT_CALL = "result_without_call": "a result belongs to no call of the session",
"A tool message names a call that does not exist, or that already has a result. The message stays in the
history, but no rule uses it.

    {\"role\": \"tool\", \"tool_call_id\": \"call_9\", \"content\": \"done\"}

A result without a call means that a call is missing from the recording, so it was not judged, and the run
ends with exit code 2. If the recording starts in the middle, the call may be before its start. Then add
`\"from_the_middle\": true` to a native session, and this is only a warning.
";

    Problem CALL_WITHOUT_RESULT = "call_without_result": "a call has no result in the recording",
"It is not known whether the call succeeded, so its outcome is `unknown`. It satisfies no precondition, but
it forbids what a completed call would forbid, because it may have run.

    {\"role\": \"assistant\", \"tool_calls\": [{\"id\": \"call_9\", \"name\": \"deploy\"}]}
    (the end of the recording)

The last calls of a recording often have no result, because the session was cut off there.
";

    Problem NO_RESULTS_RECORDED = "no_results_recorded": "the recording contains no results at all",
"The recording has calls but not a single result, so its program probably does not record results. Every
call counts as successful, with no output. Conditions on outputs never pass.

    {\"id\": \"refund-124\", \"results\": \"recorded\", \"messages\": [ … ]}

If the program does record results, and the calls really have none, add `\"results\": \"recorded\"` to the
native session.
";

    Problem STARTS_IN_THE_MIDDLE = "starts_in_the_middle": "the recording begins after the session did",
"The beginning of the session was cut off or summarised, as agents do when their context is full.

    prior_tool_missing: lint has not succeeded in an earlier turn (the recording starts in the middle)

A call that a rule requires may have run before the recording starts. It is not recorded, so it satisfies
nothing. But a denial because of a missing call is marked, because a complete recording might have allowed
the call. If the earlier part is in another file, join the two.
";

    Problem FORK_SOURCE_MISSING = "fork_source_missing": "a session is a fork of one that was not read",
"A fork begins with a copy of another session. Its copied calls are known to the rules, and they are counted
where they were made.

    the session is a fork of `8c1f`, which is not among the recordings; where it went on is not in its log

Some logs do not say where the copy ends. The calls of the other session do, if it is read as well. Without
it all calls of the fork are counted. Name both recordings, usually the folder that contains them.
";

    Problem TREE_INCOMPLETE = "tree_incomplete": "a session of the same tree was not read",
"A rule with `scope: tree` looks at an agent, its subagents and theirs as one history. One of these sessions
is not among the recordings, or several have its name and none of them is nearest.

    the parent session `8c1f` was not read, so rules with `scope: tree` do not know all that happened

What must come first is then missing, and what forbids a call may have happened: the rules stop the call, as
`unseen_session`. Name the recordings of the whole tree, usually the folder that contains them all.
";

    Problem REDACTED_DIFFERS = "redacted_differs": "a redacted session is decided differently",
"With `--redact`, every recorded value becomes `[redacted]`, except values that a rule of the policy names
and the words of commands that the answers of rules rest on.

    rulestep replay --redact sessions/

This session is decided differently without its values. Perhaps a word that decides something looks like a
secret, and is redacted all the same: the message then says of how many calls. Perhaps a command is so long
that not each of its words could be tried; the rest is redacted. Otherwise a rule uses a value that it does
not name, which is a defect in the program: please report it with the policy. No hidden value is shown, but
the output is true only for the redacted session.
";

    Problem REDACTED_WHOLE = "redacted_whole": "a redacted session has a whole command in it",
"With `--redact`, of a command only those words remain that the answers of rules rest on: programs, flags,
paths and hosts.

    rulestep replay --redact sessions/

A rule that reads the text of the command itself (`args_match`, a template that reads every message) may
rest on any word of it, so these commands are shown as they were recorded, without the words that look
like secrets. Rules that ask what a command does (`runs`, `reads`, `writes`, `deletes`, `reaches`) need no
more than these words.
";

    Problem NO_ERRORS_MARKED = "no_errors_marked": "the recording marks no result as failed",
"Some programs do not mark failed calls. Then every call counts as a success, also for preconditions.
Where the format has such marks, this is reported if none of 20 or more results in a file is marked. Where
it has none (`swe-agent`, and `mini-swe-agent` without return codes), one result is enough.

If failures can be recognised by their text, give a pattern with `--error-regex`. A refusal by a gate of
your own is not a failure, because the call never ran: use `--refused-regex` for those.

    rulestep replay --error-regex '^(Error|Traceback)' --refused-regex '^Blocked by ' sessions/
";

    Problem REFUSAL_COUNTED = "refusal_counted": "a result equals the text that a rule sends to the model",
"The result of a call is exactly the `tellLLM` of a sequence policy. There are two possible reasons:

- The call ran, and the tool returned this text. Then the call counts in sequences and limits. The
  published engine reads it this way, and so does the replay.
- The policy was in force when the session was recorded, and stopped the call. Then the call never ran and
  does not count.

The recording does not say which is true. If it was a refusal, give a pattern for refusals:

    rulestep replay --refused-regex '^Refund limit reached' sessions/
";

    Problem UNKNOWN_OPERATION = "unknown_operation": "an unknown operation on recorded state",
"Messages of the role `policy` have the operation `snapshot`, `restore` or `reset`. This one has another
operation, or restores a snapshot that was never taken.

    {\"role\": \"policy\", \"op\": \"restore\", \"name\": \"before-deploy\"}

The intended state is not known, so the recorded state is emptied: no earlier call or read counts any
more. Correct the operation or the name.
";

    Problem EMPTY_SESSION = "empty_session": "a recording without messages",
"The file has the form of a session, but contains no message, so there is nothing to judge.

    {\"id\": \"refund-124\", \"messages\": []}

Perhaps the program that wrote it was stopped before the first response, or the messages are under another
key. The session is still listed, with no turns.
";
}
