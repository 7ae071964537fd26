//! Reduces texts to the words that matter: every word that can be blanked without a difference is.

use std::ops::Range;

use super::secrets::secrets;

/// Replaces a value.
pub const MARK: &str = "[redacted]";

/// Most attempts for one call. Words that are undecided by then are blanked.
const ATTEMPTS: usize = 600;

/// The longest word after one hyphen that is taken for flags, as `-rf` is. Of a longer one the first letter is: `-pSECRET`.
const FLAGS: usize = 4;

/// A text in which words may be blanked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text<'t> {
    /// As recorded.
    pub text: &'t str,
    /// Whether something looks at the text itself, so that only what looks like a secret is blanked.
    pub whole: bool,
}

/// Texts in which the words are blanked that do not matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reduced {
    /// The texts, in the order in which they were given.
    pub texts: Vec<String>,
    /// Whether a word that makes a difference was blanked because it looks like a secret.
    pub secret: bool,
}

/// A word of a text, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    text: usize,
    at: Range<usize>,
    /// Whether it is between quotation marks, as far as single characters show.
    quoted: bool,
    /// Whether it is the name of a flag, which reveals nothing about a person.
    flag: bool,
    mark: Option<Mark>,
}

/// The replacement of a piece. For a shell, the mark is a pattern unless it is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    AsItStands,
    /// With quotation marks if the piece seemed to have none, and without them if it had.
    Otherwise,
}

/// The same texts with as few words as possible. `learn`: everything that is derived from such texts.
pub fn reduced<L: PartialEq>(texts: &[Text<'_>], learn: impl Fn(&[String]) -> L) -> Reduced {
    let mut pieces = Vec::new();
    for (number, text) in texts.iter().enumerate() {
        split(number, text.text, &mut pieces);
    }
    let hidden: Vec<Vec<Range<usize>>> = texts.iter().map(|text| secrets(text.text)).collect();
    let is_secret = |piece: &Piece| {
        let mut parts = hidden.get(piece.text).into_iter().flatten();
        parts.any(|part| part.start < piece.at.end && piece.at.start < part.end)
    };
    let may_go = |piece: &Piece| !piece.flag && texts.get(piece.text).is_some_and(|text| !text.whole);
    let (forced, open): (Vec<usize>, Vec<usize>) = {
        let (forced, open): (Vec<_>, Vec<_>) =
            pieces.iter().enumerate().partition(|(_, piece)| is_secret(piece));
        let numbers = |pieces: Vec<(usize, &Piece)>| pieces.into_iter().map(|(number, _)| number).collect();
        (numbers(forced), numbers(open.into_iter().filter(|(_, piece)| may_go(piece)).collect()))
    };
    let mut work = Work { texts, pieces, gone: vec![false; texts.len()], learn, left: ATTEMPTS };
    let recorded = (work.learn)(&work.written(false));
    for (number, _) in texts.iter().enumerate().filter(|(_, text)| !text.whole) {
        work.leave_out(number, &recorded);
    }
    let mut wanted = work.blank(&forced, Mark::AsItStands);
    if wanted != recorded {
        wanted = work.blank(&forced, Mark::Otherwise);
    }
    if wanted != recorded {
        wanted = work.blank(&forced, Mark::AsItStands);
    }
    let secret = wanted != recorded;
    let stands = |number: &usize| {
        let text = work.pieces.get(*number).map(|piece| piece.text);
        text.is_some_and(|text| work.gone.get(text) == Some(&false))
    };
    let open: Vec<usize> = open.into_iter().filter(stands).collect();
    work.settle(&open, &wanted);
    let joined = work.written(true);
    let texts = if (work.learn)(&joined) == wanted { joined } else { work.written(false) };
    Reduced { texts, secret }
}

struct Work<'w, F> {
    texts: &'w [Text<'w>],
    pieces: Vec<Piece>,
    /// The texts of which nothing is left.
    gone: Vec<bool>,
    learn: F,
    left: usize,
}

