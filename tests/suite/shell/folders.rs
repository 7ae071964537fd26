//! What is written into a folder: the files in it, and not the folder.

use rulestep_shell::facts::Table;
use rulestep_shell::matcher::{Matcher, Runs, Surroundings};
use rulestep_shell::{Act, Answer, Patterns, Root, read};

/// What a rule about files that are written answers: `y`, `n` or `?`.
fn written(line: &str, patterns: &[&str]) -> char {
    touched(Act::Writes, line, patterns, None)
}

/// What a rule about files answers of a line that runs in a folder.
fn touched(act: Act, line: &str, patterns: &[&str], folder: Option<&str>) -> char {
    touched_from(act, line, patterns, folder, None)
}

/// The same of a line that runs in another folder than that of the session.
fn touched_from(act: Act, line: &str, patterns: &[&str], folder: Option<&str>, here: Option<&str>) -> char {
    let matcher = Matcher::Touches(act, Patterns::new(patterns.iter().copied()));
    let line = read(line, &Root::of(folder.unwrap_or_default(), here, Table::default()));
    match Answer::any(line.calls.iter().map(|call| matcher.answer(call, &Surroundings::default()))) {
        Answer::Yes => 'y',
        Answer::No => 'n',
        Answer::Sweep(_) => 's',
        Answer::Perhaps(_) => '?',
    }
}

#[test]
fn what_is_written_below_a_folder_is_not_the_folder() {
    let outside = &["/**", "~/**", "../**", "!/tmp/**"][..];
    for (line, expected) in [
        ("cp x /tmp", 'n'),
        ("cp x /tmp/", 'n'),
        ("cp x y /tmp", 'n'),
        ("cp -r a/. /tmp", 'n'),
        ("cp -r . /tmp", 'n'),
        ("cp *.txt /tmp", 'n'),
        ("cp x /tmp/y", 'n'),
        ("cp -rT a /tmp/y", 'n'),
        ("cp -t /tmp x y", 'n'),
        ("cp -t /tmp -r a/.", 'n'),
        ("mv x /tmp", 'n'),
        ("mv a b /tmp/y", 'n'),
        ("ln -s $PWD/x /tmp", 'n'),
        ("install -m 644 x /tmp", 'n'),
        ("rsync -a x/ /tmp", 'n'),
        ("scp h:x /tmp", 'n'),
        ("tar xf x -C /tmp", 'n'),
        ("tar -C /tmp -xzf x", 'n'),
        ("tar xf x -C /tmp a b", 'n'),
        ("unzip x -d /tmp", 'n'),
        ("mkdir -p /tmp", 'n'),
        ("mkdir -p /tmp/a /tmp", 'n'),
        ("cd /tmp && tar xf x", 'n'),
        ("cd /tmp && cp ~/x .", 'n'),
        ("cd /tmp && unzip ~/x", 'n'),
        ("patch -d /tmp -p1 < x", 'n'),
        ("wget -P /tmp https://a.example/x", 'n'),
        ("curl --output-dir /tmp -O https://a.example/x", 'n'),
        ("cp x /etc", 'y'),
        ("cp x /etc/", 'y'),
        ("cp x y /etc", 'y'),
        ("cp -t /etc x", 'y'),
        ("cp -t /etc -r a/.", 'y'),
        ("cp -r a/. /etc/", 'y'),
        ("cp $X /etc/", 'y'),
        ("cp \"$X\" ~", 'y'),
        ("cp x /tmp /srv", 'y'),
        ("mv x ..", 'y'),
        ("mv x ~", 'y'),
        ("tar xf x -C /srv", 'y'),
        ("tar xf x -C ~/a", 'y'),
        ("unzip x -d /srv", 'y'),
        ("mkdir -p /tmp /srv/x", 'y'),
        ("mkdir /srv/", 'y'),
        ("cd /srv && tar xf x", 'y'),
        ("cd .. && tar xf x", '?'),
        ("rsync -a x/ /srv", 'y'),
        ("wget -P /srv -i list", 'y'),
        ("curl --output-dir /srv -o a https://a.example/x", 'y'),
        ("rm -rf /tmp; cp x /tmpx", 'y'),
        ("cp -T x /tmp", 'y'),
    ] {
        assert_eq!(written(line, outside), expected, "{line}");
    }
}

