//! Reads a text as JavaScript's `new Date(text)` does, local time being UTC.
//!
//! Two readings: the standard form (`2026-06-15T10:00:00Z`), and, from where a text leaves it, the lenient
//! one that engines share in practice: words, numbers and signs in almost any order.

mod tokens;

use tokens::{Token, Tokens};

/// The instant in milliseconds since 1970, if the text is a date.
pub(super) fn parse(text: &[u16]) -> Option<f64> {
    let mut parser = Parser::new(text);
    let mut token = match parser.standard() {
        Standard::Read => Token::End,
        Standard::Left(token) => token,
        Standard::Wrong => return None,
    };
    let mut read_number = !parser.day.is_empty();
    while token != Token::End {
        parser.lenient(token, &mut read_number)?;
        token = parser.tokens.next();
    }
    parser.instant()
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

/// How far the standard form went.
enum Standard {
    Read,
    Left(Token),
    Wrong,
}

struct Parser<'a> {
    tokens: Tokens<'a>,
    day: Vec<i64>,
    named_month: Option<i64>,
    is_standard: bool,
    time: Vec<i64>,
    half: Option<i64>,
    zone: Zone,
}

#[derive(Default)]
struct Zone {
    sign: Option<i64>,
    hour: Option<i64>,
    minute: Option<i64>,
}

impl Zone {
    fn set(&mut self, hours: i64) {
        self.sign = Some(if hours < 0 { -1 } else { 1 });
        self.hour = Some(hours.abs());
        self.minute = Some(0);
    }

    fn is_utc(&self) -> bool {
        self.hour == Some(0) && self.minute == Some(0)
    }
}

impl<'a> Parser<'a> {
    fn new(text: &'a [u16]) -> Self {
        let tokens = Tokens::of(text);
        let (day, time) = (Vec::new(), Vec::new());
        Self { tokens, day, named_month: None, is_standard: false, time, half: None, zone: Zone::default() }
    }

    fn standard(&mut self) -> Standard {
        if let Some(sign) = self.tokens.ahead.sign() {
            let token = self.tokens.next();
            let Some(year) = self.tokens.ahead.digits(6, 0..=999_999) else { return Standard::Left(token) };
            self.tokens.next();
            if sign < 0 && year == 0 {
                return Standard::Left(token);
            }
            self.day.push(sign * year);
        } else if let Some(year) = self.tokens.ahead.digits(4, 0..=9999) {
            self.tokens.next();
            self.day.push(year);
        } else {
            return Standard::Left(self.tokens.next());
        }
        for range in [1..=12, 1..=31] {
            if !self.tokens.skip(b'-') {
                break;
            }
            let Some(part) = self.tokens.ahead.digits(2, range) else {
                return Standard::Left(self.tokens.next());
            };
            self.tokens.next();
            self.day.push(part);
        }
        if self.tokens.ahead == Token::Separator {
            self.tokens.next();
            if self.standard_time().is_none() || self.tokens.ahead != Token::End {
                return Standard::Wrong;
            }
        } else if self.tokens.ahead != Token::End {
            return Standard::Left(self.tokens.next());
        }
        if self.zone.hour.is_none() && self.time.is_empty() {
            self.zone.set(0);
        }
        self.is_standard = true;
        Standard::Read
    }

    fn standard_time(&mut self) -> Option<()> {
        let hour = self.tokens.next().digits(2, 0..=24)?;
        // 24:00 is the end of the day, no later time begins with 24.
        let most = |most: i64| if hour == 24 { 0 } else { most };
        self.time.push(hour);
        self.tokens.skip(b':').then_some(())?;
        let minute = self.tokens.next().digits(2, 0..=most(59))?;
        self.time.push(minute);
        if self.tokens.skip(b':') {
            let second = self.tokens.next().digits(2, 0..=most(59))?;
            self.time.push(second);
            if self.tokens.skip(b'.') {
                let token = self.tokens.next();
                let Token::Number { value, .. } = token else { return None };
                if hour == 24 && value > 0 {
                    return None;
                }
                self.time.push(milliseconds(token)?);
            }
        }
        if self.tokens.ahead.is_zulu() {
            self.tokens.next();
            self.zone.set(0);
        } else if let Some(sign) = self.tokens.ahead.sign() {
            self.tokens.next();
            self.zone.sign = Some(sign);
            let token = self.tokens.next();
            if let Some(both) = token.digits(4, 0..=2359) {
                if both % 100 > 59 {
                    return None;
                }
                self.zone.hour = Some(both / 100);
                self.zone.minute = Some(both % 100);
            } else {
                self.zone.hour = Some(token.digits(2, 0..=23)?);
                self.tokens.skip(b':').then_some(())?;
                self.zone.minute = Some(self.tokens.next().digits(2, 0..=59)?);
            }
        }
        Some(())
    }

