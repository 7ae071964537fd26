//! Bash as a second opinion: what it starts is among what was read, or was said to be unknown.
//!
//! Lines are generated from programs that are stubs, and run where nothing else can be reached: an empty folder, and a
//! `PATH` with the stubs alone.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rulestep::internals::shell::{Root, read};

use crate::skipped::skipped;

/// Programs that only write their name down.
const STUBS: [&str; 8] = ["alpha", "beta", "gamma", "delta", "alpha2", "be", "ta", "git"];

/// Lines for one process.
const BATCH: usize = 200;

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % sides
    }

    fn pick<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.roll(of.len())]
    }
}

/// A program's name in one of its spellings.
fn name(dice: &mut Dice) -> String {
    let plain = dice.pick(&STUBS);
    let (first, rest) = plain.split_at(1);
    match dice.roll(16) {
        0 => format!("'{first}'{rest}"),
        1 => format!("\"{plain}\""),
        2 => format!("\\{plain}"),
        3 => format!("$'{plain}'"),
        4 => format!("$'\\x{:02x}'{rest}", first.as_bytes()[0]),
        5 => format!("{first}''{rest}"),
        6 => format!("{{{plain},x}}"),
        7 => format!("{first}{{{rest},y}}"),
        8 => "$P".to_owned(),
        9 => format!("\"${{Q:-{plain}}}\""),
        10 => format!("{first}\\\n{rest}"),
        _ => plain.to_owned(),
    }
}

fn word(dice: &mut Dice, depth: usize) -> String {
    let plain = [
        "x",
        "'a b'",
        "\"c; d\"",
        "\\;",
        "'#'",
        "{1,2}",
        "$H",
        "\"$@\"",
        "'`alpha`'",
        "\"\\$(beta)\"",
        "a=b",
        "$'it\\'s'",
        "*",
        "--",
        "-c",
        "e\\ f",
        "''",
    ];
    if depth == 0 {
        return dice.pick(&plain).to_owned();
    }
    match dice.roll(24) {
        0 => format!("$({})", list(dice, depth - 1)),
        1 => format!("\"$({})\"", list(dice, depth - 1)),
        2 => format!("`{}`", dice.pick(&STUBS)),
        3 => format!("<({})", list(dice, depth - 1)),
        4 => format!("${{X:-$({})}}", list(dice, depth - 1)),
        5 => format!("$(( $({}) + 1 ))", dice.pick(&STUBS)),
        6 => format!("'{}'", list(dice, 0).replace('\'', "")),
        7 => format!("\"${{X:-'$({})'}}\"", dice.pick(&STUBS)),
        _ => dice.pick(&plain).to_owned(),
    }
}