#[test]
fn what_is_perhaps_in_a_folder_is_found_there() {
    for (line, pattern, expected) in [
        ("cp settings.json .claude", ".claude/**", '?'),
        ("cp settings.json .claude/", ".claude/**", 'y'),
        ("cp settings.json x .claude", ".claude/**", 'y'),
        ("cp settings.json .claude/", ".claude", 'y'),
        ("cp $X .claude/", ".claude", 'y'),
        ("cp $X .claude/", ".claude/settings.json", '?'),
        ("cp notes.md .claude/", ".claude/settings.json", 'n'),
        ("tar xf x -C .claude", ".claude/**", 'y'),
        ("tar xf x -C .claude", ".claude/*", 'y'),
        ("tar xf x -C .claude", "**/.claude/**", 'y'),
        ("tar xf x -C .claude", "*/.claude/**", '?'),
        ("tar xf x -C a", "*/.claude/**", '?'),
        ("unzip x.zip -d .claude", ".claude/**", 'y'),
        ("cp -r x/. .claude/", ".claude/**", 'y'),
        ("cp -r x/. .claude", ".claude/**", 'y'),
        ("rsync -a x/ .claude", ".claude/**", 'y'),
        ("cp -r x .claude", ".claude/**", '?'),
        ("git clone x .claude", ".claude/**", 'y'),
        ("git clone x .claude", "**/.claude/**", 'y'),
        ("cp -r .git backup/", "**/.git/**", '?'),
        ("cp -r .git backup", "**/.git/**", 'n'),
        ("mkdir -p .claude", ".claude/**", 'n'),
        ("tar xf x -C .claude", ".claude", 'y'),
        ("tar xf x -C .claude", ".claude/settings.json", '?'),
        ("tar xf x", ".claude/**", '?'),
        ("tar xf x", "*.pem", 'n'),
        ("tar xf x -C src", ".claude/**", 'n'),
        ("unzip x -d .claude/", ".claude/**", 'y'),
        ("rsync -a a/ .git/hooks/", ".git/hooks/**", 'y'),
        ("rsync -a a/ .git/", ".git/hooks/**", '?'),
        ("cp -r a/. .git/", ".git/hooks/**", '?'),
        ("mv a b", "b/a", '?'),
        ("mv a b/", "b/a", 'y'),
        ("mv a b/", "b/c", 'n'),
        ("cp a b/", "b/c", 'n'),
        ("cp -t b a", "b/a", 'y'),
        ("cp a $D/", "/etc/**", '?'),
        ("cp a b $D", "/etc/**", '?'),
        ("cp -t $D a", "/etc/**", '?'),
        ("tar xf x -C $D", "/etc/**", '?'),
        ("cp $A $B c", "c", 'y'),
    ] {
        assert_eq!(written(line, &[pattern]), expected, "{line}: {pattern}");
    }
    // What a folder that is taken out holds.
    for (line, expected) in [
        ("tar xf x -C build", 'n'),
        ("tar xf x -C build/y", 'n'),
        ("tar xf x -C .", '?'),
        ("tar xf x", '?'),
        ("tar xf x -C src", 'y'),
        ("cp -r a/. build/", 'n'),
        ("cp -r a build/", 'n'),
        ("cp -r a/. src/", 'y'),
    ] {
        assert_eq!(written(line, &["src/**", "build/**", "!build/**"]), expected, "{line}");
    }
}