impl<L: PartialEq, F: Fn(&[String]) -> L> Work<'_, F> {
    fn set(&mut self, numbers: &[usize], mark: Option<Mark>) {
        for number in numbers {
            if let Some(piece) = self.pieces.get_mut(*number) {
                piece.mark = mark;
            }
        }
    }

    /// What is learned from the texts without these pieces.
    fn blank(&mut self, numbers: &[usize], mark: Mark) -> L {
        self.set(numbers, Some(mark));
        (self.learn)(&self.written(false))
    }

    /// Blanks a whole text if nothing in it matters.
    fn leave_out(&mut self, number: usize, wanted: &L) {
        for gone in [true, false] {
            if let Some(place) = self.gone.get_mut(number) {
                *place = gone;
            }
            if gone && (self.learn)(&self.written(false)) == *wanted {
                return;
            }
        }
    }

    /// Blanks as many of these pieces as possible, all of them at once if none matters.
    fn settle(&mut self, numbers: &[usize], wanted: &L) {
        if numbers.is_empty() {
            return;
        }
        let single = numbers.len() == 1;
        for mark in [Mark::AsItStands, Mark::Otherwise] {
            self.set(numbers, Some(mark));
            let Some(left) = self.left.checked_sub(1) else { return };
            self.left = left;
            if self.blank(numbers, mark) == *wanted {
                return;
            }
            if !single {
                break;
            }
        }
        self.set(numbers, None);
        if !single {
            let (one, other) = numbers.split_at(numbers.len() / 2);
            self.settle(one, wanted);
            self.settle(other, wanted);
        }
    }

    /// The texts as they are now. `joined`: of marks that follow each other, the first.
    fn written(&self, joined: bool) -> Vec<String> {
        let mut out: Vec<String> = self.texts.iter().map(|_| String::new()).collect();
        let mut pieces = self.pieces.iter().peekable();
        for (number, (text, out)) in self.texts.iter().zip(&mut out).enumerate() {
            let (mut end, mut marked) = (0, false);
            if self.gone.get(number) == Some(&true) {
                out.push_str(MARK);
                while pieces.next_if(|piece| piece.text == number).is_some() {}
                continue;
            }
            while let Some(piece) = pieces.next_if(|piece| piece.text == number) {
                let between = text.text.get(end..piece.at.start).unwrap_or_default();
                let joins =
                    joined && marked && between.chars().all(|c| c.is_whitespace() || JOINS.contains(c));
                end = piece.at.end;
                let Some(mark) = piece.mark else {
                    out.push_str(between);
                    out.push_str(text.text.get(piece.at.clone()).unwrap_or_default());
                    marked = false;
                    continue;
                };
                if !joins {
                    out.push_str(between);
                    let quoted = piece.quoted != (mark == Mark::Otherwise);
                    match quoted {
                        true => out.push_str(MARK),
                        false => out.extend(["'", MARK, "'"]),
                    }
                }
                marked = true;
            }
            out.push_str(text.text.get(end..).unwrap_or_default());
        }
        out
    }
}

/// Characters that may separate words of which one mark is left.
const JOINS: &str = ".,:/=@?!#+-";

