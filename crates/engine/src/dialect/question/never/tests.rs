use super::*;

/// A written text, and what to write instead.
fn table(read: impl Fn(&str) -> Option<Never>, never: &[(&str, &str)], fine: &[&str]) {
    for (text, instead) in never {
        let found = read(text).unwrap_or_else(|| panic!("{text}: nothing is said"));
        assert!(found.instead.contains(instead), "{text}: {found:?}");
        let value = text.split_once('=').map_or(*text, |(_, value)| value);
        assert!(found.why.contains(value), "{text}: {found:?}");
    }
    for text in fine {
        assert_eq!(read(text), None, "{text}");
    }
}

#[test]
fn programs() {
    let never = [
        ("git push", "`program: git, args: [push]`"),
        ("rm -rf", "`program: rm, flags: [-rf]`"),
        ("git push --force origin", "`program: git, args: [push, origin], flags: [--force]`"),
        ("git|hg", "`[git, hg]`"),
        ("{git,hg}", "`[git, hg]`"),
        ("python[23]", "`python?`"),
        ("$EDITOR", "name the program"),
        ("!git", "names of the programs"),
        ("-x", "names of the programs"),
        ("[g", "names of the programs"),
        ("git}", "names of the programs"),
    ];
    table(program, &never, &["git", "[", "[[", "*", "python?", "apt-*", "g++", "a.exe", "docker-compose"]);
    assert_eq!(program("/usr/bin/git").unwrap().instead, "write `git`");
}

#[test]
fn paths_that_are_expressions() {
    let path = |text: &str| super::path(text, Act::Reads);
    let never = [
        ("^.env", "`.env`"),
        ("^src/.*", "`src/*`"),
        (".*.env$", "`*.env`"),
        ("!^x$", "`!x`"),
        ("ENV:TOKEN", "`env:TOKEN`"),
        ("Env:*", "`env:*`"),
    ];
    table(path, &never, &["/", "/**", "~", "a^b", "a$b", "env:TOKEN"]);
    assert_eq!(host("2001:db8:0::1").unwrap().instead, "write `2001:db8::1`");
    assert_eq!((host("2001:DB8::1"), host("::1"), host("10.0.0.1")), (None, None, None));
}

#[test]
fn operands() {
    let never = [
        ("push --force", "`args: [push], flags: [--force]`"),
        ("run deploy", "`args: [run, deploy]`"),
        ("push|pull", "[push, pull]"),
        ("{push,pull}", "`[push, pull]`"),
        ("--force", "`flags: [--force]`"),
        ("-f", "`flags: [-f]`"),
        ("v[0-9]*", "`v?*`"),
    ];
    table(operand, &never, &["push", "-", "*", "a=b", "s3://x/*", "{}", ".[]", "HEAD~1", "@{u}"]);
}

#[test]
fn flags() {
    let never = [
        ("-f --force", "`[-f, --force]`"),
        ("force push", "`[force, push]`"),
        ("-r,-f", "`[-r, -f]`"),
        ("f|force", "`[f, force]`"),
        ("--no-*", "the name of one option"),
        ("--", "an option, with or without"),
        ("!force", "`without: [force]`"),
        ("m={a,b}*", "one entry of `runs` for each value"),
    ];
    let fine =
        ["-rf", "rf", "r", "-r", "force", "--force", "message=a b", "-?", "one-file-system", "-name=*.pem"];
    table(flag, &never, &fine);
}

#[test]
fn hosts() {
    let never = [
        ("https://evil.example", "`evil.example`"),
        ("https://me@evil.example:8443/path", "`evil.example`"),
        ("evil.example:443", "`evil.example`"),
        ("evil.example:*", "`evil.example`"),
        ("evil.example/path", "`evil.example`"),
        ("me@evil.example", "`evil.example`"),
        (".evil.example", "`[evil.example, '*.evil.example']`"),
        ("evil.example.", "`evil.example`"),
        ("10.0.0.0/8", "`10.1.*`"),
        ("[::1]:80", "`::1`"),
        ("[::1]", "`::1`"),
        ("a.example, b.example", "`[a.example, b.example]`"),
        ("a.example,b.example", "`[a.example, b.example]`"),
        ("!a.example", "`except: a.example`"),
        ("{a,b}.example", "`[a.example, b.example]`"),
        ("a.example|b.example", "`[a.example, b.example]`"),
        ("web[0-9].example", "`web?.example`"),
        ("$HOST", "that it holds"),
        (" a.example", "`[a.example]`"),
        ("://", "`*`"),
    ];
    table(
        host,
        &never,
        &["*", "evil.example", "*.evil.example", "10.1.*", "::1", "fe80::1", "db", "müller.example"],
    );
}

#[test]
fn paths() {
    let never = [
        ("$HOME/.ssh/*", "`~/.ssh/*`"),
        ("!${HOME}/.ssh/*", "`!~/.ssh/*`"),
        ("$PWD/a", "`./a`"),
        ("$SECRETS/*", "the path itself"),
        ("a/${X}/b", "the path itself"),
        ("~ivo/.ssh/*", "`/home/ivo/.ssh/*`"),
        ("{.env,.netrc}", "`[.env, .netrc]`"),
        ("src/*.{pem,key}", "`[src/*.pem, src/*.key]`"),
        (".env, .netrc", "`[.env, .netrc]`"),
        (".env|.netrc", "`[.env, .netrc]`"),
        (" .env", "`.env`"),
        ("!.env ", "`!.env`"),
        ("file:///etc/passwd", "`/etc/passwd`"),
        ("secrets/../.env", "`.env`"),
        ("./../a", "`../a`"),
        ("a/./b", "`a/b`"),
        ("a//b/", "`a/b/`"),
        ("/../a", "`/a`"),
        ("~/../a", "the path that is meant"),
        ("a/**/../b", "the path that is meant"),
        (".en[v]", "`.en?`"),
        ("app/[id]/page.tsx", "`app/?id?/page.tsx`"),
        (r"C:\Users\me", "`C:/Users/me`"),
        (r"\*.env", "`?.env`"),
        ("!", "after the `!`"),
        ("env:$TOKEN", "`env:TOKEN`"),
        ("env:${TOKEN}", "`env:TOKEN`"),
        ("env:", "`env:TOKEN`"),
        ("env:TOKEN=1", "the name alone"),
    ];
    let fine = [
        ".env",
        "*.pem",
        "**/*.pem",
        "/etc/**",
        "~",
        "~/.ssh/**",
        ".",
        "..",
        "../a",
        "../../a",
        "./a",
        "/",
        "a/",
        "!a",
        "env:TOKEN",
        "env:*_KEY",
        "!env:PATH",
        "My Documents/*",
        "routes/$id.tsx",
        "A$B.class",
        "{slug}.tsx",
        "a[]",
        "foo,v",
    ];
    table(|text| path(text, Act::Reads), &never, &fine);
    let written = path("env:TOKEN", Act::Writes).unwrap();
    assert!(written.why.contains("not known"), "{written:?}");
}
