//! What a row says of a program that runs another one.

/// How a program names what it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Inner {
    /// The words that follow are a program and its arguments.
    Words,
    /// The words after one of these options are, `--` among others.
    After(&'static str),
    /// The words that follow are arguments of this program.
    As(&'static str),
    /// They are joined and read by a shell.
    Script,
    /// The values of these options are read by a shell; of `-o@Key`, what comes after `Key=` in the value.
    Value(&'static str),
    /// The value of one of these options is read by a shell; without it the words are a program.
    ValueOrWords(&'static str),
    /// The operands are each read by a shell.
    First,
    /// A shell reads what it is fed.
    Input,
    /// They are typed into a shell, `Enter` and `Space` by name.
    Keys,
}

/// Where a program succeeds although what it runs has not: it does not wait for it, or looks away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Apart {
    /// With one of these options, or always.
    pub with: &'static str,
    /// But not with one of these.
    pub without: &'static str,
}

/// A program that runs another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Wrapper {
    /// Its names.
    pub names: &'static str,
    /// Its subcommands, `|` between alternatives.
    pub sub: &'static str,
    /// Options with a value; `-i?` has one only in the same word, `--bind:2` has two.
    pub takes: &'static str,
    /// Options without a value, where other options than these and those may have one. Where it is empty, none has.
    pub flags: &'static str,
    /// How many operands come before the program.
    pub skip: usize,
    /// How the program is named.
    pub inner: Inner,
    /// Whether it runs on another machine.
    pub elsewhere: bool,
    /// Where its success is not the program's.
    pub apart: Option<Apart>,
    /// Whether more words come from standard input.
    pub more: bool,
    /// Whether the rows that follow hold as well.
    pub besides: bool,
    /// Where no program is named, a shell reads standard input: with one of these options, or `*`.
    pub shell: &'static str,
}

impl Wrapper {
    /// The option that names another program than that of the image, or of the app.
    pub fn entrypoint(&self) -> &'static str {
        if self.names == FLATPAK { "--command" } else { "--entrypoint" }
    }
}

/// A program that runs the programs of apps.
pub const FLATPAK: &str = "flatpak";

pub const fn local(
    names: &'static str,
    sub: &'static str,
    takes: &'static str,
    skip: usize,
    inner: Inner,
) -> Wrapper {
    Wrapper {
        names,
        sub,
        takes,
        flags: "",
        skip,
        inner,
        elsewhere: false,
        apart: None,
        more: false,
        besides: false,
        shell: "",
    }
}

pub const fn elsewhere(
    names: &'static str,
    sub: &'static str,
    takes: &'static str,
    skip: usize,
    inner: Inner,
) -> Wrapper {
    Wrapper { elsewhere: true, ..local(names, sub, takes, skip, inner) }
}

/// Of a program that ends well although what it runs did not, or before it has ended.
pub const fn by_itself(wrapper: Wrapper) -> Wrapper {
    Wrapper { apart: Some(Apart { with: "", without: "" }), ..wrapper }
}

/// Of a program that does not wait for what it runs, where one of these options is given.
pub const fn detached(with: &'static str, wrapper: Wrapper) -> Wrapper {
    Wrapper { apart: Some(Apart { with, without: "" }), ..wrapper }
}

/// Of a program that says how what it runs has ended only where one of these options is given.
pub const fn unless(without: &'static str, wrapper: Wrapper) -> Wrapper {
    Wrapper { apart: Some(Apart { with: "", without }), ..wrapper }
}

/// Of options whose values are run, beside all else that the program does.
pub const fn besides(names: &'static str, sub: &'static str, takes: &'static str, inner: Inner) -> Wrapper {
    Wrapper { besides: true, ..by_itself(local(names, sub, takes, 0, inner)) }
}

/// Of a program that has options which nobody listed.
pub const fn listed(flags: &'static str, wrapper: Wrapper) -> Wrapper {
    Wrapper { flags, ..wrapper }
}

/// Of a program that is a shell where it is given no other program.
pub const fn alone(shell: &'static str, wrapper: Wrapper) -> Wrapper {
    Wrapper { shell, ..wrapper }
}
