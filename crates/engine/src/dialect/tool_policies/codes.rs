//! Codes of the tool-policies dialect.

use rulestep_base::codes;

codes! {
    Finding DEPENDENCY_MISSING = "dependency_missing": "a tool that this one needs has not succeeded yet",
"A sequential dependency lists the tools that must have succeeded before this one runs.

    policies:
      - {type: sequential_dependency, dependencies: {deploy: [test, build], build: [lint]}}

`deploy` is denied until `test` and `build` have both succeeded, in any order. One success is enough for
the whole session, unless the recorded state is reset. Only the tool's own list counts: whether `lint`
has succeeded is checked when `build` is called.

A success counts only if a sequential policy governs the tool that succeeded: a policy of its own
section, or one of the prompt.
";

    Finding NOT_READ_BEFORE_WRITE = "not_read_before_write": "the call would overwrite a file that was not read",
"The call writes a file that exists, but no reading tool has read it.

    policies:
      - {type: read_before_write, read_tools: [read_file], write_tools: [write_file, edit_file]}

The path is the argument named by `path_argument`, else `path`, else `file_path`. A read counts for the
path as it was spelled, without leading slashes: `./a` and `a` are one file, but reading one spelling does
not permit writing the other. A write does not count as a read, and a read still counts after later
writes. A directory that contains a file exists too.

The session's `files` or the document's `existing_files` list the files that exist at the start. Files
written in the session exist from then on.
";

    Finding EXISTENCE_UNKNOWN = "existence_unknown": "the write passes only because the existing files are not known",
"Neither the session nor the document lists the files that exist, and no earlier call has read or written
this one. It counts as a new file, so the write is allowed, although the file may exist.

    existing_files: [config.yaml, src/main.py]

Add `files` to the session (an empty list means that there are none), or `existing_files` to the document.
The finding does not change the decision.
";

    Finding PATH_UNKNOWN = "path_unknown": "the write passes because the policy finds no path in it",
"A `read_before_write` policy takes the path from the argument `path`, else from `file_path`. This call
has text in neither, so nothing was checked.

    - {type: read_before_write, write_tools: [write_file], path_argument: $.target_file}

Set `path_argument` to the JSONPath of the argument that contains the path. For calls without that
argument, the two usual ones are still used. The finding does not change the decision.
";

    Problem TOOL_IN_TWO_SECTIONS = "tool_in_two_sections": "a tool is listed by two sections",
"A tool is governed by the policies of the one section that lists it, then by the prompt's.

    sections:
      - {id: read, tools: [read_file]}
      - {id: ops, tools: [deploy, read_file]}

With two sections, the policies would depend on the order of the sections. Keep the tool in one of them.
";

    Problem UNKNOWN_PARENT = "unknown_parent": "a section names a parent that does not exist",
"`parent` is the id of another section of the document, or `null`. It only documents the structure: a
parent's policies do not govern the tools of its children.

    sections:
      - {id: ops, parent: opps, tools: [deploy]}

Correct the id, or remove `parent`.
";

    Problem MOUNT_POINT_SLASH = "mount_point_slash": "a mount point that ends in a slash is never removed from a path",
"The mount point is removed from a path that equals it or continues with a slash. So after `/workspace/`
a path would need a second slash.

    {type: read_before_write, mount_point: /workspace/}

So `/workspace/a` and `a` are two files, and a file that is listed as `a` can be overwritten under its
other name without a read. Write `/workspace`.
";

    Problem LITERAL_PATH = "literal_path": "a path has something in it that is not expanded",
"Mount points and `existing_files` are compared letter by letter with the paths of calls. `~`, `$HOME`, `*`
and `[ab]` are not expanded, and blanks at the ends count.

    {type: read_before_write, mount_point: /workspace/*}    # write /workspace
    existing_files: [~/config.yaml]                         # write /home/ann/config.yaml

Such a mount point is not removed from the paths of calls, so `/workspace/a` and `a` are two files. Such an
entry protects the file only from calls that write its path in the same way.
";

    Problem PREREQUISITE_NOT_RECORDED = "prerequisite_not_recorded": "a needed tool's successes are never recorded",
"Only a sequential policy records the successes of the tools it governs, and none governs this tool.

    sections:
      - {id: read, tools: [lint]}
      - {id: ops, tools: [build], policies: [{type: sequential_dependency, dependencies: {build: [lint]}}]}

`build` is always denied. Add a sequential policy to the section of `lint`, even one with
`dependencies: {}`, or move the policy to the prompt's `policies`.
";

    Problem NEVER_ASKED = "never_asked": "a section's policy names a tool of another section",
"The policies of a section govern only the tools that the section lists.

    sections:
      - {id: read, tools: [lint], policies: [{type: sequential_dependency, dependencies: {deploy: [lint]}}]}
      - {id: ops, tools: [deploy]}

`deploy` runs without `lint`. Move the entry to the section of the tool, or to the prompt's `policies`.
The same holds for `read_before_write` where the section lists none of its `write_tools`.
";
}