#[test]
fn what_is_done_to_a_folder_is_done_to_what_it_holds() {
    // The answer where the session's folder is `/work/proj`, and where nobody knows it.
    for (line, pattern, in_folder, anywhere) in [
        ("rm -rf .git", ".git", 'y', 'y'),
        ("rm -rf .", ".git", '?', '?'),
        ("rm -rf ./", ".git", '?', '?'),
        ("rm -rf ..", ".git", '?', '?'),
        ("rm -rf ../..", ".git", '?', '?'),
        ("rm -rf /", ".git", '?', '?'),
        ("rm -rf /work/proj", ".git", '?', 'n'),
        ("rm -rf /work", ".git", '?', 'n'),
        ("rm -rf ~", ".git", '?', '?'),
        ("rm -rf build", ".git", 'n', 'n'),
        ("rm -rf *", ".git", 'n', 'n'),
        ("rm -rf build.log", ".git", 'n', 'n'),
        ("rm -f build", ".git", 'n', 'n'),
        ("rm .git/index", ".git", 'y', 'y'),
        ("rm -rf .", "./.git", 'y', 'y'),
        ("rm -rf build", "./.git", 'n', 'n'),
        ("rm -rf .", "src", '?', '?'),
        ("rm -rf .", "src/", '?', '?'),
        ("rm -rf ..", "src/a/", 'y', 'y'),
        ("rm -rf src", "src/", 'y', 'y'),
        ("rm -rf .", "data/**", 'y', 'y'),
        ("rm -rf data", "data/**", 'y', 'y'),
        ("rm -rf ..", "data/**", 'y', 'y'),
        ("rm -rf ../..", "data/**", 'y', 'y'),
        ("rm -rf /", "data/**", 'y', 'y'),
        ("rm -rf /work", "data/**", 'y', 'n'),
        ("rm -rf /work/proj", "data/**", 'y', 'n'),
        ("rm -rf /work/other", "data/**", 'n', 'n'),
        ("rm -rf /workshop", "data/**", 'n', 'n'),
        ("rm -rf ../other", "data/**", 'n', 'n'),
        ("rm -rf ../proj", "data/**", 'y', 'n'),
        ("rm -rf ~", "data/**", '?', '?'),
        ("cd sub && rm -rf ..", "data/**", 'y', 'y'),
        ("cd / && rm -rf work", "data/**", 'y', 'n'),
        ("rm -rf ../..", "../x/**", 'y', 'y'),
        ("rm -rf ..", "../x/**", 'y', 'y'),
        ("rm -rf .", "../x/**", 'n', 'n'),
        ("rm -rf /home", "~/.ssh/**", '?', '?'),
        ("rm -rf /", "~/.ssh/**", 'y', 'y'),
        ("rm -rf /etc", "~/.ssh/**", 'n', 'n'),
        ("rm -rf ..", "/work/other/**", 'y', 'n'),
        ("find . -delete", "data/**", 'y', 'y'),
        ("find .. -delete", ".git", '?', '?'),
        ("mv . /tmp/x", "data/**", 'y', 'y'),
        ("mv certs /tmp", "*.pem", 'n', 'n'),
        ("mv a.rs b.rs", "*.pem", 'n', 'n'),
        ("git clean -fd ..", "data/**", 'y', 'y'),
        // A pattern of the shell that may be the folder, or one above it.
        ("rm -rf *", "data/**", '?', '?'),
        ("rm -rf d*", "data/**", '?', '?'),
        ("rm -rf d?t[a-z]", "data/**", '?', '?'),
        ("rm -rf x*", "data/**", 'n', 'n'),
        ("rm -rf ./*", "data/**", '?', '?'),
        ("rm -rf ../*", "data/**", '?', '?'),
        ("rm -rf ../p*", "data/**", '?', '?'),
        ("rm -rf ../x*", "data/**", 'n', '?'),
        ("rm -rf ../../*", "data/**", '?', '?'),
        ("rm -rf ../../*/*", "data/**", '?', '?'),
        ("rm -rf /*", "data/**", '?', '?'),
        ("rm -rf /w*", "data/**", '?', '?'),
        ("rm -rf /x*", "data/**", 'n', '?'),
        ("rm -rf /work/*", "data/**", '?', 'n'),
        ("rm -rf /tmp/*", "data/**", 'n', 'n'),
        ("rm -rf /home/*", "data/**", '?', '?'),
        ("rm -rf /h*", "~/.ssh/**", '?', '?'),
        ("rm -rf *", ".git/hooks/**", 'n', 'n'),
        ("rm -rf .*", ".git/hooks/**", '?', '?'),
        ("rm -rf .*", "data/**", '?', '?'),
        ("rm -rf .g*", ".git/hooks/**", '?', '?'),
        ("rm -rf sub/*", "data/**", 'n', 'n'),
        ("rm -rf sub/*", "sub/data/**", '?', '?'),
        ("rm -rf s*/data", "sub/data/x/**", '?', '?'),
        ("rm *", "data/**", 'n', 'n'),
        ("rm -rf $(ls)", "data/**", '?', '?'),
    ] {
        let folder = Some("/work/proj");
        assert_eq!(touched(Act::Deletes, line, &[pattern], folder), in_folder, "{line}: {pattern}");
        assert_eq!(touched(Act::Deletes, line, &[pattern], None), anywhere, "{line}: {pattern}, anywhere");
    }
    // A home folder is a folder as others.
    for (line, expected) in
        [("rm -rf ~", '?'), ("rm -rf ~/proj", '?'), ("rm -rf ~/*", '?'), ("rm -rf ~/other", 'n')]
    {
        assert_eq!(touched(Act::Deletes, line, &["data/**"], Some("/home/me/proj")), expected, "{line}");
    }
}

