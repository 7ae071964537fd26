//! Rows of the table as people read them.

use std::fmt;

use super::row::{At, Does, Net};
use super::tools::Argument;

impl fmt::Display for Does {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Does::Reads(at) => write!(f, "reads {at}"),
            Does::Writes(at) => write!(f, "writes {at}"),
            Does::ReadsDeep(at) => write!(f, "reads {at} and everything below"),
            Does::WritesDeep(at) => write!(f, "writes {at}, or what is not named below"),
            Does::In(options, inner) => {
                write!(f, "{inner}, in the folder of {}", options.replace(' ', ", "))
            }
            Does::Deletes(at) => write!(f, "deletes {at}"),
            Does::DeletesDeep(at) => write!(f, "deletes {at} and everything below"),
            Does::Reaches(net) => write!(f, "reaches {net}"),
            Does::Opaque => f.write_str("opaque: the line does not say what it does"),
            Does::With(options, inner) => write!(f, "with {}: {inner}", options.replace(' ', ", ")),
            Does::Without(options, inner) => write!(f, "without {}: {inner}", options.replace(' ', ", ")),
        }
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            At::All => f.write_str("its operands"),
            At::First => f.write_str("its first operand"),
            At::Rest => f.write_str("its operands after the first"),
            At::Last => f.write_str("its last operand"),
            At::ButLast => f.write_str("its operands before the last"),
            At::Value(options) => write!(f, "the value of {}", options.replace(' ', ", ")),
            At::Attached(options) => write!(f, "the file after `@` in {}", options.replace(' ', ", ")),
            At::Field(name) => write!(f, "the file after `{name}`"),
            At::Environment => f.write_str("env:NAME of its operands, or env:*"),
            At::Local => f.write_str("its operands on this machine"),
            At::LocalLast => f.write_str("its last operand, if it is on this machine"),
            At::AllOrHere => f.write_str("its operands, or the folder it runs in"),
            At::RestOrHere => f.write_str("its operands after the first, or the folder it runs in"),
            At::Into(options) => write!(f, "its operands, by their names in {}", options.replace(' ', ", ")),
            At::Here => f.write_str("the folder it runs in"),
            At::LocalButLast => f.write_str("its operands on this machine before the last"),
        }
    }
}

impl fmt::Display for Net {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Net::Urls => f.write_str("the hosts of its operands"),
            Net::First => f.write_str("its first operand"),
            Net::Remotes => f.write_str("the hosts of `host:path` and URLs among its operands"),
            Net::Value(options) => write!(f, "the host in {}", options.replace(' ', ", ")),
            Net::UrlValue(options) => write!(f, "the host of a URL in {}", options.replace(' ', ", ")),
            Net::Elsewhere(name) => write!(f, "{name}, which the line does not name"),
            Net::Default("", host) => f.write_str(host),
            Net::Default(options, host) => write!(f, "{host}, or the host in {}", options.replace(' ', ", ")),
            Net::OperandOr(name) => write!(f, "the host of its first operand, or {name}"),
            Net::Variable(name) => write!(f, "the value of the variable {name}"),
            Net::Listed(file) => write!(f, "hosts that {file} names"),
            Net::Fixed(host) => f.write_str(host),
        }
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (does, names) = match self {
            Argument::Command(names) => ("runs the command in", names),
            Argument::Folder(names) => ("runs in the folder in", names),
            Argument::Reads(names) => ("reads the path in", names),
            Argument::Searches(names) => ("reads the folder in", names),
            Argument::Writes(names) => ("writes the path in", names),
            Argument::Deletes(names) => ("deletes the path in", names),
            Argument::Reaches(names) => ("reaches the host in", names),
            Argument::Patch(names) => ("writes and deletes what the patch names in", names),
            Argument::Anywhere => return f.write_str("reaches hosts that are not known"),
        };
        write!(f, "{does} {}", names.replace(' ', ", "))
    }
}
