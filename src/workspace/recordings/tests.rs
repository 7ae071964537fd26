use std::fs;
use std::path::Path;

use super::*;
use crate::stored::{NotRestored, StoredSession};
use rulestep_base::session::Session;

const ONE: &str = r#"{"id": "one", "messages": [{"role": "user", "content": "hello"}]}"#;
const TWO: &str = r#"{"id": "two", "messages": [{"role": "user", "content": "hello"}]}"#;

/// Makes nothing of the sessions.
struct Unlooked;

impl Look for Unlooked {
    type Seen = Arc<StoredSession>;

    fn look(
        &self,
        session: &Arc<StoredSession>,
        _content: &Arc<Session>,
        _known: bool,
    ) -> (Self::Seen, bool) {
        (Arc::clone(session), false)
    }
}

/// The diagnostics of each file with their codes, and the listing and the end in short.
fn read(recordings: &mut Recordings, root: &Path) -> Vec<String> {
    let mut told = Vec::new();
    recordings.read(&Unlooked, &mut |message| {
        let short = |file: &str| file.replace(&format!("{}/", root.display()), "");
        let said = |sessions: &[Arc<StoredSession>], diagnostics: &[Diagnostic]| {
            let ids = sessions.iter().map(|session| {
                let codes: Vec<&str> = session.diagnostics.iter().map(|told| told.code.as_str()).collect();
                format!("{} {}", session.id, codes.join(" ")).trim_end().to_owned()
            });
            let codes = diagnostics.iter().map(|told| format!("!{}", told.code));
            ids.chain(codes).collect::<Vec<_>>().join(", ")
        };
        told.push(match message {
            Event::Listing { files } => files.iter().map(|file| short(file)).collect::<Vec<_>>().join(" "),
            Event::Sessions { file, sessions, diagnostics, .. } => {
                format!("{}: {}", short(&file), said(&sessions, &diagnostics))
            }
            Event::File { file, sessions, diagnostics, .. } => {
                format!("{} again: {}", short(&file), said(&sessions, &diagnostics))
            }
            Event::End { diagnostics } => format!("end {}", said(&[], &diagnostics)).trim_end().to_owned(),
        });
    });
    told
}

/// The sessions of what was read last.
fn sessions(recordings: &mut Recordings) -> Vec<Arc<StoredSession>> {
    let mut all = Vec::new();
    recordings.read(&Unlooked, &mut |event| match event {
        Event::Sessions { sessions, .. } | Event::File { sessions, .. } => all.extend(sessions),
        Event::Listing { .. } | Event::End { .. } => {}
    });
    all
}

/// Makes a file look long unchanged.
fn age(path: &Path) {
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
}

fn of(root: &Path) -> Recordings {
    Recordings::new(vec![root.display().to_string()], Options::default())
}

#[test]
fn a_file_is_read_again_alone_and_only_if_it_has_changed() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a.json"), folder.path().join("b.json"));
    for (path, text) in [(&a, ONE), (&b, TWO)] {
        fs::write(path, text).unwrap();
        age(path);
    }
    let mut recordings = of(folder.path());
    let read = |recordings: &mut Recordings| read(recordings, folder.path());
    assert_eq!(read(&mut recordings), ["a.json b.json", "a.json: one", "b.json: two", "end"]);
    assert_eq!(read(&mut recordings), ["a.json b.json", "end"]);
    fs::write(&b, ONE).unwrap();
    age(&b);
    assert_eq!(read(&mut recordings), ["a.json b.json", "b.json again: one", "end"]);
    // A new one, one that is not a recording, and one that is removed.
    fs::write(folder.path().join("0.json"), TWO).unwrap();
    age(&folder.path().join("0.json"));
    fs::write(folder.path().join("notes.json"), r#"{"a": 1}"#).unwrap();
    age(&folder.path().join("notes.json"));
    fs::remove_file(&a).unwrap();
    assert_eq!(read(&mut recordings), ["0.json b.json notes.json", "0.json: two", "end !not_a_session"]);
    assert_eq!(read(&mut recordings), ["0.json b.json notes.json", "end !not_a_session"]);
}

