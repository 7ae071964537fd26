//! Command lines made at random, for a comparison with a real shell.
//!
//! Each program is started with a word of its own as its first argument, its tag, so that a start can be found in the text.
//! Tags that begin with `z` belong to text that nothing runs: quoted arguments, here-documents, comments, functions that are
//! never called.

/// Programs that only write down how they were started. `nope` fails.
pub const STUBS: [&str; 9] = ["alpha", "beta", "gamma", "delta", "alpha2", "be", "ta", "git", "nope"];

pub struct Maker {
    seed: u64,
    tags: usize,
    /// Whether the text made now is data.
    data: bool,
    /// Whether the text made now ends a line, so that a here-document may follow.
    heredocs: usize,
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The same in double quotes, which let nothing be expanded before it is read again.
fn in_double_quotes(text: &str) -> String {
    let escaped: String = text
        .chars()
        .flat_map(|letter| {
            matches!(letter, '"' | '$' | '`' | '\\').then_some('\\').into_iter().chain([letter])
        })
        .collect();
    format!("\"{escaped}\"")
}

impl Maker {
    pub fn new(seed: u64) -> Maker {
        Maker { seed, tags: 0, data: false, heredocs: 0 }
    }

    pub fn line(&mut self) -> String {
        (self.tags, self.heredocs, self.data) = (0, 0, false);
        let depth = 1 + self.roll(3);
        self.list(depth)
    }

    fn roll(&mut self, sides: usize) -> usize {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        usize::try_from(self.seed >> 11).unwrap() % sides
    }

