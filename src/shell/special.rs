//! What the table of facts cannot say of a program.

use super::call::{Act, Host};
use super::options::Arguments;
use super::scene::{Effects, Scene, add, environment, host};
use super::word::{Piece, Word};

/// What a table cannot say.
pub fn special(name: &str, arguments: &Arguments, operands: &[Word], scene: &Scene<'_>, found: &mut Effects) {
    let all = |found: &mut Effects| add(Act::Reads, false, &environment(&Word::pattern("*")), scene, found);
    match name {
        "set" | "export" | "declare" | "typeset"
            if operands.is_empty() && (name != "set" || arguments.options.is_empty()) =>
        {
            all(found);
        }
        "git" => git(&arguments.operands, scene, found),
        "curl" => {
            // `FROM:PORT:TO:PORT`, and `NAME:PORT:ADDRESS`.
            for word in arguments.values("--connect-to --resolve") {
                let to = word.split_once(':').and_then(|(_, rest)| rest.split_once(':'));
                found.reaches.extend(to.and_then(|(_, to)| host(&to, true)));
            }
        }
        // `http POST HOST FIELD=VALUE HEADER:VALUE`.
        "http" | "https" | "xh" | "xhs" | "httpie" => {
            let method = |word: &&Word| {
                word.known().is_some_and(|name| {
                    !name.is_empty() && name.chars().all(|letter| letter.is_ascii_uppercase())
                })
            };
            let first = operands.iter().find(|word| !method(word));
            found.reaches = first.and_then(|word| host(word, true)).into_iter().collect();
        }
        "awk" | "gawk" | "mawk" | "nawk"
            if operands.first().is_some_and(|code| {
                code.to_string().contains(['|', '>']) || code.to_string().contains("system(")
            }) =>
        {
            found.opaque = true;
        }
        "dig" | "nslookup" | "host" | "drill" => {
            // Types and classes are no names.
            found.reaches.retain(|host| !matches!(host, Host::Named(word) if word.known().is_some_and(|name| !name.contains(['.', ':']) && name != "localhost")));
        }
        "ping" => found.reaches.truncate(1),
        _ => {}
    }
}

/// Files of the working tree whose text `git` prints. A revision that is not known is no file.
fn git(operands: &[Word], scene: &Scene<'_>, found: &mut Effects) {
    let [sub, rest @ ..] = operands else { return };
    if !matches!(sub.known(), Some("show" | "diff" | "blame" | "annotate" | "cat-file")) {
        return;
    }
    for word in rest.iter().filter(|word| word.unclear().is_none()) {
        match word.split_once(':') {
            Some((_, path)) if !path.pieces.is_empty() => add(Act::Reads, false, &path, scene, found),
            _ => add(Act::Reads, false, word, scene, found),
        }
    }
}

/// `tar xzf FILE -C FOLDER`: letters without a dash come first, and their values follow in their order.
pub fn old_tar(args: &[Word]) -> Option<Vec<Word>> {
    let (letters, rest) = args.split_first()?;
    let letters = letters.known().filter(|letters| !letters.starts_with('-'))?;
    let mut rest = rest.iter();
    let mut words = Vec::new();
    for letter in letters.chars() {
        words.push(Word::text(format!("-{letter}")));
        if "fCbTXgIKNVH".contains(letter) {
            words.extend(rest.next().cloned());
        }
    }
    words.extend(rest.cloned());
    Some(words)
}

/// Words of `find` that take values.
const FIND_VALUES: [&str; 30] = [
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-regex",
    "-iregex",
    "-type",
    "-size",
    "-mtime",
    "-mmin",
    "-atime",
    "-ctime",
    "-newer",
    "-user",
    "-group",
    "-perm",
    "-maxdepth",
    "-mindepth",
    "-printf",
    "-fstype",
    "-links",
    "-inum",
    "-amin",
    "-cmin",
    "-lname",
    "-samefile",
    "-xtype",
    "-regextype",
    "-anewer",
];

/// The folders in which `find` looks.
pub fn find_roots(args: &[Word]) -> Vec<Word> {
    let options = |word: &&Word| matches!(word.known(), Some("-L" | "-H" | "-P"));
    let ends = |word: &&Word| !word.start().starts_with(['-', '(', '!']);
    let roots: Vec<Word> = args.iter().skip_while(options).take_while(ends).cloned().collect();
    if roots.is_empty() { vec![Word::text(".")] } else { roots }
}

/// What `find` may come upon below a folder: the folder's name with what is known of theirs.
pub fn find_hits(args: &[Word]) -> Vec<Word> {
    let mut name = None;
    let mut choices = false;
    for pair in args.windows(2) {
        if let [option, value] = pair {
            choices |= matches!(option.known(), Some("-o" | "-or" | "-not" | "!"));
            if option.known() == Some("-name") {
                name = value.known().map(str::to_owned);
            }
        }
    }
    let name = name.filter(|_| !choices);
    let mut hits = Vec::new();
    for root in find_roots(args) {
        let mut below = root.clone();
        below.many = false;
        match &name {
            Some(name) => {
                let mut direct = below.clone();
                direct.push("/");
                direct.append(&Word::pattern(name));
                hits.push(direct);
                below.push("/");
                below.pieces.push(Piece::Unknown("{}".to_owned()));
                below.push("/");
                below.append(&Word::pattern(name));
                hits.push(below);
            }
            None => {
                below.push("/");
                below.pieces.push(Piece::Unknown("{}".to_owned()));
                hits.push(below);
            }
        }
    }
    hits
}

pub fn find(args: &[Word], scene: &Scene<'_>, found: &mut Effects) {
    let mut rest = args.iter();
    while let Some(word) = rest.next() {
        match word.known() {
            Some("-delete") => {
                for hit in find_hits(args) {
                    add(Act::Deletes, false, &hit, scene, found);
                }
                for root in
                    find_roots(args).iter().filter(|_| !args.iter().any(|word| word.known() == Some("-name")))
                {
                    add(Act::Deletes, true, root, scene, found);
                }
            }
            Some("-fprint" | "-fprint0" | "-fls" | "-fprintf") => {
                if let Some(file) = rest.next() {
                    add(Act::Writes, false, file, scene, found);
                }
            }
            Some(name) if FIND_VALUES.contains(&name) => drop(rest.next()),
            _ => {}
        }
    }
}