#[test]
fn a_file_that_was_just_written_may_be_written_again_without_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.json"), ONE).unwrap();
    let mut recordings = of(folder.path());
    read(&mut recordings, folder.path());
    assert_eq!(read(&mut recordings, folder.path()), ["a.json", "a.json again: one", "end"]);
}

#[test]
fn what_is_named_and_goes_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    fs::write(&path, ONE).unwrap();
    let name = path.display().to_string();
    let mut recordings = Recordings::new(vec![name.clone(), name.clone()], Options::default());
    let read = |recordings: &mut Recordings| read(recordings, folder.path());
    assert_eq!(
        read(&mut recordings),
        ["a.json", "a.json: one", "end !named_twice"],
        "named twice, read once"
    );
    fs::remove_file(&path).unwrap();
    let gone = read(&mut recordings);
    assert_eq!(gone.first().map(String::as_str), Some("a.json"));
    assert_eq!(gone.get(1).map(String::as_str), Some("a.json again: !missing_file"));
    fs::write(&path, TWO).unwrap();
    assert_eq!(read(&mut recordings), ["a.json", "a.json: two", "end !named_twice"]);
}

#[test]
fn the_end_of_what_is_being_written_proves_nothing_until_it_rests() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let mut text = format!("{ONE}\n");
    fs::write(&path, &text).unwrap();
    let mut recordings = of(folder.path()).resting(Duration::from_secs(60));
    let read_now = |recordings: &mut Recordings| read(recordings, folder.path());
    assert_eq!(read_now(&mut recordings), ["a.jsonl", "a.jsonl: one", "end"]);
    text.push_str(&TWO[..30]);
    fs::write(&path, &text).unwrap();
    assert_eq!(read_now(&mut recordings), ["a.jsonl", "a.jsonl again: one", "end"]);
    let rests = recordings.read(&Unlooked, &mut |_| ()).unwrap();
    assert!(rests > Duration::from_secs(50), "it is to be read again: {rests:?}");
    // A complete session among them that waits for its result: nothing is reported of it yet.
    text.truncate(ONE.len() + 1);
    text.push_str(&TWO.replace("]}", r#", {"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}}]}]}"#));
    text.push('\n');
    fs::write(&path, &text).unwrap();
    assert_eq!(read_now(&mut recordings), ["a.jsonl", "a.jsonl again: one, two", "end"]);
    text.push_str("{\"id\": \"thr");
    fs::write(&path, &text).unwrap();
    assert_eq!(read_now(&mut recordings), ["a.jsonl", "a.jsonl again: one, two", "end"]);
    // It is complete.
    let mut recordings = recordings.resting(Duration::ZERO);
    let told = read_now(&mut recordings);
    assert_eq!(
        told.get(1).map(String::as_str),
        Some("a.jsonl again: one, two, !damaged_line, !no_results_recorded, !damaged_record")
    );
    assert_eq!(recordings.read(&Unlooked, &mut |_| ()), None);
}

#[cfg(unix)]
#[test]
fn names_that_look_alike_are_two_files() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = tempfile::tempdir().unwrap();
    for (byte, text) in [(0xfe, ONE), (0xff, TWO)] {
        fs::write(
            folder.path().join(std::ffi::OsStr::from_bytes(&[byte, b'.', b'j', b's', b'o', b'n'])),
            text,
        )
        .unwrap();
    }
    let told = read(&mut of(folder.path()), folder.path());
    assert_eq!(
        told,
        ["\u{fffd}.json \u{fffd}.json (2)", "\u{fffd}.json: one", "\u{fffd}.json (2): two", "end"]
    );
}

/// The number of sessions that were written when they left memory. All of them come back.
fn written(path: &Path) -> (usize, usize) {
    let read = sessions(&mut of(path).bounded(0));
    let kept = sessions(&mut of(path));
    for (read, kept) in read.iter().zip(&kept) {
        assert!(!read.is_in_memory() && kept.is_in_memory());
        assert_eq!(read.session().unwrap(), kept.session().unwrap());
        assert!(read.is_equal(kept) && kept.is_equal(read));
    }
    (read.iter().filter(|session| session.was_written()).count(), kept.len())
}