    fn pick<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.roll(of.len())]
    }

    fn tag(&mut self) -> String {
        self.tags += 1;
        format!("{}{}", if self.data { 'z' } else { 't' }, self.tags)
    }

    /// Text that looks like commands and is none.
    fn text(&mut self) -> String {
        let outer = std::mem::replace(&mut self.data, true);
        let text = self.list(1).replace("\nEOF", "\n.");
        self.data = outer;
        text
    }

    /// A program's name in one of its spellings.
    fn name(&mut self) -> String {
        let plain = self.pick(&STUBS);
        let (first, rest) = plain.split_at(1);
        match self.roll(40) {
            0 => format!("'{first}'{rest}"),
            1 => format!("\"{plain}\""),
            2 => format!("\\{plain}"),
            3 => format!("$'{plain}'"),
            4 => format!("$'\\x{:02x}'{rest}", first.as_bytes()[0]),
            5 => format!("{first}''{rest}"),
            6 => format!("{first}$'\\{:03o}'{}", rest.as_bytes()[0], &rest[1..]),
            7 => format!("{first}{{{rest},y}}"),
            8 => "$P".to_owned(),
            9 => format!("\"${{Q:-{plain}}}\""),
            10 => format!("{first}\\\n{rest}"),
            11 => format!("$\"{plain}\""),
            12 => format!("{first}\"\"{rest}''"),
            13 => format!("[{first}]{rest}"),
            14 => format!("{first}*"),
            15 => format!("{first}$Z{rest}"),
            16 => format!("$(echo {plain})"),
            17 => format!("${{P/alpha/{plain}}}"),
            18 => format!("{plain}$()"),
            _ => plain.to_owned(),
        }
    }

    /// A word that is the same for every shell.
    fn plain(&mut self) -> &'static str {
        self.pick(&[
            "x",
            "'a b'",
            "\"c; d\"",
            "\\;",
            "'#'",
            "{1,2}",
            "$H",
            "\"$@\"",
            "'`'",
            "\"\\$(beta z0)\"",
            "a=b",
            "$'it\\'s'",
            "*",
            "--",
            "-c",
            "e\\ f",
            "''",
            "a#b",
            "if",
            "done",
            "{",
            "}",
            "!",
            "$#",
            "${#H}",
            "x{1..3}",
            "{a,b}{c,d}",
            "é",
            "~",
            "~/x",
            "$'\\n'",
            "\"a\\\nb\"",
            "a\\\nb",
            "[[",
            "{}",
            "{a}",
            "\"'\"",
            "'\"'",
            "%",
            "=",
            "$",
            "\"$\"",
            "a$",
            "@",
            "\\#",
            "^",
            "\"${H}x\"",
            "'$('",
            "${H:-d}",
            "-",
            "1",
            "x,y",
            "{u..w}",
            "?",
            "$V",
            "\"$V\"",
            "${V}y",
            "\"${W:-v}\"",
            "$W",
            "${W:=w}",
            "\"$x\"",
        ])
    }

    fn word(&mut self, depth: usize) -> String {
        if depth == 0 || self.data {
            return self.plain().to_owned();
        }
        let inner = |maker: &mut Maker| maker.list(depth - 1);
        match self.roll(60) {
            0 => format!("$({})", inner(self)),
            1 => format!("\"$({})\"", inner(self)),
            2 => format!("`{}`", self.started()),
            3 => format!("<({})", inner(self)),
            4 => format!(">({})", inner(self)),
            5 => format!("${{X:-$({})}}", inner(self)),
            6 => format!("$(( $({}) + 1 ))", self.started()),
            7 | 8 => quoted(&self.text()),
            9 => format!("\"${{X:-'$({})'}}\"", self.started()),
            10 => format!("\"${{X:-\"$({})\"}}\"", self.started()),
            11 => format!("${{H/$({})/y}}", self.started()),
            12 => format!("${{H#$({})}}", self.started()),
            13 => format!("${{H:$({}):1}}", self.started()),
            14 => format!("${{a[$({})]}}", self.started()),
            15 => format!("$[ $({}) + 1 ]", self.started()),
            16 => format!("{{x,$({})}}", self.started()),
            17 => format!("$\"a $({})\"", self.started()),
            18 => format!("`{} \\`{}\\``", self.started(), self.started()),
            19 => format!("\"`{} \\\"x\\\"`\"", self.started()),
            20 => format!("${{X:=$({})}}", self.started()),
            21 => format!("${{H:+$({})}}", self.started()),
            22 => format!("$(<out)$({})", self.started()),
            23 => format!("$(({}); {})", self.started(), self.started()),
            24 => format!("\"$( {} \"$({})\" )\"", self.started(), self.started()),
            25 => in_double_quotes(&self.text()),
            26 => format!("a\"$({})\"b'c'", self.started()),
            27 => format!("$(( a[$({})] ))", self.started()),
            28 => format!("\"${{H//[!a]/$({})}}\"", self.started()),
            29 => format!("${{X:-a${{Y:-$({})}}}}", self.started()),
            30 => format!("\"$(( $({}) ))\"", self.started()),
            31 => format!("$(case x in x) {};; esac)", self.started()),
            32 => format!("$(case x in (x) {};; esac)", self.started()),
            33 => format!("$({} # ')\n)", self.started()),
            34 => format!("\"$({} '\"' \")\")\"", self.started()),
            _ => self.plain().to_owned(),
        }
    }

    /// A program with its tag alone.
    fn started(&mut self) -> String {
        format!("{} {}", self.pick(&STUBS), self.tag())
    }

    fn redirect(&mut self, depth: usize) -> String {
        match self.roll(40) {
            0 | 1 => "> out".to_owned(),
            2 => "2>&1".to_owned(),
            3 => "< /dev/null".to_owned(),
            4 => ">> out".to_owned(),
            5 => "&> out".to_owned(),
            6 => "<<< 'alpha z0; beta'".to_owned(),
            7 => ">| out".to_owned(),
            8 => "<> out".to_owned(),
            9 => "&>> out".to_owned(),
            10 => "{fd}> out".to_owned(),
            11 => "3<&0".to_owned(),
            12 => ">&2".to_owned(),
            13 => "2>/dev/null".to_owned(),
            14 => ">&-".to_owned(),
            15 if depth > 0 && !self.data => format!("> >({})", self.list(depth - 1)),
            16 if depth > 0 && !self.data => format!("2> >({})", self.list(depth - 1)),
            17 if depth > 0 && !self.data => format!("< <({})", self.list(depth - 1)),
            18 if depth > 0 && !self.data => format!("> \"out$({})\"", self.started()),
            19 if depth > 0 && !self.data => format!("<<< $({})", self.started()),
            20 if depth > 0 && !self.data => format!("<<< \"a `{}`\"", self.started()),
            _ => String::new(),
        }
    }

    fn simple(&mut self, depth: usize) -> String {
        let mut text = String::new();
        for _ in 0..self.roll(10) / 8 {
            text += &match self.roll(8) {
                0 => format!("V[0]={} ", self.plain()),
                1 => format!("V+={} ", self.word(depth)),
                _ => format!("V={} ", self.word(depth)),
            };
        }
        if self.roll(20) == 0 {
            text += &self.redirect(depth);
            text.push(' ');
        }
        text += self.pick(&[
            "",
            "",
            "",
            "",
            "",
            "",
            "",
            "",
            "",
            "",
            "",
            "",
            "",
            "",
            "command ",
            "exec ",
            "builtin command ",
            "! ",
            "time ",
            "time -p ",
            "command -- ",
            "exec -a other ",
            "env ",
            "env -u ZZ A=1 ",
            "nice ",
            "nice -n 1 ",
            "timeout 9 ",
            "timeout -s KILL 9 ",
            "nohup ",
            "setsid -w ",
            "stdbuf -o0 ",
            "exec env ",
            "command env ",
            "builtin exec ",
            "env nice ",
            "command exec ",
            "\\command ",
            "'exec' ",
            "env -- ",
            "timeout --signal=KILL 9 ",
            "nice --adjustment=1 ",
            "env time -p ",
            "ionice -c 3 ",
            "chrt -o 0 ",
            "taskset 1 ",
            "exec -c env STUB_LOG=$STUB_LOG STUB_LINE=$STUB_LINE ",
            "coproc ",
            "! ! ",
            "time ! ",
            "jobs -x ",
        ]);
        let (name, tag) = (self.name(), self.tag());
        text += &format!("{name} {tag}");
        for _ in 0..self.roll(4) {
            text.push(' ');
            text += &self.word(depth);
        }
        let redirect = self.redirect(depth);
        if redirect.is_empty() { text } else { format!("{text} {redirect}") }
    }

    /// Commands that run others in ways of their own.
    fn special(&mut self, depth: usize) -> String {
        let script = self.list(depth - 1);
        match self.roll(62) {
            0 => format!("eval {}", quoted(&script)),
            1 => format!("eval {}", in_double_quotes(&script)),
            2 => format!("eval {} ';' {}", self.started(), self.started()),
            3 => format!("bash -c {}", quoted(&script)),
            4 => format!("bash -c {} x y", in_double_quotes(&script)),
            5 => format!("bash -ec {}", quoted(&script)),
            6 => format!("sh -c {}", quoted(&self.started())),
            7 => format!("env bash -c {}", quoted(&script)),
            8 => format!("bash <<'EOF{0}'\n{script}\nEOF{0}\n", self.heredoc()),
            9 => format!("bash -s x <<'EOF{0}'\n{script}\nEOF{0}\n", self.heredoc()),
            10 => format!("bash <<< {}", quoted(&script)),
            11 => format!("echo {} | bash", quoted(&script)),
            12 => format!("printf '%s\\n' {} | bash -s", quoted(&script)),
            13 => format!("cat <<'EOF{0}' | bash\n{script}\nEOF{0}\n", self.heredoc()),
            14 => format!("trap {} EXIT", quoted(&script)),
            15 => format!("trap -- {} 0; {}", in_double_quotes(&script), self.started()),
            16 => format!("trap {} DEBUG; {}", quoted(&self.started()), self.started()),
            17 => format!("trap {} ERR; nope {}", quoted(&self.started()), self.tag()),
            18 => format!("f() {{ {}; }}; trap {} RETURN; f", self.started(), quoted(&self.started())),
            19 => format!("source /dev/stdin <<< {}", quoted(&script)),
            20 => format!(". <(echo {})", quoted(&script)),
            21 => format!(". /dev/fd/0 <<'EOF{0}'\n{script}\nEOF{0}\n", self.heredoc()),
            22 => format!("env -S '{}'", self.started()),
            23 => format!("echo {} | xargs {}", self.tag(), self.pick(&STUBS)),
            24 => format!("xargs -n1 {} {} <<< 'a b'", self.pick(&STUBS), self.tag()),
            25 => format!("echo a | xargs -I{{}} {} {} {{}}", self.pick(&STUBS), self.tag()),
            26 => format!("echo {} | xargs env", self.started()),
            27 => format!("echo x | xargs -I % bash -c '{}; {} %'", self.started(), self.started()),
            28 => format!("find . -maxdepth 0 -exec {} {} {{}} \\;", self.name(), self.tag()),
            29 => format!("find . -maxdepth 0 -exec {} {{}} +", self.started()),
            30 => format!(
                "find . -maxdepth 0 -exec {} ';' -exec bash -c {} \\;",
                self.started(),
                quoted(&script)
            ),
            31 => format!("find . -maxdepth 0 -execdir {} \\;", self.started()),
            32 => format!("let 'a[$({})]=1'", self.started()),
            33 => format!("[[ -v 'a[$({})]' ]]", self.started()),
            34 => format!("test -v 'a[$({})]'", self.started()),
            35 => format!("printf -v 'a[$({})]' x", self.started()),
            36 => format!("unset 'a[$({})]'", self.started()),
            37 => format!("declare 'a[$({})]=1'", self.started()),
            38 => format!("[[ 'a[$({})]' -eq 0 ]]", self.started()),
            39 => format!("x='a[$({})]'; echo $((x))", self.started()),
            40 => format!("x='$({})'; echo \"${{x@P}}\"", self.started()),
            41 => format!("readarray -C {} -c1 a <<< x", quoted(&self.started())),
            42 => format!("compgen -W '$({})'", self.started()),
            43 => format!("command_not_found_handle() {{ {}; }}; nothing", self.started()),
            44 => format!("shopt -s expand_aliases\nalias zz='{}'\nzz x", self.started()),
            45 => format!("shopt -s expand_aliases\nBASH_ALIASES[zz]='{}'\nzz x", self.started()),
            46 => format!("PS4='$({})'; set -x; :", self.started()),
            47 => format!("hash -p \"$BIN/beta\" gamma; gamma {}", self.tag()),
            48 => format!("f() {{ {script}; }}; export -f f; bash -c f"),
            49 => format!("read 'a[$({})]' <<< x", self.started()),
            50 => format!("cat <<< {} | while read -r l; do $l; done", quoted(&self.started())),
            51 => format!(
                "while read -r l; do eval \"$l\"; done <<'EOF{0}'\n{1}\nEOF{0}\n",
                self.heredoc(),
                self.started()
            ),
            52 => format!("a=({}); \"${{a[@]}}\"", self.started()),
            53 => format!("set -- {}; \"$@\"", self.started()),
            54 => format!("printf -v x {}; $x {}", self.pick(&STUBS), self.tag()),
            55 => format!("read -r x <<< {}; $x {}", self.pick(&STUBS), self.tag()),
            56 => format!("command eval {}", quoted(&script)),
            57 => format!("builtin eval {}", quoted(&script)),
            58 => format!("bash <(echo {})", quoted(&script)),
            59 => format!("f() {{ \"$@\"; }}; f {}", self.started()),
            60 => format!("bash -c '\"$@\"' _ {}", self.started()),
            _ => format!("x={}; $x {}", self.pick(&STUBS), self.tag()),
        }
    }

    fn heredoc(&mut self) -> usize {
        self.heredocs += 1;
        self.heredocs
    }

    /// What looks like commands to a hasty reader.
    fn harmless(&mut self) -> String {
        let text = self.text();
        match self.roll(16) {
            0 => format!("cat <<'EOF{0}'\n{text}\nEOF{0}\n", self.heredoc()),
            1 => format!("cat <<-\\EOF{0}\n\t{text}\n\tEOF{0}\n", self.heredoc()),
            2 => format!("cat <<\"E O{0}\"\n{text}\nE O{0}\n", self.heredoc()),
            3 => format!("{} {}", self.started(), quoted(&text)),
            4 => format!("echo {}", in_double_quotes(&text)),
            5 => format!("{} # {}\n{}", self.started(), text.replace('\n', " "), self.started()),
            6 => format!("unused() {{ {text}; }}; {}", self.started()),
            7 => format!("x={}; {}", quoted(&text), self.started()),
            8 => format!("cat <<< {}", quoted(&text)),
            9 => {
                self.data = true;
                let name = self.started();
                self.data = false;
                format!("command -v {name}; {}", self.started())
            }
            10 => format!(": {}", quoted(&text)),
            11 => format!("[[ {} == x ]]; {}", quoted(&text), self.started()),
            12 => format!("case {} in x) ;; esac; {}", quoted(&text), self.started()),
            13 => format!("for i in {}; do {}; done", quoted(&text), self.started()),
            14 => format!("cat <<'EOF{0}' > out && {1}\n{text}\nEOF{0}\n", self.heredoc(), self.started()),
            _ => format!("echo {} > out", quoted(&text)),
        }
    }

    /// A variable that holds something, or does no longer.
    fn set(&mut self, depth: usize) -> String {
        let name = self.pick(&["V", "W", "x"]);
        let value = if depth > 0 { self.word(depth - 1) } else { self.plain().to_owned() };
        match self.roll(32) {
            0 => format!("export {name}={value}"),
            1 => format!("declare {name}={value}"),
            2 => format!("unset {name}"),
            3 => format!("read -r {name} <<< {value}"),
            4 => format!("printf -v {name} '%s' {value}"),
            5 => format!("(( {name} = 4 ))"),
            6 => format!("let {name}++"),
            7 => format!("{name}+={value}"),
            8 => format!("{name}[1]={value}"),
            9 => format!("{name}=({value} u)"),
            10 => format!("eval {name}=e"),
            11 => format!("local {name}={value}"),
            12 => format!("true && {name}={value}"),
            13 => format!("false && {name}={value}"),
            14 => format!("false || {name}={value}"),
            15 => format!("if false; then {name}={value}; fi"),
            16 => format!("( {name}={value} )"),
            17 => format!("{name}={value} | true"),
            18 => format!("{{ {name}={value}; }}"),
            19 => format!("for {name} in a {value}; do :; done"),
            20 => format!("h() {{ {name}={value}; }}; h"),
            21 => format!("declare -n {name}=W"),
            22 => format!("IFS={}", self.pick(&["a", "/", "' '", "''"])),
            23 => format!("trap '{name}=t' {}", self.pick(&["DEBUG", "ERR", "EXIT"])),
            24 => format!("declare -u {name}={value}"),
            25 => format!("{name}=\"$V $W\""),
            26 => format!("mapfile -t {name} <<< {value}"),
            _ => format!("{name}={value}"),
        }
    }

    fn list(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.simple(0);
        }
        let inner = |maker: &mut Maker| maker.list(depth - 1);
        match self.roll(if self.data { 60 } else { 118 }) {
            0..4 => format!("{} && {}", inner(self), inner(self)),
            4..7 => format!("{} || {}", inner(self), inner(self)),
            7..10 => format!("{}; {}", inner(self), inner(self)),
            10..13 => format!("{} | {}", inner(self), inner(self)),
            13 => format!("{} |& {}", inner(self), inner(self)),
            14 => format!("{} & {}", inner(self), inner(self)),
            15..18 => format!("{}\n{}", inner(self), inner(self)),
            18 => format!("( {} )", inner(self)),
            19 => format!("{{ {}; }}", inner(self)),
            20 => format!("if {}; then {}; else {}; fi", inner(self), inner(self), inner(self)),
            21 => format!(
                "if ! {}; then {}\nelif {}; then {}; fi",
                inner(self),
                inner(self),
                self.started(),
                inner(self)
            ),
            22 => format!("for i in 1 2; do {}; done", inner(self)),
            23 => format!("while {}; do {}; break; done", inner(self), inner(self)),
            24 => format!("until {}; do {}; break; done", inner(self), inner(self)),
            25 => format!("case {} in a) {};; *) {};; esac", self.plain(), inner(self), inner(self)),
            26 => format!("f() {{ {}; }}; f", inner(self)),
            27 => format!("f() {{ {}; }}; {}", inner(self), inner(self)),
            28 => format!("function g {{ {}; }}; g x; {}", inner(self), inner(self)),
            29 => format!("{} \\\n && {}", inner(self), inner(self)),
            30 => format!("{} &&\n {}", inner(self), inner(self)),
            31 => format!("{} |\n {}", inner(self), inner(self)),
            32 => format!("set -e; {}; {}", inner(self), inner(self)),
            33 => format!("set -euo pipefail\n{}\n{}", inner(self), inner(self)),
            34 => format!("set -o pipefail; {} | {}", inner(self), inner(self)),
            35 => format!("( {} ) && {}", inner(self), inner(self)),
            36 => format!("{{ {}; }} | {{ {}; }}", inner(self), inner(self)),
            37 => format!("{{ {}\n}} > out 2>&1", inner(self)),
            38 => format!("! {{ {}; }} && {}", inner(self), inner(self)),
            39 => format!("f() ( {} ); f && {}", inner(self), self.started()),
            _ if self.data => self.simple(0),
            40 => format!("for i in {}; do $i {}; done", self.pick(&STUBS), self.tag()),
            41 => format!("[[ -n $({}) ]] && {}", inner(self), inner(self)),
            42 => format!("x=$({}); {}", inner(self), inner(self)),
            43 => format!("x=$({}) && {}", inner(self), inner(self)),
            44 => format!("for i in 1 2; do f; f() {{ {}; }}; done", inner(self)),
            45 => {
                format!("cat <<EOF{0}\n$({1})\n`{2}`\nEOF{0}\n", self.heredoc(), inner(self), self.started())
            }
            46 => format!(
                "cat <<-EOF{0} <<EOF{1}\n\t$({2})\n\tEOF{0}\n$({3})\nEOF{1}\n",
                self.heredoc(),
                self.heredoc(),
                self.started(),
                self.started()
            ),
            47 => {
                format!("x=$(cat <<'EOF{0}'\n{1}\nEOF{0}\n); {2}", self.heredoc(), self.text(), inner(self))
            }
            48 => format!("(( $({}) )); {}", self.started(), inner(self)),
            49 => format!("for ((j=0; j<2; j++)); do {}; done", inner(self)),
            50 => format!("for ((j=$({}); j<1; j++)) {{ {}; }}", self.started(), inner(self)),
            51 => format!("for i in 1; {{ {}; }}", inner(self)),
            52 => format!("set -- a; for i do {}; done", inner(self)),
            53 => {
                format!("case a in (a) {};& b) {};;& *) {}; esac", inner(self), inner(self), self.started())
            }
            54 => format!(
                "case $({}) in $({})) ;; \"`{}`\"|*) {};; esac",
                self.started(),
                self.started(),
                self.started(),
                inner(self)
            ),
            55 => format!(
                "[[ $({}) == $({}) || ( -n $({}) && ! -e x ) ]]; {}",
                self.started(),
                self.started(),
                self.started(),
                inner(self)
            ),
            56 => format!("[[ a =~ $({}) ]] || {}", self.started(), inner(self)),
            57 => format!("coproc {{ {}; }}; {}", inner(self), self.started()),
            58 => format!("coproc NAME {{ {}; }}; wait; {}", inner(self), self.started()),
            59 => format!("select i in a b; do {}; break; done <<< 1", inner(self)),
            60 => format!("((({}); {}); {})", self.started(), self.started(), self.started()),
            61 => format!("{} | while read -r l; do {}; done", self.started(), inner(self)),
            62 => format!("f() {{ {}; }} > out < <({}); f", inner(self), self.started()),
            63 => format!("f ()\n{{\n{}\n}}\nf", inner(self)),
            64 => format!("f() if {}; then {}; fi; f", self.started(), inner(self)),
            65 => {
                format!("alpha() {{ {}; }}; alpha {}; command alpha {}", inner(self), self.tag(), self.tag())
            }
            66 => format!("eval() {{ {}; }}; eval x", inner(self)),
            67 => format!("f() {{ {}; }}; unset -f f; f; {}", inner(self), self.started()),
            68 => format!(
                "if {}; then f() {{ {}; }}; else f() {{ {}; }}; fi; f",
                self.started(),
                inner(self),
                self.started()
            ),
            69 => format!("f() {{ {}; return; {}; }}; f", inner(self), self.started()),
            70 => format!("a=(1 $({}) \"$({})\"); {}", self.started(), self.started(), inner(self)),
            71 => format!("declare -A m=([$({})]=1); {}", self.started(), inner(self)),
            72 => format!("export x=$({}) y=\"`{}`\"; {}", self.started(), self.started(), inner(self)),
            73 => format!("a[$({})]=1; {}", self.started(), inner(self)),
            74 => format!("f() {{ local x=$({}); {}; }}; f", self.started(), inner(self)),
            75 => format!("exec > out; {}", inner(self)),
            76 => format!("exec 3> >({}); {} >&3", inner(self), self.started()),
            77 => format!("true && {} || {}", inner(self), inner(self)),
            78 => format!("false || {} && {}", inner(self), inner(self)),
            79 => format!("{} && {} || true", inner(self), inner(self)),
            80 => format!("{}; true", inner(self)),
            81 => format!("{} & wait; {}", inner(self), self.started()),
            82 => format!("{} & wait $!", inner(self)),
            83 => format!("{}; exit 0; {}", inner(self), self.started()),
            84 => format!("{} && exit; {}", inner(self), self.started()),
            85 => format!("set +e; {}; set -e; {}", inner(self), inner(self)),
            86 => format!("if true; then {}; fi", inner(self)),
            87 => format!("cd sub && {}", inner(self)),
            88 => format!("( cd sub; {} ); {}", inner(self), self.started()),
            89 => format!("pushd sub; {}; popd; {}", inner(self), self.started()),
            90 => format!("while read -r l; do {}; done <<< x", inner(self)),
            91 => format!("until ! {}; do {}; break; done", self.started(), self.started()),
            92..96 => self.harmless(),
            96..105 => self.special(depth),
            105..112 => format!("{}; {}", self.set(depth), inner(self)),
            112..114 => format!("{} && {}", self.set(depth), inner(self)),
            114 => format!("for i in 1 2; do {}; {}; done", inner(self), self.set(depth)),
            115 => format!("{}; bash -c {}", self.set(depth), quoted(&inner(self))),
            116 => format!(
                "{}; while true; do {}; {}; break; done",
                self.set(depth),
                self.set(depth),
                inner(self)
            ),
            _ => self.simple(depth),
        }
    }
}