#[test]
fn what_is_read_of_a_folder_is_read_of_what_it_holds() {
    for (line, pattern, expected) in [
        ("tar cz .", ".env", '?'),
        ("tar cz certs", "*.pem", 'n'),
        ("tar cz certs/a.txt", "*.pem", 'n'),
        ("tar cz certs", "certs/a.pem", 'y'),
        ("cp -r . /tmp/x", ".env", '?'),
        ("cp -r .. /tmp/x", "conf/.env", 'y'),
        ("cp -r c* /tmp/x", "conf/.env", '?'),
        ("zip -r x.zip conf", ".env", 'n'),
        ("scp -r conf h:", ".env", 'n'),
        ("mv conf /tmp", ".env", 'n'),
        ("mv a.txt b.txt", ".env", 'n'),
        ("cp a b", ".env", 'n'),
        // A search comes through all folders: of a pattern without a place it is a sweep.
        ("grep -r KEY .", ".env", 's'),
        ("grep -r KEY", ".env", 's'),
        ("grep -R KEY ..", ".env", 's'),
        ("grep -r KEY /work/proj", ".env", 's'),
        ("grep -r KEY /work", ".env", 's'),
        ("grep -r KEY *", "conf/.env", '?'),
        ("grep -r KEY src", ".env", 's'),
        ("grep -r KEY src", "src/.env", 'y'),
        ("grep KEY a.txt", ".env", 'n'),
        ("rg KEY .", ".env", 's'),
        ("rg KEY", ".env", 's'),
        ("rg -e KEY", ".env", 's'),
        ("rg KEY", "conf/a", 'y'),
        ("rg KEY src", ".env", 's'),
        ("cat a | rg KEY", ".env", 'n'),
        ("rg --files", ".env", 'n'),
        ("grep -r --include=*.py KEY .", ".env", 'n'),
        ("grep -r --include='*.py' KEY .", "*.pem", 'n'),
        ("grep -r --include='*.p*' KEY .", "*.pem", 's'),
        ("grep -r --include=.env KEY .", ".env", 'y'),
        ("grep -r --exclude=.env KEY .", ".env", 'n'),
        ("grep -r --exclude=.env KEY .", "./.env", 'y'),
        ("grep -r --exclude='.env*' KEY .", ".env", 'n'),
        ("grep -r --exclude='.env*' KEY .", "*.pem", 's'),
        ("grep -r --exclude-dir=node_modules KEY .", ".env", 's'),
        ("grep -rx KEY .", ".env", 's'),
        ("rg -g '*.py' KEY", ".env", 'n'),
        ("rg -g '!.env' KEY .", ".env", 'n'),
        ("rg --glob '!dist' KEY .", ".env", 's'),
        ("tar cz --exclude .git .", ".env", '?'),
        ("tar cz --exclude .env .", ".env", 'n'),
        ("tar cz --exclude \"$X\" .", ".env", '?'),
        ("zip -r x.zip . -x .env", ".env", 'n'),
        ("rsync -a --exclude .env . h:", ".env", 'n'),
        ("rsync -a --include '*.py' . h:", ".env", '?'),
        ("ln -s ../x y", ".env", 'n'),
        ("git grep KEY", ".env", 's'),
        ("git grep KEY -- src", ".env", 's'),
    ] {
        assert_eq!(touched(Act::Reads, line, &[pattern], Some("/work/proj")), expected, "{line}: {pattern}");
    }
}