#[test]
fn what_is_a_line_of_a_file_is_written_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let many = |from: usize| -> String {
        (from..from + 400).map(|id| format!("{}\n", ONE.replace("one", &format!("s{id}")))).collect()
    };
    fs::write(path("lines.jsonl"), many(0)).unwrap();
    assert_eq!(written(&path("lines.jsonl")), (0, 400));
    // A session that is not a line of a file, or not in a file, has to be written.
    let document = format!("[{}]", many(0).trim_end().replace('\n', ","));
    fs::write(path("document.json"), document).unwrap();
    assert_eq!(written(&path("document.json")), (400, 400));
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, many(0).as_bytes()).unwrap();
    fs::write(path("packed.jsonl.gz"), packed.finish().unwrap()).unwrap();
    assert_eq!(written(&path("packed.jsonl.gz")), (400, 400));
}

#[test]
fn of_recordings_that_do_not_fit_into_memory_little_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let lines: String = (0..400).map(|id| format!("{}\n", ONE.replace("one", &format!("s{id}")))).collect();
    fs::write(&path, &lines).unwrap();
    let stay = |most: usize| {
        let read = sessions(&mut of(&path).bounded(most));
        read.iter().filter(|session| session.is_in_memory()).count()
    };
    let weight = sessions(&mut of(&path)).iter().map(|session| session.weight_in_memory()).sum::<usize>();
    let (one, bytes) = (weight / 400, lines.len());
    assert!(weight > 2 * bytes, "a session weighs more in memory than in its file");
    assert_eq!(stay(weight), 400);
    // For all that is known before it is read, it may fit.
    assert_eq!(stay(bytes), bytes / one);
    assert_eq!(stay(bytes - 1), bytes / one / 8);
}

#[test]
fn another_session_than_was_read_never_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let line =
        |id: usize, said: &str| format!("{}\n", ONE.replace("one", &format!("s{id}")).replace("hello", said));
    let lines = |said: &str| (0..50).map(|id| line(id, said)).collect::<String>();
    fs::write(&path, lines("hello")).unwrap();
    let mut recordings = of(&path).bounded(0);
    let first = sessions(&mut recordings);
    // The file grows: the earlier lines are where they were.
    fs::write(&path, lines("hello") + &line(50, "hello")).unwrap();
    assert!(first.iter().all(|session| session.session().is_ok()));
    let grown = sessions(&mut recordings);
    assert_eq!(grown.len(), 51);
    assert!(first.iter().zip(&grown).all(|(before, now)| before.is_equal(now)));
    // As long as before, with another text; shorter; removed.
    let lost = |of: &[Arc<StoredSession>]| {
        of.iter().filter(|session| matches!(session.session(), Err(NotRestored::Recording))).count()
    };
    let changed = lines("hello").replacen("hello", "adieu", 1);
    fs::write(&path, &changed).unwrap();
    assert_eq!(lost(&grown[1..]), 1, "the last one is not there any more");
    assert!(matches!(grown[0].session(), Err(NotRestored::Recording)));
    let now = sessions(&mut recordings);
    assert_eq!((now.len(), lost(&now)), (50, 0));
    assert!(!grown[0].is_equal(&now[0]) && grown[1].is_equal(&now[1]));
    // One more in front: every line is somewhere else, and no session is taken for the one that is there now.
    fs::write(&path, line(99, "hello") + &lines("hello")).unwrap();
    assert!(now.iter().all(|session| match session.session() {
        Ok(content) => content.id == session.id,
        Err(error) => matches!(error, NotRestored::Recording),
    }));
    assert!(lost(&now) >= 49);
    let moved = sessions(&mut recordings);
    assert!((moved.len(), lost(&moved)) == (51, 0) && !now[3].is_equal(&moved[4]));
    fs::remove_file(&path).unwrap();
    assert_eq!(lost(&moved), 51);
}
