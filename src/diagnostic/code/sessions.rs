//! Codes of what can be wrong with recordings, and with the files that were asked for.

use super::codes;

codes! {
    Problem MISSING_FILE = "missing_file": "there is no such file or folder",
"A path that was given leads nowhere. Paths are relative to the folder in which the program was
started.

If the path has `*`, `?` or `[` in it and the shell did not expand it, Rulestep does; then it
matched no file.
";

    Problem UNREADABLE_FILE = "unreadable_file": "a file cannot be read",
"The file is there, but the system refused to read it, or its bytes are not UTF-8 text. The message
gives the reason, and for text the line and byte of the first fault.

Other files are still opened. Text in another encoding can be converted:

    iconv -f latin1 -t utf-8 old.json > new.json
";

    Problem EMPTY_FOLDER = "empty_folder": "a folder holds nothing to read",
"The folder was searched, its subfolders too, and has no file of the kind that was asked for. Hidden
files and the folders `target` and `node_modules` are left out of the search.

A file that is named itself is always read, whatever its name.
";

    Problem LINK_REPEATS = "link_repeats": "a link leads to what is read already",
"Symbolic links are followed, but a folder is read once: under its own path if it lies in the folder
that was given, else under the first link to it. So a link back up cannot lead round in circles.

    policies/current -> releases/7
    policies/all -> .

Of a git revision only files are read; links and submodules in it are passed over with this notice.
";

    Problem NO_GIT = "no_git": "the `git` program could not be run",
"`git:REVISION` versions are read with the `git` program, which was not found or could not be
started.

Install it, or give the version as a folder: check the revision out somewhere with `git worktree
add`.
";

    Problem NO_REPOSITORY = "no_repository": "this is no git repository",
"`git:REVISION` versions are read from the repository around the path that is meant, and there is none.

    git:HEAD:contracts

looks for a repository around `contracts`, or around the current folder if that is gone. Start the
program within the repository, or give the version as a file or folder.
";

    Problem GIT_FAILED = "git_failed": "git refused or failed",
"The `git` program was started, and ended with an error; the message gives its first line.

A repository that belongs to another user is refused until it is trusted:

    git config --global --add safe.directory /path/to/repository

In a partial clone an object may be missing: nothing is fetched here, so run `git fetch` first.
";

    Problem BAD_REVISION = "bad_revision": "git knows no such revision",
"What stands after `git:` is no commit, branch or tag of this repository.

    git:HEAD    git:main    git:v1.2:contracts    git:HEAD~3:policies/refunds.yaml

A branch of a remote is `origin/NAME`. In a shallow clone older commits are missing: `git fetch
--unshallow`.
";

    Problem NOT_IN_REVISION = "not_in_revision": "the path is not part of that revision",
"The revision exists, but has no file or folder at this path.

    git:HEAD:policies

Paths behind a revision are relative to the current folder, like all others. A file that was never
committed is in no revision; one that was moved since has its old path there.
";

    Problem NOT_A_SESSION = "not_a_session": "the file is no recording of a known format",
"Recordings are recognised by their shape, never by their name. Nothing in this file looks like one.

    rulestep replay --from anthropic log.txt

`--from FORMAT` skips the recognition, and then tells where the file departs from that format. In a
folder such files are counted and passed over.
";

    Problem DAMAGED_LINE = "damaged_line": "a line of a recording cannot be read",
"One line of a line-by-line recording is not JSON, or not the record that it should be. It is left
out, and the rest of the file is read.

The last line is often cut off when the program that wrote it was killed. Calls whose results stood
on a damaged line have no result, and so satisfy nothing.
";

    Problem DAMAGED_RECORD = "damaged_record": "a part of a recording has not the expected shape",
"A message, call or field of a recording has another type than its format gives it.

    {\"role\": \"assistant\", \"tool_calls\": \"deploy\"}

Here a list of calls was expected. That part is left out or kept as text, as the message says, and the
rest is read.
";

    Problem LEFT_ASIDE = "left_aside": "a part of a recording is no part of the session, as it should be",
"Nothing is damaged. The recording holds more than what happened in the session as it went on: a branch
that somebody went back from, turns that were taken back, a demonstration that was given to the model,
calls of a simulated user.

These are no calls of the agent that count, so no rule looks at them. The message says how much it is
and where it stands.
";

    Problem ARGUMENTS_NOT_JSON = "arguments_not_json": "the arguments of a call are not JSON",
"Arguments are recorded as JSON text. These are not, so they are kept as the text they are, and no
path finds anything in them: a precondition bound to a value denies such a call.

    \"arguments\": \"{\\\"order_id\\\": \\\"ORD-1\\\"\"

Models do write broken arguments; then this is what the tool was given too. Text with a key that
JSON readers reserve for themselves (`$serde_json::…`) is kept as text for the same reason.
";

    Problem RESULT_WITHOUT_CALL = "result_without_call": "a result answers no call of the session",
"A tool message names a call that is not there, or that has its result already. It stays in the
history, and counts for nothing.

What has a result was called: if the call is not in the recording, it was not judged, and the run
ends with exit code 2. In a recording that starts in the middle the call may stand before the
beginning; say `\"from_the_middle\": true` in a native session, then it is only a warning.
";

    Problem CALL_WITHOUT_RESULT = "call_without_result": "a call has no result in the recording",
"Nothing is known of how it ended. Its outcome is `unknown`: it satisfies no precondition, and
forbids what it would forbid if it had run, since it may have.

The last calls of a recording often have none, because the session was cut off there.
";

    Problem NO_RESULTS_RECORDED = "no_results_recorded": "the recording keeps no results at all",
"The log has calls and not a single result, so it is taken as one that does not record them: every
call counts as having succeeded, with no output. Conditions on outputs never hold then.

Say `\"results\": \"recorded\"` in a native session if results would have been recorded.
";

    Problem STARTS_IN_THE_MIDDLE = "starts_in_the_middle": "the recording begins after the session did",
"What came before was cut off or summarised, as agents do when their context is full.

A call that a rule looks for may have run there. It is not in the record, so it satisfies nothing; but a
denial that rests on the absence of a call is marked, since a complete recording might have allowed it.
If the earlier part exists in another file, join the two.
";

    Problem REDACTED_DIFFERS = "redacted_differs": "a redacted session is decided differently",
"With `--redact` every recorded value becomes `[redacted]` unless a rule of the policy says that it
looks there.

This session is decided differently without those values. Nothing that should be hidden is shown, but
what is printed is true of the redacted session only. Please report it with the policy: a rule looks
at something that it does not name.
";

    Problem NO_ERRORS_MARKED = "no_errors_marked": "the recording marks no result as failed",
"Some logs have no mark for failed calls, and then each counts as a success, also for preconditions.

If failures can be told by their text, say how. Refusals in the words of a gate of your own are no
failures, since the call never ran: `--refused-regex` names those.

    rulestep replay --error-regex '^(Error|Traceback)' --refused-regex '^Blocked by ' sessions/
";

    Problem REFUSAL_COUNTED = "refusal_counted": "a result is what a rule of the policy tells the model",
"The result of a call is, word for word, the `tellLLM` of a sequence policy. There are two readings.

The call succeeded, and the tool happened to answer so: then it ran, and counts in sequences and limits.
This is how the published engine counts it, and so does the replay. Or the policy was in force when the
session was recorded and answered for the tool: then the call was refused, never ran, and counts nowhere.

The recording does not mark which it was. If it was a refusal, say how to know one:

    rulestep replay --refused-regex '^Refund limit reached' sessions/
";

    Problem UNKNOWN_OPERATION = "unknown_operation": "an operation on recorded state that is not known",
"Messages of the role `policy` carry `snapshot`, `restore` or `reset`. This one carries something
else, or restores a snapshot that was never taken.

    {\"role\": \"policy\", \"op\": \"restore\", \"name\": \"before-deploy\"}

What state was meant cannot be known, so the recorded state is emptied: what is not known to have
happened satisfies nothing.
";

    Problem EMPTY_SESSION = "empty_session": "a recording without a message",
"The file has the shape of a session and no message in it, so there is nothing to judge.

    {\"id\": \"refund-124\", \"messages\": []}

The program that wrote it was perhaps stopped before its first answer, or the messages stand under
another key. The session is listed all the same, with no turns.
";
}