    /// Takes one token of the lenient form; `None` where the text cannot be a date any more.
    fn lenient(&mut self, token: Token, read_number: &mut bool) -> Option<()> {
        match token {
            Token::Number { value, .. } => {
                *read_number = true;
                self.number(value)?;
            }
            Token::Half(hours) if !self.time.is_empty() => self.half = Some(hours),
            Token::Month(month) => {
                self.named_month = Some(month);
                self.tokens.skip(b'-');
            }
            Token::Zone { hours, .. } if *read_number => self.zone.set(hours),
            Token::Half(_) | Token::Zone { .. } | Token::Separator | Token::Word => {
                // Words are passed over before the first number, from which something must part them.
                if *read_number || self.tokens.ahead.is_number() {
                    return None;
                }
            }
            Token::Symbol(b'+' | b'-') if self.zone.is_utc() || !self.time.is_empty() => {
                *read_number = true;
                self.zone.sign = token.sign();
                let (mut value, mut digits) = (0, 0);
                if let Token::Number { value: number, length } = self.tokens.ahead {
                    self.tokens.next();
                    (value, digits) = (number, length);
                }
                if self.tokens.ahead == Token::Symbol(b':') {
                    (self.zone.hour, self.zone.minute) = (Some(value), None);
                } else {
                    (self.zone.hour, self.zone.minute) = match digits {
                        1 | 2 => (Some(value), Some(0)),
                        3 | 4 => (Some(value / 100), Some(value % 100)),
                        _ => return None,
                    };
                }
            }
            Token::Symbol(b'+' | b'-' | b')') if *read_number => return None,
            Token::End | Token::Symbol(_) | Token::Space | Token::Other => {}
        }
        Some(())
    }

    fn number(&mut self, number: i64) -> Option<()> {
        if self.tokens.skip(b':') {
            if self.tokens.skip(b':') {
                if !self.time.is_empty() {
                    return None;
                }
                self.time.extend([number, 0]);
            } else {
                self.add_time(number)?;
                if self.tokens.ahead == Token::Symbol(b'.') {
                    self.tokens.next();
                }
            }
        } else if self.tokens.skip(b'.') && self.expects_time(number) {
            self.add_time(number)?;
            let fraction = milliseconds(self.tokens.ahead)?;
            self.tokens.next();
            // A fraction after four parts is passed over.
            self.end_time(fraction);
        } else if self.zone.hour.is_some() && self.zone.minute.is_none() && (0..60).contains(&number) {
            self.zone.minute = Some(number);
        } else if self.expects_time(number) {
            self.end_time(number);
            let ahead = self.tokens.ahead;
            let ends =
                matches!(ahead, Token::End | Token::Space) || ahead.is_zulu() || ahead.sign().is_some();
            ends.then_some(())?;
        } else {
            (self.day.len() < 3).then_some(())?;
            self.day.push(number);
            self.tokens.skip(b'-');
        }
        Some(())
    }

    fn expects_time(&self, number: i64) -> bool {
        match self.time.len() {
            1 | 2 => (0..60).contains(&number),
            3 => (0..1000).contains(&number),
            _ => false,
        }
    }

    fn add_time(&mut self, part: i64) -> Option<()> {
        (self.time.len() < 4).then(|| self.time.push(part))
    }

    fn end_time(&mut self, part: i64) {
        if self.add_time(part).is_some() {
            self.time.resize(4, 0);
        }
    }

    fn instant(&self) -> Option<f64> {
        let (year, month, day) = self.date()?;
        let part = |at: usize| self.time.get(at).copied().unwrap_or(0);
        let (mut hour, minute, second, fraction) = (part(0), part(1), part(2), part(3));
        if let Some(half) = self.half {
            (0..=12).contains(&hour).then_some(())?;
            hour = hour % 12 + half;
        }
        let is_time = (0..24).contains(&hour)
            && (0..60).contains(&minute)
            && (0..60).contains(&second)
            && (0..1000).contains(&fraction);
        if !is_time && (hour, minute, second, fraction) != (24, 0, 0, 0) {
            return None;
        }
        let offset = match self.zone.sign {
            Some(sign) => {
                let seconds = self.zone.hour.unwrap_or(0) * 3600 + self.zone.minute.unwrap_or(0) * 60;
                // Engines count it in 32 bits.
                let seconds = i64::from(u32::try_from(seconds & 0xffff_ffff).ok()?);
                (seconds <= i64::from(i32::MAX)).then_some(sign * seconds)?
            }
            None => 0,
        };
        let seconds =
            days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset;
        clip(seconds as f64 * 1000.0 + fraction as f64)
    }

    fn date(&self) -> Option<(i64, i64, i64)> {
        let count = self.day.len();
        let part = |at: usize| self.day.get(at).copied().unwrap_or(1);
        let is_day = |part: i64| (1..=31).contains(&part);
        if count == 0 {
            return None;
        }
        // Missing parts are 1 even before the order is found out.
        let (year, month, day) = match self.named_month {
            Some(month) if !is_day(part(0)) => (part(0), month, part(1)),
            Some(month) => (part(1), month, part(0)),
            None if self.is_standard || !is_day(part(0)) => (part(0), part(1), part(2)),
            None => (part(2), part(0), part(1)),
        };
        let year = match year {
            0..=49 if !self.is_standard => year + 2000,
            50..=99 if !self.is_standard => year + 1900,
            _ => year,
        };
        ((1..=12).contains(&month) && is_day(day)).then_some((year, month, day))
    }
}

/// The first three digits of a fraction.
fn milliseconds(token: Token) -> Option<i64> {
    let Token::Number { value, length } = token else { return None };
    Some(match length {
        1 => value * 100,
        2 => value * 10,
        _ => value / 10_i64.pow(u32::try_from(length.min(9)).unwrap_or(9).saturating_sub(3)),
    })
}
