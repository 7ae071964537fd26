//! Results that are kept from one run to the next: nobody can see that they are, except by the clock.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use rulestep::files::cache::Entries;
use rulestep::files::stamp::GRAIN;
use tempfile::TempDir;

use super::{folder, rulestep, seen};

const POLICY: &str = "tool: pay\npreconditions: [{requires_prior_tool: check}]\n";

const COMMANDS: [&str; 6] = [
    "replay s -p p --summary --format json",
    "replay s -p p --summary",
    "replay s -p p --summary --redact --mode shadow",
    "coverage s -p p --format json",
    "stats s --format json",
    "stats s/a.jsonl s/d.jsonl -p p",
];

/// Numbers that depend on the seed alone.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }
}

fn session(number: usize) -> String {
    let tool = ["pay", "check", "look"][number % 3];
    format!(
        r#"{{"id": "s{number}", "messages": [{{"role": "user", "content": "go {number}"}}, {{"role": "assistant", "content": null, "tool_calls": [{{"id": "c1", "type": "function", "function": {{"name": "{tool}", "arguments": "{{\"file\": \"f{number}\"}}"}}}}]}}, {{"role": "tool", "tool_call_id": "c1", "content": "done"}}]}}"#
    )
}

/// Files of one session and of many, with damage in some, and one that is no recording.
fn corpus() -> TempDir {
    let lines = |from: usize, to: usize| (from..to).map(|number| session(number) + "\n").collect::<String>();
    let long = lines(0, 120);
    let damaged = format!("{}{{\"id\": \"cut\n{}", lines(303, 306), lines(306, 309));
    folder(&[
        ("p/pay.yaml", POLICY),
        ("s/a.jsonl", &long),
        ("s/b.jsonl", &damaged),
        ("s/c.json", &session(207)),
        ("s/d.jsonl", &lines(320, 324)),
        ("s/e/f.json", &session(208)),
        ("s/notes.txt", "nothing"),
        ("s/g.json", ""),
    ])
}

fn run(folder: &TempDir, command: &str, more: &[&str]) -> Output {
    let mut arguments: Vec<&str> = command.split(' ').collect();
    arguments.extend(more);
    rulestep(folder.path(), &arguments).env("XDG_CACHE_HOME", folder.path().join("kept")).output().unwrap()
}

/// The same with what is kept and without.
fn agree(folder: &TempDir, seed: u64, when: &str) {
    for command in COMMANDS {
        let plain = seen(&run(folder, command, &["--no-cache"]));
        assert_eq!(seen(&run(folder, command, &[])), plain, "seed {seed}, {when}: {command}");
    }
}