/// The words of a text and their parts, split as in a shell or an address. Names of variables are not words.
fn split(number: usize, text: &str, out: &mut Vec<Piece>) {
    let mut quote = None;
    let mut chars = text.char_indices().peekable();
    // A single word is no line of a shell.
    let shell = text.contains(char::is_whitespace);
    while let Some((start, c)) = chars.next() {
        match c {
            // Redacted before.
            '[' if text.get(start..).is_some_and(|rest| rest.starts_with(MARK)) => {
                while chars.next_if(|(at, _)| *at < start + MARK.len()).is_some() {}
            }
            '\\' if quote != Some('\'') && chars.peek().is_some_and(|(_, next)| !is_word(*next)) => {
                chars.next();
            }
            '\'' | '"' if quote == Some(c) => quote = None,
            '\'' | '"' if quote.is_none() => quote = Some(c),
            '$' => {
                while chars.next_if(|(_, c)| *c == '{').is_some() {}
                while chars.next_if(|(_, c)| c.is_alphanumeric() || *c == '_').is_some() {}
            }
            c if is_word(c) => {
                let mut end = start + c.len_utf8();
                while let Some((at, c)) = chars.next_if(|(_, c)| is_word(*c)) {
                    end = at + c.len_utf8();
                }
                let quoted = quote.is_some() || !shell;
                // After `:-` of a variable, for one, no flag begins.
                let first = text.get(..start).and_then(|before| before.chars().next_back());
                let may_be_flag = first.is_none_or(|c| c.is_whitespace() || "'\"(`".contains(c));
                word(text.get(start..end).unwrap_or_default(), start, may_be_flag, |at, flag| {
                    out.push(Piece { text: number, at, quoted, flag, mark: None });
                });
            }
            _ => {}
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || "_-.+~%*".contains(c)
}

fn word(word: &str, start: usize, may_be_flag: bool, mut out: impl FnMut(Range<usize>, bool)) {
    let end = start + word.len();
    if !word.contains(char::is_alphanumeric) {
        return;
    }
    match word.strip_prefix('-') {
        Some(rest) if !may_be_flag => out(end - rest.trim_start_matches('-').len()..end, false),
        None => out(start..end, false),
        Some(rest) if rest.starts_with('-') || word.len() <= FLAGS => out(start..end, true),
        Some(rest) => {
            let first = rest.chars().next().map_or(1, |c| 1 + c.len_utf8());
            out(start..start + first, true);
            out(start + first..end, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reduces a text of which only these words matter.
    fn without(text: &str, matter: &[&str]) -> Reduced {
        let learn = |texts: &[String]| matter.iter().map(|word| texts[0].contains(word)).collect::<Vec<_>>();
        reduced(&[Text { text, whole: false }], learn)
    }

    #[test]
    fn what_nothing_rests_on_is_blanked() {
        for (text, matter, shown) in [
            ("git push -f origin main", &["git", "push"][..], "git push -f '[redacted]'"),
            ("cat \"a b/c.txt\" | grep x", &["cat", "c.txt"], "cat \"[redacted]/c.txt\" | '[redacted]'"),
            ("A=b cmd --name=c d", &["cmd"], "'[redacted]' cmd --name='[redacted]'"),
            ("mysql -phunter db", &["mysql"], "mysql -p'[redacted]'"),
            ("echo $HOME ${USER:-me}", &["echo"], "echo $HOME ${USER:-'[redacted]'}"),
            ("x", &["x"], "x"),
            ("curl x", &[], "[redacted]"),
        ] {
            let Reduced { texts, secret } = without(text, matter);
            assert_eq!((texts[0].as_str(), secret), (shown, false), "{text}");
        }
    }

    #[test]
    fn secrets_go_even_if_something_rests_on_them() {
        let secret = "sk-Q7wE4rT9yU2iO5pA8sD3";
        let text = format!("curl -H 'x: {secret}' host");
        let reduced = without(&text, &[secret, "host"]);
        assert!(reduced.secret && !reduced.texts[0].contains("Q7wE"), "{reduced:?}");
        assert!(!without(&text, &["host"]).secret);
        let whole = super::reduced(&[Text { text: &text, whole: true }], |texts| texts[0].contains("curl"));
        assert_eq!(whole.texts[0], "curl -H 'x: [redacted]' host");
    }

    #[test]
    fn words_of_which_nothing_is_known_in_time_are_blanked() {
        let text = "x ".repeat(4_000);
        let learn = |texts: &[String]| texts[0].matches('x').count();
        let reduced = reduced(&[Text { text: &text, whole: false }], learn);
        assert!(
            reduced.texts[0].contains(MARK) && reduced.texts[0].contains("x x"),
            "{}",
            reduced.texts[0].len()
        );
    }
}
