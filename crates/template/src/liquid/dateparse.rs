//! Reads a text as JavaScript's `new Date(text)` does, local time being UTC.
//!
//! That is the standard form (`2026-06-15T10:00:00Z`), also with a blank for the `T`. Engines share a lenient reading of nearly
//! every other text with a digit in it, which no standard describes: such a text is refused, not guessed.

use super::unevaluable::{Outcome, Unevaluable};

/// The instant in milliseconds since 1970. `None`: the text is no date.
///
/// # Errors
/// The text is a date in another form, or may be one.
pub(super) fn parse(text: &[u16]) -> Outcome<Option<f64>> {
    // A NUL ends the text; other than ASCII is in no standard form.
    let text = text.split(|unit| *unit == 0).next().unwrap_or_default();
    let ascii: Vec<u8> = text.iter().map(|unit| u8::try_from(*unit).unwrap_or(b'?')).collect();
    match standard(&ascii) {
        Standard::Instant(time) => Ok(clip(time)),
        Standard::Wrong => Ok(None),
        Standard::Other if !ascii.iter().any(u8::is_ascii_digit) => Ok(None),
        Standard::Other => Err(Unevaluable::Unsupported {
            what: "a date that is not written as `2026-06-15` or `2026-06-15T10:00:00Z`".to_owned(),
        }),
    }
}

/// Days since 1970 of a date in the Gregorian calendar, whatever the year.
pub(super) fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The instant, if JavaScript can hold it: whole milliseconds, 100 million days around 1970.
pub(super) fn clip(time: f64) -> Option<f64> {
    (time.abs() <= 8.64e15).then(|| time.trunc() + 0.0)
}

/// A text, read in the standard form.
enum Standard {
    Instant(f64),
    /// It begins as one and is none, so that no other form is tried.
    Wrong,
    /// It has another form.
    Other,
}

fn standard(text: &[u8]) -> Standard {
    let mut rest = Rest(text);
    let Some(date) = rest.date() else { return Standard::Other };
    let day = days_from_civil(date.0, date.1, date.2) as f64 * 86_400_000.0;
    if rest.0.is_empty() {
        return Standard::Instant(day);
    }
    let blank = rest.skip(b" ");
    if !blank && !rest.skip(b"tT") {
        return Standard::Other;
    }
    match rest.time().filter(|_| rest.0.is_empty()) {
        Some(time) => Standard::Instant(day + time),
        None if blank => Standard::Other,
        None => Standard::Wrong,
    }
}

/// What is still to be read.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    /// Whether one of these comes next; it is read then.
    fn skip(&mut self, any: &[u8]) -> bool {
        match self.0.split_first() {
            Some((first, rest)) if any.contains(first) => {
                self.0 = rest;
                true
            }
            _ => false,
        }
    }

    /// All digits that come next.
    fn digits(&mut self) -> &[u8] {
        let count = self.0.iter().take_while(|letter| letter.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at(count);
        self.0 = rest;
        digits
    }

    /// A number of this many digits, and no more.
    fn number(&mut self, length: usize, range: std::ops::RangeInclusive<i64>) -> Option<i64> {
        let digits = Some(self.digits()).filter(|digits| digits.len() == length)?;
        let number = digits.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0'));
        range.contains(&number).then_some(number)
    }

    fn sign(&mut self) -> Option<i64> {
        if self.skip(b"+") { Some(1) } else { self.skip(b"-").then_some(-1) }
    }

    /// `YYYY`, `YYYY-MM` or `YYYY-MM-DD`, the year also with a sign and six digits.
    fn date(&mut self) -> Option<(i64, i64, i64)> {
        let year = match self.sign() {
            Some(sign) => {
                self.number(6, 0..=999_999).map(|year| sign * year).filter(|year| sign > 0 || *year != 0)?
            }
            None => self.number(4, 0..=9999)?,
        };
        let month = if self.skip(b"-") { Some(self.number(2, 1..=12)?) } else { None };
        let day = if month.is_some() && self.skip(b"-") { self.number(2, 1..=31)? } else { 1 };
        Some((year, month.unwrap_or(1), day))
    }

    /// `HH:mm`, `HH:mm:ss` or `HH:mm:ss.sss`, and a zone, in milliseconds.
    fn time(&mut self) -> Option<f64> {
        let hour = self.number(2, 0..=24)?;
        // 24:00 is the end of the day, no later time begins with 24.
        let most = |most: i64| if hour == 24 { 0 } else { most };
        self.skip(b":").then_some(())?;
        let minute = self.number(2, 0..=most(59))?;
        let second = if self.skip(b":") { Some(self.number(2, 0..=most(59))?) } else { None };
        let fraction = if second.is_some() && self.skip(b".") { self.milliseconds(hour == 24)? } else { 0 };
        let offset = if self.skip(b"zZ") { 0 } else { self.offset()? };
        let seconds = hour * 3600 + minute * 60 + second.unwrap_or(0) - offset;
        Some(seconds as f64 * 1000.0 + fraction as f64)
    }

    /// The first three digits of a fraction.
    fn milliseconds(&mut self, only_zeros: bool) -> Option<i64> {
        let digits = self.digits();
        if digits.is_empty() || only_zeros && digits.iter().any(|digit| *digit != b'0') {
            return None;
        }
        let three = digits.iter().copied().chain([b'0', b'0']).take(3);
        Some(three.fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
    }

    /// `+02:00` or `+0200`, in seconds; 0 without one.
    fn offset(&mut self) -> Option<i64> {
        let Some(sign) = self.sign() else { return Some(0) };
        let (hour, minute) = match self.0.get(2) {
            Some(b':') => {
                let hour = self.number(2, 0..=23)?;
                self.skip(b":");
                (hour, self.number(2, 0..=59)?)
            }
            _ => {
                let both = self.number(4, 0..=2359).filter(|both| both % 100 <= 59)?;
                (both / 100, both % 100)
            }
        };
        Some(sign * (hour * 3600 + minute * 60))
    }
}
