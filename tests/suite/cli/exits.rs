//! Commands end as the end of their help says.

use super::{CLEAN, folder, refunds, run};

/// `refunds()` with a folder in which nothing is stopped (`clean`), with one that has a damaged file beside that (`part`), one
/// that has a damaged file beside a stopped call (`both`), one with a file that is no recording (`skip`), and a policy with a
/// mistake (`wrong`).
#[test]
fn each_command_ends_with_the_code_that_its_help_says() {
    let files = refunds();
    let damaged = r#"{"id": "x", "messages": [{"role": "user""#;
    let stopped = std::fs::read_to_string(files.path().join("sessions/a.json")).unwrap();
    for (name, text) in [
        ("clean/b.json", CLEAN),
        ("part/b.json", CLEAN),
        ("part/d.json", damaged),
        ("both/a.json", &stopped),
        ("both/d.json", damaged),
        ("skip/b.json", CLEAN),
        ("skip/notes.txt", "remember the milk"),
        ("wrong/a.yaml", "tool: a\nprecondition: []\n"),
        ("case/a.yaml", "tool: a\nforbids_after: [b]\n"),
        (
            "case/a.case.yaml",
            "policy: .\nsession: [{role: user, content: Hi}]\nexpect: [{status: stopped}]\n",
        ),
        ("never.yaml", "rules: [{type: never, call: {runs: {program: rm}}}]\n"),
        ("allowed.txt", "ls\n"),
        ("stopped.txt", "rm\nls\n"),
        ("unjudged/a.case.yaml", "policy: .\nsession: []\nexpect: [{status: stopped}]\n"),
    ] {
        let path = files.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let expected = [
        // What is stopped counts more than what is damaged, unless files must not be skipped.
        ("replay clean", 0),
        ("replay both", 1),
        ("replay both --mode shadow", 1),
        ("replay part", 2),
        ("replay skip", 0),
        ("replay skip --strict", 2),
        ("replay both --by rule", 1),
        ("replay part --by rule", 2),
        ("replay nowhere", 2),
        ("replay clean -p wrong", 2),
        ("replay clean --where tool:none", 2),
        ("report both", 1),
        ("report part", 2),
        ("diff clean -b recorded", 0),
        ("diff both -b recorded", 1),
        ("diff part -b recorded", 2),
        ("diff sessions -b recorded --fail-on none", 0),
        // These find nothing, so what is damaged counts.
        ("coverage sessions", 0),
        ("coverage both", 2),
        ("stats sessions", 0),
        ("stats both", 2),
        ("suggest sessions", 0),
        ("suggest both", 2),
        ("export sessions -o rows", 0),
        ("export both -o rows", 2),
        ("convert sessions", 0),
        ("convert both", 2),
        ("convert skip --strict", 2),
        ("explain --at refund-124:2.1 sessions", 0),
        ("explain --at refund-124:2.1 both", 2),
        ("explain --at refund-124:7.7 sessions", 2),
        ("explain nonsense", 2),
        ("explain shell ls -p never.yaml", 0),
        ("explain shell rm -p never.yaml", 1),
        ("explain shell rm -p never.yaml --mode shadow", 1),
        ("explain shell rm", 0),
        ("explain shell rm -p wrong", 2),
        ("explain shell --commands allowed.txt -p never.yaml", 0),
        ("explain shell --commands stopped.txt -p never.yaml", 1),
        ("explain shell --commands nowhere.txt -p never.yaml", 2),
        ("check", 0),
        ("check wrong", 1),
        ("check contracts --against part", 2),
        ("check nowhere", 2),
        ("test case", 1),
        ("test case unjudged", 2),
        ("test contracts", 2),
        ("schema nonsense", 2),
        ("new nonsense", 2),
        ("init -o contracts/new", 0),
        ("init -o contracts/new", 2),
        ("gate", 2),
        ("gate --stdio", 0),
        ("lsp", 1),
        ("man nonsense", 2),
        ("merge nowhere", 2),
        ("migrate nowhere", 2),
        ("prune --older-than nonsense", 2),
    ];
    for (line, code) in expected {
        let told = run(&files, &line.split(' ').collect::<Vec<_>>());
        assert!(
            told.starts_with(&format!("exit {code}\n")),
            "`rulestep {line}` does not end with {code}: {told}"
        );
    }
    #[cfg(target_os = "linux")]
    {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = super::rulestep(files.path(), &["explain", "marks"]);
        assert_eq!(command.stdout(full).status().unwrap().code(), Some(3));
    }
    let empty = folder(&[]);
    let told = run(&empty, &["test"]);
    assert!(told.starts_with("exit 2\n"), "{told}");
}