/// Where the session began is not known: the projects of people are perhaps its folder.
#[test]
fn a_project_is_perhaps_the_folder_of_a_session_without_one() {
    let project = Some("/home/me/code/shop");
    for (line, without, within) in [
        ("rm -rf /home/me/code/shop", '?', '?'),
        ("rm -rf /home/me/shop", '?', 'n'),
        ("rm -rf /Users/me/shop", '?', 'n'),
        ("rm -rf /root/shop", '?', 'n'),
        ("rm -rf /home/me/code/shop/build", 'n', 'n'),
        ("rm -rf /home/me/.cache", 'n', 'n'),
        ("rm -rf /tmp/x /etc/app /opt/x /var/lib/x", 'n', 'n'),
        ("rm -rf build", 'n', 'n'),
        ("rm /home/me/shop/x", 'n', 'n'),
    ] {
        assert_eq!(touched(Act::Deletes, line, &[".git"], None), without, "{line}");
        assert_eq!(touched(Act::Deletes, line, &[".git"], project), within, "{line}");
    }
}

#[test]
fn a_pattern_with_a_place_means_it_wherever_the_session_began() {
    for (folder, line, pattern, expected) in [
        ("/", "cat /etc/shadow", "/etc/**", 'y'),
        ("/", "cat /etc/shadow", "/etc/shadow", 'y'),
        ("/", "cat etc/shadow", "/etc/**", 'y'),
        ("/", "cat /home/u/.ssh/id", "~/.ssh/**", 'y'),
        ("/etc/nginx", "cat ssl.key", "/etc/**", 'y'),
        ("/etc/nginx", "cat /etc/nginx/ssl.key", "/etc/**", 'y'),
        ("/srv/app", "cat secret", "/srv/**", 'y'),
        ("/srv/app", "cat /srv/other/secret", "/srv/**", 'y'),
        ("/home/u", "cat .ssh/id_rsa", "~/.ssh/**", 'y'),
        ("/home/u", "cat /home/u/.ssh/id_rsa", "~/.ssh/**", 'y'),
        ("/home/u", "cat .ssh/id_rsa", "/home/*/.ssh/**", 'y'),
        ("/home/u/p", "cat ../.ssh/id_rsa", "~/.ssh/**", 'y'),
        ("/home/u/p", "cat x", "~/p/**", 'y'),
        ("/home/u/p", "cat x", "~/q/**", 'n'),
        ("/home/u/p", "cat x", "/home/u/p/**", 'y'),
        ("/home/u/p", "cat /etc/x", "/", 'y'),
        ("/home/u/p", "cat x", "/", 'n'),
        // What is elsewhere.
        ("/home/u/p", "cat x", "/**", 'n'),
        ("/home/u/p", "cat x", "~/**", 'n'),
        ("/home/u/p", "cat x", "/*", 'n'),
        ("/home/u/p", "cat ~/x", "~/**", 'y'),
        ("/home/u/p", "cat ../x", "/**", 'y'),
        ("/home/u/p", "cat /home/u/p/x", "/**", 'n'),
        ("/home/u/p", "cat /home/u/pq/x", "/**", 'y'),
        // Where all of it begins, nothing is elsewhere.
        ("/", "cat /etc/x", "/**", 'y'),
        ("/", "cat ~/x", "~/**", 'y'),
        ("/home/u", "cat x", "~/**", 'y'),
        ("/home/u", "cat x", "/**", 'n'),
        ("/root", "cat x", "~/**", 'y'),
        // An absolute path is the same file as a relative one.
        ("/home/u/p", "cat /home/u/other/x", "../**", 'y'),
        ("/home/u/p", "cat /home/u/other/x", "../other/*", 'y'),
        ("/home/u/p", "cat /home/u/p/x", "../**", 'n'),
        ("/home/u/p", "cat /home/u/p/x", "../p/**", 'n'),
        ("/home/u/p", "cat /home/u/p/a/x", "./a/**", 'y'),
    ] {
        let answer = touched(Act::Reads, line, &[pattern], Some(folder));
        assert_eq!(answer, expected, "{line} in {folder}: {pattern}");
    }
}

