//! Codes of problems in the settings of the workbench.

use crate::codes;

codes! {
    Problem SETTINGS_SYNTAX = "settings_syntax": "a file of settings is not TOML",
"`config.toml` and `keys.toml` are TOML. What can be read before and after the mistake is used, the rest is as
if it were not there.

    theme = harbor

Text is in quotes: `theme = \"harbor\"`.
";

    Problem UNKNOWN_SETTING = "unknown_setting": "a setting or a command that does not exist",
"`config.toml` has the settings `theme`, `ascii`, `mode`, `live`, `policy`, `sort`, `columns`, `mouse` and
`restore`. In `keys.toml` each line begins with the name of a command, as `:` lists them in the workbench. A
line of another name has no effect.

    next-findign = \"gn\"

Here `next-finding` was meant.
";

    Problem BAD_SETTING = "bad_setting": "a setting has a value that it cannot have",
"The setting has no effect; the workbench does what it does without it.

    mode = \"audit\"

The message names the values that the setting can have.
";

    Problem BAD_CHORD = "bad_chord": "keys that nobody can press",
"Keys are written as `docs/keys.md` writes them: characters one after the other (`]f`), a named key (`Enter`,
`F2`), or one key with `Ctrl-` or `Alt-`. One to three keys make a chord. Digits are the numbers of panes and
counts, so no chord begins with one.

    zoom = \"Strg-z\"

Here `Ctrl-z` was meant. The command keeps the keys that it has without this line.
";

    Problem KEY_CLASH = "key_clash": "keys that mean another command already",
"Two commands that can be used in the same place have the same keys, or the keys of one begin those of the
other, which then could never be pressed.

    zoom = \"j\"

`j` is `next-call`. Give that command other keys in the same file, or choose others here. Until then, the
command in this line keeps the keys that it has without it.
";
}
