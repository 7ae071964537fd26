//! Watching real folders: every way of saving is told, by the system and by looking; nothing else is.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant, SystemTime};

use rstest::rstest;
use rulestep::files::watch::{ChangedFiles, Watch, WatchEvent, WatchTargets, Way, watch};
use tempfile::TempDir;

/// How long a change may take to be told: long, for slow machines.
const PATIENCE: Duration = Duration::from_secs(10);

const POLLING: Way = Way::Polling(Duration::from_millis(50));

struct Scene {
    folder: TempDir,
    told: Receiver<WatchEvent>,
    _watch: Watch,
}

impl Scene {
    /// A folder with `policies/a.yaml` and `sessions/a.json`, long unchanged, and whatever `make` adds to them.
    fn new(way: Way, make: impl FnOnce(&Path)) -> Scene {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for (name, text) in [("policies/a.yaml", "tool: a\n"), ("sessions/a.json", "{}")] {
            write(&root.join(name), text);
        }
        make(root);
        age(root);
        let named = |name: &str| root.join(name).display().to_string();
        let watched = WatchTargets { policies: vec![named("policies")], sessions: vec![named("sessions")] };
        let (tells, told) = channel();
        let watch = watch(watched, way, move |news| drop(tells.send(news))).unwrap();
        begins(&told, way);
        Scene { folder, told, _watch: watch }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The side is told, sooner or later.
    fn tells(&self, what: &str, mut wanted: impl FnMut(ChangedFiles) -> bool) {
        let begun = Instant::now();
        loop {
            match self.told.recv_timeout(PATIENCE.saturating_sub(begun.elapsed())) {
                Ok(WatchEvent::Touched(touched)) if wanted(touched) => return,
                Ok(_) => {}
                Err(error) => panic!("{what} is not told: {error}"),
            }
        }
    }

    fn tells_policies(&self, what: &str) {
        self.tells(what, |touched| touched.policies);
    }

    fn is_quiet(&self, what: &str) {
        let told = self.told.recv_timeout(Duration::from_millis(400));
        assert_eq!(told, Err(RecvTimeoutError::Timeout), "{what}");
    }

    /// Forgets what is told from now on until nothing is: young files are looked at several times.
    fn settle(&self) {
        age(self.folder.path());
        while self.told.recv_timeout(Duration::from_millis(200)).is_ok() {}
    }
}

/// The watch begins; what changed before counts as touched.
fn begins(told: &Receiver<WatchEvent>, way: Way) {
    assert_eq!(told.recv_timeout(PATIENCE), Ok(WatchEvent::Begun(way)));
    let everything = ChangedFiles { policies: true, sessions: true };
    assert_eq!(told.recv_timeout(PATIENCE), Ok(WatchEvent::Touched(everything)));
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Makes every file below look long unchanged.
fn age(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            age(&entry.path());
        } else if kind.is_file() {
            let file = File::options().write(true).open(entry.path()).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
        }
    }
}

fn sh(script: &str, folder: &Path) {
    assert!(Command::new("sh").args(["-ec", script]).current_dir(folder).status().unwrap().success());
}

#[rstest]
fn every_way_of_saving_a_policy_is_told(
    #[values(Way::System, POLLING)] way: Way,
    #[values(
        "printf 'tool: b\\n' > a.yaml",
        "printf 'tool: b\\n' > .a.yaml.new && mv .a.yaml.new a.yaml",
        "sed -i s/a/c/ a.yaml",
        "cp a.yaml a.yaml~ && printf 'tool: d\\n' > a.yaml && rm a.yaml~",
        "mv a.yaml a.yaml~ && printf 'tool: d\\n' > a.yaml && rm a.yaml~",
        "printf '# more\\n' >> a.yaml",
        "printf 'tool: b\\n' > b.yaml",
        "mkdir new && printf 'tool: b\\n' > new/b.yaml",
        "mkdir -p new/deeper/still && sleep 0.2 && printf 'tool: b\\n' > new/deeper/still/b.yaml",
        "rm a.yaml",
        "mv a.yaml b.yaml",
        "mv ../policies ../away",
        "rm -r ../policies",
        "touch a.yaml"
    )]
    script: &str,
) {
    let scene = Scene::new(way, |_| ());
    sh(script, &scene.path("policies"));
    scene.tells_policies(script);
}