#[test]
fn relative_paths_are_taken_from_the_folder_of_the_call() {
    let folder = Some("/home/u/p");
    for (here, line, pattern, expected) in [
        (None, "rm -rf other", "../**", 'n'),
        (Some("/home/u/p"), "rm -rf other", "../**", 'n'),
        (Some("/home/u"), "rm -rf other", "../**", 'y'),
        (Some("/home/u"), "rm -rf other", "/**", 'y'),
        (Some("/home/u"), "rm -rf other", "~/**", 'y'),
        (Some("/home/u"), "rm -rf p/x", "../**", 'n'),
        (Some("/home/u"), "rm -rf p/x", "./x", 'y'),
        (Some("/home/u"), "rm -rf .", "./x", 'y'),
        (Some("/home/u"), "rm -rf p", "data/**", 'y'),
        (Some("/home/u/"), "cd p && rm x", "./x", 'y'),
        (Some("/home/u/p/sub"), "rm x", "sub/x", 'y'),
        (Some("/home/u/p/sub"), "rm x", "./x", 'n'),
        (Some("/home/u/p/sub"), "rm ../x", "./x", 'y'),
        (Some("/etc"), "rm shadow", "/etc/shadow", 'y'),
        (Some("/etc"), "rm -f \"$X\"", "/etc/shadow", '?'),
        // What is no path of this kind of system is not known to be another folder.
        (Some("C:\\x"), "rm other", "./other", 'y'),
    ] {
        let answer = touched_from(Act::Deletes, line, &[pattern], folder, here);
        assert_eq!(answer, expected, "{line} in {here:?}: {pattern}");
    }
    // Where nobody says where the session began, it is taken to be where the call is.
    assert_eq!(touched_from(Act::Deletes, "rm x", &["./x"], None, Some("/home/u/p")), 'y');
    assert_eq!(touched_from(Act::Deletes, "rm x", &["/home/u/p/x"], None, Some("/home/u/p")), 'y');
}

/// Systems of Apple and Microsoft take `.ENV` for `.env`, and so does a policy that says so.
#[test]
fn case_says_nothing_where_the_system_folds_it() {
    let asks = |line: &str, matcher: &Matcher, root: &Root| {
        let line = read(line, root);
        Answer::any(line.calls.iter().map(|call| matcher.answer(call, &Surroundings::default())))
    };
    let files = |act, pattern: &str| Matcher::Touches(act, Patterns::new([pattern]));
    let runs = |program: &str| Matcher::Runs(Runs::new([program], [vec!["push"]], []));
    let cases = [
        ("cat .ENV", files(Act::Reads, ".env")),
        ("CAT .env", files(Act::Reads, ".env")),
        ("cat CONF/.Env", files(Act::Reads, "conf/.env")),
        ("cat ~/.SSH/id", files(Act::Reads, "~/.ssh/**")),
        ("cat /users/ME/.ssh/id", files(Act::Reads, "~/.ssh/**")),
        ("grep -r --include='*.PEM' K .", files(Act::Reads, "*.pem")),
        ("tee .Claude/settings.json", files(Act::Writes, ".claude/**")),
        ("rm -rf .GIT", files(Act::Deletes, "**/.git/**")),
        ("cat conf/.env", files(Act::Reads, "Conf/.ENV")),
        ("GIT push", runs("git")),
        ("git push", runs("Git")),
        ("Tool push", runs("tool")),
        ("sudo GIT push", runs("git")),
    ];
    let folding = Table::default().folding();
    for (line, matcher) in &cases {
        for (root, expected) in [
            (Root::of("/Users/me/p", None, Table::default()), Answer::Yes),
            (Root::of("", None, folding.clone()), Answer::Yes),
            (Root::of("/home/me/p", None, folding.clone()), Answer::Yes),
            (Root::of("/home/me/p", None, Table::default()), Answer::No),
        ] {
            let home = line.contains("/users/") && root.folder.as_deref() != Some("/Users/me/p");
            if !home {
                let found = asks(line, matcher, &root);
                let sweep = matches!(found, Answer::Sweep(_)) && expected == Answer::No;
                assert!(found == expected || sweep, "{line} in {root:?}: {found:?}");
            }
        }
    }
    // What is not the same path stays another one, and variables of the environment are told apart.
    let apple = Root::of("/Users/me/p", None, Table::default());
    assert_eq!(asks("cat .ENVX", &files(Act::Reads, ".env"), &apple), Answer::No);
    assert_eq!(asks("printenv home", &files(Act::Reads, "env:HOME"), &apple), Answer::No);
    assert_eq!(asks("printenv HOME", &files(Act::Reads, "env:HOME"), &apple), Answer::Yes);
}
