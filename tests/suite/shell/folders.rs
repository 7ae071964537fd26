//! What is written into a folder: the files in it, and not the folder.

use rulestep::internals::shell::matcher::{Matcher, Surroundings};
use rulestep::internals::shell::{Act, Answer, Patterns, Root, read};

/// What a rule about files that are written answers: `y`, `n` or `?`.
fn written(line: &str, patterns: &[&str]) -> char {
    let matcher = Matcher::Touches(Act::Writes, Patterns::new(patterns.iter().copied()));
    let line = read(line, &Root::default());
    match Answer::any(line.calls.iter().map(|call| matcher.answer(call, &Surroundings::default()))) {
        Answer::Yes => 'y',
        Answer::No => 'n',
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
        ("tar xf x -C .claude", ".claude/**", '?'),
        ("tar xf x -C .claude", ".claude", 'y'),
        ("tar xf x -C .claude", ".claude/settings.json", '?'),
        ("tar xf x", ".claude/**", '?'),
        ("tar xf x", "*.pem", 'n'),
        ("tar xf x -C src", ".claude/**", 'n'),
        ("unzip x -d .claude/", ".claude/**", '?'),
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
        ("tar xf x -C src", '?'),
        ("cp -r a/. build/", 'n'),
        ("cp -r a build/", 'n'),
        ("cp -r a/. src/", '?'),
    ] {
        assert_eq!(written(line, &["src/**", "build/**", "!build/**"]), expected, "{line}");
    }
}