/// A test names a policy file by its path, so a change of that file changes the version wherever it is.
#[rstest]
fn files_that_policies_name_are_watched(#[values(Way::System, POLLING)] way: Way) {
    let suite = |file: &str| {
        format!("tests: [{{id: by_file, expected: {{type: sequence_valid, policy: ../{file}}}}}]\n")
    };
    let scene = Scene::new(way, |root| {
        write(&root.join("policies/eval.yaml"), &suite("elsewhere/p.yaml"));
        write(&root.join("elsewhere/p.yaml"), "[A]\n");
        write(&root.join("elsewhere/q.yaml"), "[A]\n");
    });
    scene.settle();
    sh("printf '[A]\n' > q.yaml", &scene.path("elsewhere"));
    scene.is_quiet("a file that nobody names");
    sh("printf '[B]\n' > p.yaml", &scene.path("elsewhere"));
    scene.tells_policies("a file that a policy names");
    scene.settle();
    write(&scene.path("policies/eval.yaml"), &suite("elsewhere/later.yaml"));
    scene.tells_policies("the policy that names another");
    scene.settle();
    sh("printf '[B]\n' > later.yaml", &scene.path("elsewhere"));
    scene.tells_policies("a file that is named and was not there");
}

#[rstest]
fn recordings_are_told_apart_from_policies(#[values(Way::System, POLLING)] way: Way) {
    let scene = Scene::new(way, |_| ());
    sh("printf '{}\\n' >> a.json", &scene.path("sessions"));
    scene.tells("a longer recording", |touched| touched == ChangedFiles { policies: false, sessions: true });
    scene.settle();
    sh("printf '{}\\n' > b.jsonl", &scene.path("sessions"));
    scene.tells("a new recording", |touched| touched.sessions);
    scene.settle();
    sh("printf '# x\\n' >> a.yaml", &scene.path("policies"));
    scene.tells("a policy", |touched| touched == ChangedFiles { policies: true, sessions: false });
}

#[rstest]
fn what_does_not_matter_is_not_told(#[values(Way::System, POLLING)] way: Way) {
    let scene = Scene::new(way, |root| write(&root.join("policies/notes.txt"), "x"));
    scene.is_quiet("nothing happens");
    sh("cat policies/a.yaml sessions/a.json > /dev/null; ls policies > /dev/null", scene.folder.path());
    sh(
        "printf x > .a.yaml.swp; printf x > a.yaml~; printf x >> notes.txt; rm .a.yaml.swp",
        &scene.path("policies"),
    );
    sh("mkdir -p elsewhere && printf x > elsewhere/a.yaml && printf x > b.yaml", scene.folder.path());
    sh("mkdir target && printf x > target/a.yaml", &scene.path("policies"));
    scene.is_quiet("editors' own files, and files beside");
}

#[rstest]
fn a_folder_that_vanishes_and_returns(
    #[values(Way::System, POLLING)] way: Way,
    #[values("mv policies away", "rm -r policies")] vanishes: &str,
) {
    let scene = Scene::new(way, |_| ());
    sh(vanishes, scene.folder.path());
    scene.tells_policies(vanishes);
    scene.settle();
    sh("mkdir policies && printf 'tool: b\\n' > policies/b.yaml", scene.folder.path());
    scene.tells_policies("it returns");
    scene.settle();
    sh("sed -i s/b/c/ policies/b.yaml", scene.folder.path());
    scene.tells_policies("an edit in the new folder");
    scene.settle();
    // What was moved away is no longer looked at.
    sh("if test -d away; then printf x >> away/a.yaml; fi", scene.folder.path());
    scene.is_quiet("the folder that is away");
}

/// Replaced in one go, a folder is another one under the same name: the old watch would see nothing of it.
#[rstest]
fn a_folder_that_is_replaced_in_one_go(
    #[values(Way::System, POLLING)] way: Way,
    #[values("policies", "policies/sub")] folder: &str,
    #[values(
        "mv OLD away && mkdir OLD",
        "rm -r OLD && mkdir OLD",
        "cp -r OLD new && mv OLD away && mv new OLD"
    )]
    replaced: &str,
) {
    let scene = Scene::new(way, |root| write(&root.join("policies/sub/s.yaml"), "tool: s\n"));
    let script = replaced.replace("OLD", folder).replace("away", "../away").replace("new", "../new");
    // Beside the folder of the scene, so that what is moved away is out of sight.
    let outside = |path: &str| path.replace("../", &format!("{}.", scene.folder.path().display()));
    sh(&outside(&format!("{script} && printf 'tool: n\\n' > {folder}/n.yaml")), scene.folder.path());
    scene.tells_policies(replaced);
    scene.settle();
    for edit in ["printf 'tool: m\\n' > n.yaml", "printf 'tool: o\\n' > o.yaml", "rm n.yaml"] {
        sh(edit, &scene.path(folder));
        scene.tells_policies(edit);
        scene.settle();
    }
    sh(&outside("rm -rf ../away ../new"), scene.folder.path());
}

