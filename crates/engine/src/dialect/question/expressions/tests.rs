use super::*;

#[test]
fn expressions_that_name_programs_or_files_are_said_by_what_a_call_does() {
    let cases = [
        (r"git\s+push", r#"runs {"program":"git","args":["push"]}"#),
        (r"^git push\b", r#"runs {"program":"git","args":["push"]}"#),
        (r"(^|\s)git\s+push(\s|$)", r#"runs {"program":"git","args":["push"]}"#),
        (r"\bgit\b.*\bpush\b", r#"runs {"program":"git","args":["push"]}"#),
        (r"git push.*--force", r#"runs {"program":"git","args":["push"],"flags":["force"]}"#),
        (r"git remote add", r#"runs {"program":"git","args":["remote","add"]}"#),
        (r"^rm\s+-rf", r#"runs {"program":"rm","flags":["r","f"]}"#),
        (r"rm -rf", r#"runs {"program":"rm","flags":["r","f"]}"#),
        (r"(npm|pnpm) publish", r#"runs {"program":["npm","pnpm"],"args":["publish"]}"#),
        (r"^(?:cargo|go) (test|vet)$", r#"runs {"program":["cargo","go"],"args":[["test","vet"]]}"#),
        (r"curl|wget", r#"runs {"program":["curl","wget"]}"#),
        (r"^(curl|wget)\b", r#"runs {"program":["curl","wget"]}"#),
        (
            r"git push|npm publish",
            r#"runs [{"program":"git","args":["push"]},{"program":"npm","args":["publish"]}]"#,
        ),
        (r"\.env", r#"reads ".env""#),
        (r".env", r#"reads ".env""#),
        (r"\.env|\.pem$", r#"reads [".env","*.pem"]"#),
        (r"cat\s+.*\.env", r#"reads ".env""#),
        (r"~/\.ssh/", r#"reads "~/.ssh""#),
        (r"/etc/passwd", r#"reads "/etc/passwd""#),
        (r"(id_rsa|id_ed25519)", r#"reads ["id_rsa","id_ed25519"]"#),
        (r"^pytest", r#"runs {"program":"pytest"}"#),
    ];
    for (pattern, wanted) in cases {
        let found = meaning(pattern).map(|found| format!("{} {}", found.key, found.value));
        assert_eq!(found.as_deref(), Some(wanted), "{pattern}");
    }
    let nothing = [
        "",
        "^",
        "$",
        "push",
        "make",
        "test",
        "host",
        "find",
        "cat",
        "production",
        "secret",
        "password",
        r"\d+",
        "DROP TABLE",
        "git",
        "hello world",
        "rm -rf /",
        "^curl evil",
        "docker .*rm",
        "^sudo",
        "sudo rm",
        "^bash -c",
        r"git (-C \S+ )?push",
        "[;&|]git push",
        "git pus?h",
        "git push{2}",
        "(git",
        "git)",
        "git|",
        "|git",
        "a|curl",
        "python -m pytest",
        "git -C x push",
        r"\S+ push",
        "ssh",
        "x.env.y",
        "example.com",
        "push|curl",
    ];
    for pattern in nothing {
        assert_eq!(meaning(pattern), None, "{pattern}");
    }
}