fn simple(dice: &mut Dice, depth: usize) -> String {
    let mut text = String::new();
    for _ in 0..dice.roll(10) / 8 {
        text += &format!("V={} ", word(dice, depth));
    }
    text += dice.pick(&["", "", "", "", "", "", "command ", "exec ", "builtin command ", "! ", "time "]);
    text += &name(dice);
    for _ in 0..dice.roll(4) {
        text.push(' ');
        text += &word(dice, depth);
    }
    text + dice.pick(&[
        "",
        "",
        "",
        "",
        " > out",
        " 2>&1",
        " < /dev/null",
        " >> out",
        " &> out",
        " <<< 'alpha; beta'",
        " # alpha",
    ])
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn list(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 {
        return simple(dice, 0).split(" #").next().unwrap().to_owned();
    }
    let inner = |dice: &mut Dice| list(dice, depth - 1);
    match dice.roll(30) {
        0 => format!("{} && {}", inner(dice), inner(dice)),
        1 => format!("{} || {}", inner(dice), inner(dice)),
        2 => format!("{}; {}", inner(dice), inner(dice)),
        3 => format!("{} | {}", inner(dice), inner(dice)),
        4 => format!("{} |& {}", inner(dice), inner(dice)),
        5 => format!("{} & {}", inner(dice), inner(dice)),
        6 => format!("{}\n{}", inner(dice), inner(dice)),
        7 => format!("( {} )", inner(dice)),
        8 => format!("{{ {}; }}", inner(dice)),
        9 => format!("if {}; then {}; else {}; fi", inner(dice), inner(dice), inner(dice)),
        10 => format!("for i in 1 2; do {}; done", inner(dice)),
        11 => format!("for i in {}; do $i; {}; done", dice.pick(&STUBS), inner(dice)),
        12 => format!("while {}; do {}; break; done", inner(dice), inner(dice)),
        13 => format!("until {}; do {}; break; done", inner(dice), inner(dice)),
        14 => format!("case {} in a) {};; *) {};; esac", word(dice, 0), inner(dice), inner(dice)),
        15 => format!("f() {{ {}; }}; f", inner(dice)),
        16 => format!("f() {{ {}; }}; {}", inner(dice), inner(dice)),
        17 => format!("function g {{ {}; }}; g x; {}", inner(dice), inner(dice)),
        18 => format!("eval {}", quoted(&inner(dice))),
        19 => format!("bash -c {}", quoted(&inner(dice))),
        20 => format!("bash <<'EOF'\n{}\nEOF\n", inner(dice)),
        21 => format!("stub_cat <<EOF\n$({})\nEOF\n", inner(dice)),
        22 => format!("stub_cat <<'EOF'\n{}\nEOF\n", inner(dice)),
        23 => format!("[[ -n $({}) ]] && {}", inner(dice), inner(dice)),
        24 => format!("echo {} | bash", quoted(&inner(dice))),
        25 => format!("trap {} EXIT", quoted(&inner(dice))),
        26 => format!("f() {{ \"$@\"; }}; f {}", name(dice)),
        27 => format!("x=$({}); {}", inner(dice), inner(dice)),
        28 => format!("for i in 1 2; do f; f() {{ {}; }}; done", inner(dice)),
        _ => simple(dice, depth),
    }
}

/// Runs lines in one process after another in shells of their own; what each of them started. What a line leaves running may
/// write to its log later, so no two lines have the same one.
fn started(lines: &[String], batch: usize, folder: &Path) -> Vec<BTreeSet<String>> {
    let work = folder.join("work");
    std::fs::create_dir_all(&work).unwrap();
    let mut script = String::new();
    for (at, line) in lines.iter().enumerate() {
        std::fs::write(folder.join(format!("line{at}")), line).unwrap();
        writeln!(
            script,
            "LOG='{0}/log{batch}-{at}' P=alpha bash '{0}/line{at}' </dev/null >/dev/null 2>&1",
            folder.display()
        )
        .unwrap();
    }
    let mut command = Command::new("/bin/bash");
    command.arg("-c").arg(&script).current_dir(&work).env_clear().env("PATH", folder.join("bin"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    let log = |at: usize| {
        let text = std::fs::read_to_string(folder.join(format!("log{batch}-{at}"))).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    };
    (0..lines.len()).map(log).collect()
}

#[test]
fn bash_starts_nothing_that_was_not_read() {
    let bash = Path::new("/bin/bash");
    if !bash.exists() {
        return skipped("bash is not installed");
    }
    let wanted: usize = std::env::var("SHELL_LINES").ok().and_then(|text| text.parse().ok()).unwrap_or(600);
    let seed =
        std::env::var("SHELL_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(88_172_645_463_325_252);
    let folder = tempfile::tempdir().unwrap();
    let bin = folder.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for stub in STUBS {
        let path = bin.join(stub);
        // In the same shell, so nothing else is needed.
        std::fs::write(&path, format!("#!/bin/bash\necho {stub} >> \"$LOG\"\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    std::os::unix::fs::symlink(bash, bin.join("bash")).unwrap();
    let (mut dice, mut missed, mut ran, mut perhaps) = (Dice(seed), Vec::new(), 0, 0);
    for batch in 0..wanted.div_ceil(BATCH) {
        let lines: Vec<String> = (0..BATCH.min(wanted))
            .map(|_| {
                let depth = 1 + dice.roll(3);
                list(&mut dice, depth)
            })
            .collect();
        for (line, started) in lines.iter().zip(started(&lines, batch, folder.path())) {
            let read = read(line, &Root::default());
            ran += started.len();
            if read.calls.iter().any(|call| call.unclear.is_some()) {
                perhaps += 1;
                continue;
            }
            let known: BTreeSet<&str> = read.calls.iter().filter_map(|call| call.program.known()).collect();
            let lost: Vec<&String> = started.iter().filter(|name| !known.contains(name.as_str())).collect();
            if !lost.is_empty() {
                missed.push(format!("{line:?} started {lost:?}, not read among {known:?}"));
            }
        }
    }
    println!(
        "{wanted} lines, {ran} programs started, {perhaps} lines with something unknown, {} missed",
        missed.len()
    );
    assert!(ran > wanted / 2, "only {ran} programs were started");
    assert!(perhaps * 2 < wanted, "{perhaps} of {wanted} lines were not known");
    assert!(
        missed.is_empty(),
        "{} missed:\n{}",
        missed.len(),
        missed.iter().take(20).cloned().collect::<Vec<_>>().join("\n")
    );
}