/// A file that is a policy and a recording at once is told as both.
#[rstest]
fn what_concerns_both_sides_is_told_to_both(#[values(Way::System, POLLING)] way: Way) {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("all/a.json"), "{}");
    age(folder.path());
    let all = vec![folder.path().join("all").display().to_string()];
    let watched = WatchTargets { policies: all.clone(), sessions: all };
    let (tells, told) = channel();
    let watch = watch(watched, way, move |news| drop(tells.send(news))).unwrap();
    begins(&told, way);
    let scene = Scene { folder, told, _watch: watch };
    for edit in ["printf '{ }' > a.json", "printf '{}' > b.json", "rm b.json"] {
        sh(edit, &scene.path("all"));
        let mut seen = ChangedFiles::default();
        scene.tells(edit, |touched| {
            let policies = seen.policies || touched.policies;
            seen = ChangedFiles { policies, sessions: seen.sessions || touched.sessions };
            seen.policies && seen.sessions
        });
        scene.settle();
    }
}

#[cfg(unix)]
#[rstest]
fn links_are_followed_and_their_exchange_is_told(#[values(Way::System, POLLING)] way: Way) {
    let scene = Scene::new(way, |root| {
        write(&root.join("versions/1/b.yaml"), "tool: b\n");
        write(&root.join("versions/2/b.yaml"), "tool: c\n");
        write(&root.join("elsewhere/c.yaml"), "tool: c\n");
        sh("ln -s ../versions/1 policies/linked; ln -s ../elsewhere/c.yaml policies/c.yaml", root);
        // As containers mount configuration: the data folder is a hidden link that is exchanged.
        sh(
            "mkdir policies/..one policies/..two; printf 'tool: d\\n' | tee policies/..one/d.yaml > policies/..two/d.yaml",
            root,
        );
        sh("cd policies; ln -s ..one ..data; ln -s ..data/d.yaml d.yaml", root);
    });
    let edits = [
        "sed -i s/b/x/ versions/1/b.yaml",
        "printf 'tool: y\\n' > elsewhere/c.yaml",
        "ln -s ../versions/2 policies/.new && mv -T policies/.new policies/linked",
        "sed -i s/c/z/ versions/2/b.yaml",
        "cd policies; ln -s ..two ..tmp && mv -T ..tmp ..data",
        "printf 'tool: e\\n' > policies/..two/d.yaml",
    ];
    for edit in edits {
        sh(edit, scene.folder.path());
        scene.tells_policies(edit);
        scene.settle();
    }
}

#[rstest]
fn what_was_named_before_it_was_there(#[values(Way::System, POLLING)] way: Way) {
    let folder = tempfile::tempdir().unwrap();
    let named = |name: &str| folder.path().join(name).display().to_string();
    let watched =
        WatchTargets { policies: vec![named("not/yet/there.yaml")], sessions: vec![named("runs/*.json")] };
    let (tells, told) = channel();
    let watch = watch(watched, way, move |news| drop(tells.send(news))).unwrap();
    begins(&told, way);
    let scene = Scene { folder, told, _watch: watch };
    for step in ["mkdir not", "mkdir not/yet", "printf 'tool: a\\n' > not/yet/there.yaml", "rm -r not"] {
        sh(step, scene.folder.path());
        if !step.starts_with("mkdir") {
            scene.tells_policies(step);
        }
        scene.settle();
    }
    sh("mkdir runs", scene.folder.path());
    scene.settle();
    sh("printf '{}' > runs/a.json", scene.folder.path());
    scene.tells("a file that a pattern matches", |touched| touched.sessions);
}

#[test]
fn a_file_that_never_rests_is_told_all_the_same() {
    let scene = Scene::new(Way::System, |_| ());
    let path = scene.path("sessions/a.json");
    let writes = std::thread::spawn(move || {
        for _ in 0..200 {
            fs::write(&path, "{}").unwrap();
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    let begun = Instant::now();
    scene.tells("a recording being written", |touched| touched.sessions);
    assert!(!writes.is_finished() || begun.elapsed() < Duration::from_millis(900), "told while it goes on");
    // And an edit of a policy does not wait for it.
    sh("printf 'tool: q\\n' > a.yaml", &scene.path("policies"));
    scene.tells_policies("a policy meanwhile");
    writes.join().unwrap();
}

#[test]
fn a_watch_that_is_dropped_ends() {
    let scene = Scene::new(Way::System, |_| ());
    let Scene { folder, told, _watch } = scene;
    drop(_watch);
    sh("printf 'tool: q\\n' > policies/a.yaml", folder.path());
    let end = told.recv_timeout(PATIENCE);
    assert!(
        matches!(end, Err(RecvTimeoutError::Disconnected)),
        "what tells is dropped with the thread: {end:?}"
    );
}