fn kept(folder: &TempDir) -> Vec<PathBuf> {
    let listed = fs::read_dir(folder.path().join("kept/rulestep")).unwrap();
    let mut files: Vec<PathBuf> = listed.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Changes a file in one of the ways in which people and programs change files.
fn edit(path: &Path, numbers: &mut Numbers) {
    let modified = fs::metadata(path).unwrap().modified().unwrap();
    let mut bytes = fs::read(path).unwrap();
    match numbers.below(8) {
        // As long as before: `pay` and `check` have other names in the middle.
        0 => {
            let text = String::from_utf8_lossy(&bytes).replace("\"pay\"", "\"gay\"").replace("go 1", "go 2");
            fs::write(path, text).unwrap();
        }
        1 => fs::write(path, &bytes[..numbers.below(bytes.len() + 1)]).unwrap(),
        2 => {
            bytes.extend(format!("\n{}\n", session(numbers.below(1000))).into_bytes());
            fs::write(path, bytes).unwrap();
        }
        // Another file in its place.
        3 => {
            let beside = path.with_extension("new");
            let text = String::from_utf8_lossy(&bytes).replace("done", "gone");
            fs::write(&beside, text).unwrap();
            fs::rename(&beside, path).unwrap();
        }
        4 if bytes.len() > 2 => {
            let at = numbers.below(bytes.len());
            bytes[at] = b'x';
            fs::write(path, bytes).unwrap();
        }
        // Lines behind the last one, the last of which may not end.
        5 | 6 => {
            let more = (0..1 + numbers.below(9)).map(|_| session(numbers.below(1000)) + "\n");
            bytes.extend(more.collect::<String>().into_bytes());
            bytes.truncate(bytes.len() - numbers.below(2) * numbers.below(50));
            fs::write(path, bytes).unwrap();
        }
        _ => return,
    }
    if numbers.below(2) == 0 {
        File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
    }
}

#[test]
fn what_is_kept_changes_no_output() {
    for seed in [0x9e37_79b9_7f4a_7c15, 77] {
        let (folder, mut numbers) = (corpus(), Numbers(seed));
        agree(&folder, seed, "young files");
        std::thread::sleep(GRAIN + Duration::from_millis(100));
        agree(&folder, seed, "files that come to rest");
        agree(&folder, seed, "files that are known");
        for file in kept(&folder) {
            let mut bytes = fs::read(&file).unwrap();
            match numbers.below(3) {
                0 => bytes.truncate(numbers.below(bytes.len())),
                1 => (0..3).for_each(|_| {
                    let at = numbers.below(bytes.len());
                    bytes[at] ^= 1 + u8::try_from(numbers.below(255)).unwrap();
                }),
                _ => {}
            }
            fs::write(&file, bytes).unwrap();
        }
        agree(&folder, seed, "damaged entries");
        for time in 0..3 {
            for name in ["a.jsonl", "b.jsonl", "c.json", "d.jsonl", "e/f.json", "notes.txt"] {
                edit(&folder.path().join("s").join(name), &mut numbers);
            }
            agree(&folder, seed, &format!("files edited {} times", time + 1));
        }
        fs::write(folder.path().join("p/pay.yaml"), POLICY.replace("check", "look")).unwrap();
        agree(&folder, seed, "another policy");
        fs::remove_file(folder.path().join("s/c.json")).unwrap();
        agree(&folder, seed, "a file less");
    }
}

/// How many turns a summary says.
fn turns(output: &Output) -> u64 {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let totals: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    totals["totals"]["turns"].as_u64().unwrap()
}

/// What is kept in a file.
fn entries(file: &Path) -> Entries {
    let bytes = fs::read(file).unwrap();
    let key = bytes.split(|byte| *byte == b'\n').nth(1).unwrap();
    Entries::open(file.parent().unwrap(), std::str::from_utf8(key).unwrap())
}

/// Says twice as many turns in all that is kept, which shows where they are taken from there. How many entries that are.
fn forge(folder: &TempDir) -> usize {
    let mut count = 0;
    for file in kept(folder) {
        let entries = entries(&file);
        let forged: Vec<_> = entries
            .all()
            .map(|(name, entry)| {
                let mut entry: serde_json::Value = serde_json::from_slice(entry).unwrap();
                for answer in entry["answers"].as_array_mut().unwrap() {
                    let total = &mut answer["answers"]["total"]["counts"];
                    let turns = total["turns"].as_u64().unwrap();
                    total["turns"] = (turns * 2).into();
                }
                (name.to_vec(), serde_json::to_vec(&entry).unwrap())
            })
            .collect();
        count += forged.len();
        entries.save(&forged, &|_, _| false);
    }
    count
}

#[test]
fn a_file_that_has_grown_is_read_from_where_it_ended() {
    let folder = corpus();
    let (path, command) = (folder.path().join("s/a.jsonl"), "replay s/a.jsonl -p p --summary --format json");
    let text = || fs::read_to_string(&path).unwrap();
    let grow = |more: &str| fs::write(&path, text() + more).unwrap();
    let plain = || turns(&run(&folder, command, &["--no-cache"]));
    for jobs in ["1", "2"] {
        let run = || turns(&run(&folder, command, &["--jobs", jobs]));
        // It is young, which is no matter where every byte of it is compared.
        let before = run();
        assert_eq!(forge(&folder), 1, "a young file is in no group");
        assert_eq!(run(), before * 2, "nothing more of it is read");
        grow(&format!("{}\n{}\n", session(200), session(201)));
        assert_eq!(run(), before * 2 + 2, "the rest of it is read");
        grow(&(300..700).map(|number| session(number) + "\n").collect::<String>());
        assert_eq!((run(), plain()), (before * 2 + 402, before + 402), "and from the new end");
        assert_eq!(run(), before * 2 + 402);
        let whole = text();
        fs::write(&path, whole.replace("go 60", "go 61") + &session(701)).unwrap();
        assert_eq!(run(), plain(), "a change before its end");
        fs::write(&path, &whole[..whole.len() - 2]).unwrap();
        assert_eq!(run(), plain(), "a shorter file");
        fs::write(&path, session(1) + "\n").unwrap();
        assert_eq!(run(), plain(), "another file");
        fs::write(&path, (0..120).map(|number| session(number) + "\n").collect::<String>()).unwrap();
        fs::remove_dir_all(folder.path().join("kept")).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_second_run_reads_what_is_kept() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = corpus();
    std::thread::sleep(GRAIN + Duration::from_millis(100));
    let command = COMMANDS[0];
    let before = turns(&run(&folder, command, &[]));
    let kept = kept(&folder);
    assert_eq!(kept.len(), 2, "files and groups");
    for file in &kept {
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(file.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
        let bytes = fs::read(file).unwrap();
        // Arguments and results are not in it; the title is, since a summary prints it.
        for recorded in ["done", "f7\\\""] {
            let is_kept = bytes.windows(recorded.len()).any(|window| window == recorded.as_bytes());
            assert!(!is_kept, "{recorded}");
        }
    }
    forge(&folder);
    assert_eq!(turns(&run(&folder, command, &[])), before * 2, "what is kept is what is shown");
    assert_eq!(turns(&run(&folder, command, &["--no-cache"])), before);
    assert_eq!(turns(&run(&folder, command, &["--shard", "1/1"])), before, "a choice is not kept");
    // A change in the middle, of the same length and with the old time.
    let path = folder.path().join("s/a.jsonl");
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, fs::read_to_string(&path).unwrap().replace("go 60", "go 61")).unwrap();
    File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    assert_eq!(turns(&run(&folder, command, &[])), before * 2 - 120, "the others are not read");
}

#[cfg(unix)]
#[test]
fn only_files_that_have_changed_are_read() {
    const COMMAND: &str = "replay s -p p --summary --format json";

    let folder = folder(&[("p/pay.yaml", POLICY)]);
    let path = |name: &str| folder.path().join("s").join(name);
    let file = |number: usize| path(&format!("{number:03}.json"));
    fs::create_dir(path("")).unwrap();
    (0..300).for_each(|number| fs::write(file(number), session(number)).unwrap());
    let rest = || std::thread::sleep(GRAIN + Duration::from_millis(100));
    // Each session has a turn, and as many again where its file is not read.
    let (mut all, mut unread) = (300, 300);
    let check = |(all, unread): (u64, u64), when: &str| {
        let plain = run(&folder, COMMAND, &["--no-cache"]);
        assert_eq!(turns(&plain), all, "{when}");
        for jobs in ["1", "2"] {
            let cached = run(&folder, COMMAND, &["--jobs", jobs]);
            assert_eq!(turns(&cached), all + unread, "{when}, {jobs} threads");
            // All but the totals, which are forged.
            let lines = |output: &Output| {
                let text = String::from_utf8(output.stdout.clone()).unwrap();
                text.trim_end().rsplit_once('\n').unwrap().0.to_owned()
            };
            assert_eq!(lines(&cached), lines(&plain), "{when}, {jobs} threads");
        }
    };
    rest();
    check((all, 0), "the first time");
    let groups = forge(&folder) - 300;
    assert!((2..30).contains(&groups), "{groups} groups");
    check((all, unread), "unchanged");

    let modified = fs::metadata(file(7)).unwrap().modified().unwrap();
    fs::write(file(7), session(7).replace("go 7", "go 8")).unwrap();
    File::options().write(true).open(file(7)).unwrap().set_modified(modified).unwrap();
    unread -= 1;
    check((all, unread), "one has other bytes, as many, and the old time");
    let modified = fs::metadata(file(290)).unwrap().modified().unwrap();
    fs::write(path("new"), session(290).replace("go 290", "go 291")).unwrap();
    File::options().write(true).open(path("new")).unwrap().set_modified(modified).unwrap();
    fs::rename(path("new"), file(290)).unwrap();
    unread -= 1;
    check((all, unread), "one was replaced by one that is as long and as old");
    File::options().write(true).open(file(100)).unwrap().set_modified(modified).unwrap();
    unread -= 1;
    check((all, unread), "one was only touched");
    fs::write(path("0500.json"), session(500)).unwrap();
    all += 1;
    check((all, unread), "one was added");
    fs::remove_file(file(200)).unwrap();
    (all, unread) = (all - 1, unread - 1);
    check((all, unread), "one was removed");
    fs::rename(file(250), path("zzz.json")).unwrap();
    unread -= 1;
    check((all, unread), "one was renamed");
    rest();
    check((all, unread), "they come to rest");
    check((all, unread), "and are in groups again");

    let counts = || kept(&folder).iter().map(|file| entries(file).all().count()).collect::<Vec<_>>();
    let before = counts();
    let [first, second] = &kept(&folder)[..] else { panic!("files and groups") };
    for (damaged, other) in [(first, second), (second, first)] {
        let (bytes, others) = (fs::read(damaged).unwrap(), fs::read(other).unwrap());
        fs::write(damaged, &bytes[..bytes.len() / 2]).unwrap();
        if bytes.len() < others.len() {
            check((all, unread), "half of the groups are damaged");
        } else {
            check((all, unread), "half of the files are damaged, and no group");
        }
        fs::write(damaged, &bytes).unwrap();
    }
    // Nothing is left of either.
    kept(&folder).iter().for_each(|file| fs::write(file, "rulestep").unwrap());
    check((all, 0), "all is damaged");
    assert_eq!(before, counts(), "nothing was left of groups and files that there are no more");
}

#[test]
fn what_is_said_of_a_file_depends_on_how_it_was_named() {
    let folder = corpus();
    std::thread::sleep(GRAIN + Duration::from_millis(100));
    for command in ["stats s", "stats s/notes.txt s/d.jsonl", "stats s", "stats s/notes.txt s/d.jsonl"] {
        let plain = seen(&run(&folder, command, &["--no-cache"]));
        assert_eq!(seen(&run(&folder, command, &[])), plain, "{command}");
    }
}

#[test]
fn runs_beside_each_other_agree() {
    let folder = corpus();
    std::thread::sleep(GRAIN + Duration::from_millis(100));
    let plain = seen(&run(&folder, COMMANDS[3], &["--no-cache"]));
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..6).map(|_| scope.spawn(|| seen(&run(&folder, COMMANDS[3], &[])))).collect();
        runs.into_iter().for_each(|run| assert_eq!(run.join().unwrap(), plain));
    });
    let pending = |path: &PathBuf| path.extension().is_none_or(|extension| extension != "entries");
    assert!(!kept(&folder).iter().any(pending));
}

#[test]
fn nothing_can_be_kept_and_nobody_minds() {
    let folder = corpus();
    let plain = seen(&run(&folder, COMMANDS[0], &["--no-cache"]));
    fs::write(folder.path().join("kept"), "a file where the folder would be").unwrap();
    assert_eq!(seen(&run(&folder, COMMANDS[0], &[])), plain);
}
