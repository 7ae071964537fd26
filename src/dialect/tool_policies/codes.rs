//! Codes of the tool-policies dialect.

use crate::diagnostic::code::codes;

codes! {
    Finding DEPENDENCY_MISSING = "dependency_missing": "a tool that this one needs has not succeeded yet",
"A sequential dependency lists the tools that must have succeeded before this one runs.

    policies:
      - {type: sequential_dependency, dependencies: {deploy: [test, build], build: [lint]}}

`deploy` is denied until `test` and `build` have both succeeded, in any order; one success is enough for
the whole session, unless the recorded state is reset. Only the tool's own list counts: that `build`
needs `lint` is asked when `build` is called.

A success counts only where a sequential policy governs the tool that succeeded: its own section's, or
the prompt's.
";

    Finding NOT_READ_BEFORE_WRITE = "not_read_before_write": "an existing file would be overwritten unread",
"The call writes a file that exists and that no reading tool has read.

    policies:
      - {type: read_before_write, read_tools: [read_file], write_tools: [write_file, edit_file]}

The path is the argument that `path_argument` names, else `path`, else `file_path`. A read counts for
the path as it was spelled, without leading slashes: `./a` and `a` are one file, but reading the one does
not permit writing the other. A write is no read, and a read stays good after later writes. Directories
that hold a file exist too.

Which files exist is listed by the session's `files` or the document's `existing_files`, and follows
from the writes of the session itself.
";

    Finding EXISTENCE_UNKNOWN = "existence_unknown": "the write passes only because nobody lists the files",
"Neither the session nor the document says which files exist, and no earlier call has read or written
this one. It counts as new, so it may be written unread; it may well exist.

    existing_files: [config.yaml, src/main.py]

Give the session `files` (an empty list says there are none), or the document `existing_files`. The
finding changes no decision.
";

    Finding PATH_UNKNOWN = "path_unknown": "the write passes because it names no path that the policy knows",
"A policy that wants files to be read before they are written looks for the path in the argument `path`,
else in `file_path`. This call has neither as text, so nothing was checked.

    - {type: read_before_write, write_tools: [write_file], path_argument: $.target_file}

`path_argument` names the argument that holds the path, as a JSONPath; calls without it are still looked
at for the two usual ones. The finding changes no decision.
";

    Problem TOOL_IN_TWO_SECTIONS = "tool_in_two_sections": "a tool is listed by two sections",
"A tool is governed by the policies of the one section that lists it, then by the prompt's.

    sections:
      - {id: read, tools: [read_file]}
      - {id: ops, tools: [deploy, read_file]}

With two sections it would depend on their order which policies are meant. Keep the tool in one of them.
";

    Problem UNKNOWN_PARENT = "unknown_parent": "a section names a parent that is not there",
"`parent` is the id of another section of the document, or `null`. It is kept for reading alone: a
parent's policies do not reach the tools of its children.

    sections:
      - {id: ops, parent: opps, tools: [deploy]}

Correct the id, or leave `parent` out.
";

    Problem MOUNT_POINT_SLASH = "mount_point_slash": "a mount point that ends in a slash is never cut off",
"The mount point is cut off a path that equals it or goes on with a slash, so `/workspace/` would have to
be followed by another slash.

    {type: read_before_write, mount_point: /workspace/}

The paths `/workspace/a` and `a` then are two files, and a file that was listed as `a` may be overwritten
unread under its other name. Write `/workspace`.
";

    Problem PREREQUISITE_NOT_RECORDED = "prerequisite_not_recorded": "a needed tool's successes are never recorded",
"Successes are recorded by the sequential policies that govern a tool, and none governs this one.

    sections:
      - {id: read, tools: [lint]}
      - {id: ops, tools: [build], policies: [{type: sequential_dependency, dependencies: {build: [lint]}}]}

`build` stays denied for ever. Give the section of `lint` a sequential policy, if only one with
`dependencies: {}`, or move the policy to the prompt's `policies`.
";

    Problem SELF_DEPENDENCY = "self_dependency": "a tool needs itself",
"A tool that must have succeeded before it runs can never run.

    {type: sequential_dependency, dependencies: {deploy: [deploy]}}

Take it out of its own list. To limit a tool to one call, a sequence policy has `limits`.
";

    Problem DEPENDENCY_CYCLE = "dependency_cycle": "tools need each other in a circle",
"Each of these tools waits for the success of the next, and the last for the first: none of them can ever
run.

    {type: sequential_dependency, dependencies: {build: [test], test: [build]}}

Take one of the entries out.
";

    Problem UNKNOWN_TOOL = "unknown_tool": "no section lists this tool",
"The document has sections, which list its tools, and none of them lists this name.

    sections:
      - id: ops
        tools: [lint, deploy]
        policies: [{type: sequential_dependency, dependencies: {deploy: [lnt]}}]

A tool that does not exist never succeeds, so what needs it is denied for ever; and what is said of it
has no effect. Correct the name, or add the tool to a section.
";

    Problem NEVER_ASKED = "never_asked": "a section's policy speaks of a tool of another section",
"The policies of a section govern the tools that the section lists, and no others.

    sections:
      - {id: read, tools: [lint], policies: [{type: sequential_dependency, dependencies: {deploy: [lint]}}]}
      - {id: ops, tools: [deploy]}

`deploy` runs without `lint`. Move the entry to the section of the tool, or to the prompt's `policies`.
";
}
