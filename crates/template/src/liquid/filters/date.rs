//! Dates: parsing them, showing them in a zone, and the directives of `strftime` as in LiquidJS.

use std::sync::{Arc, LazyLock};

use jiff::tz::TimeZoneDatabase;

use super::arguments::{argument, made, text};
use crate::liquid::dateparse::{clip, days_from_civil, parse};
use crate::liquid::js;
use crate::liquid::render::Render;
use crate::liquid::text::{Text, is, units, upper, utf8};
use crate::liquid::tree::Filter;
use crate::liquid::unevaluable::{Outcome, Unevaluable};
use crate::liquid::value::Value;

pub(super) const TABLE: &[(&str, Filter)] = &[
    ("date", |run, value, given| {
        let zone = argument(given, 1).clone();
        measured(run, &value, &zone)?;
        let Some(date) = read(run, &value, &zone)? else { return Ok(value) };
        let format = match argument(given, 0).clone().plain(&mut run.meter)? {
            Value::Undefined | Value::Null => units("%A, %B %-e, %Y at %-l:%M %P %z"),
            format => text(run, &format)?,
        };
        show(run, &date, &format)
    }),
    ("date_to_xmlschema", |run, value, _| shown_as(run, value, "%Y-%m-%dT%H:%M:%S%:z")),
    ("date_to_rfc822", |run, value, _| shown_as(run, value, "%a, %d %b %Y %H:%M:%S %z")),
    ("date_to_string", |run, value, given| short(run, value, given, "%b")),
    ("date_to_long_string", |run, value, given| short(run, value, given, "%B")),
];

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// An instant and how it is shown.
struct Date {
    /// Milliseconds since 1970, UTC.
    time: f64,
    /// The zone's offset west of UTC, in minutes.
    behind: f64,
    /// The zone by its name; empty if it was given in minutes, `None` if it was not given.
    zone: Option<Text>,
    shown: Civil,
}

/// The fields of a calendar and a clock.
struct Civil {
    year: i64,
    month: i64,
    day: i64,
    weekday: i64,
    /// Days since the first of January.
    day_of_year: i64,
    hour: i64,
    minute: i64,
    second: i64,
    millisecond: i64,
}

impl Civil {
    fn new(time: f64) -> Self {
        let time = time as i64;
        let (days, rest) = (time.div_euclid(86_400_000), time.rem_euclid(86_400_000));
        let shifted = days + 719_468;
        let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Self {
            year,
            month,
            day,
            weekday: (days + 4).rem_euclid(7),
            // LiquidJS does not take the year 0 for a leap year.
            day_of_year: days - days_from_civil(year, 1, 1) - i64::from(year == 0 && month > 2),
            hour: rest / 3_600_000,
            minute: rest / 60_000 % 60,
            second: rest / 1000 % 60,
            millisecond: rest % 1000,
        }
    }

    fn twelve_hour(&self) -> i64 {
        if self.hour % 12 == 0 { 12 } else { self.hour % 12 }
    }

    fn month_name(&self) -> &'static str {
        usize::try_from(self.month - 1).ok().and_then(|month| MONTHS.get(month)).copied().unwrap_or_default()
    }

    fn day_name(&self) -> &'static str {
        usize::try_from(self.weekday).ok().and_then(|day| DAYS.get(day)).copied().unwrap_or_default()
    }

    /// Days before the first `first` of the year are in week 0.
    fn week(&self, first: i64) -> i64 {
        let since = (self.weekday - first + 7) % 7;
        (self.day_of_year - since + 7).div_euclid(7)
    }

    fn ordinal(&self) -> &'static str {
        match self.day {
            11..=13 => "th",
            day if day % 10 == 1 => "st",
            day if day % 10 == 2 => "nd",
            day if day % 10 == 3 => "rd",
            _ => "th",
        }
    }

    /// In the format of the locale `en-US`; years before the first count backwards from it.
    fn local_date(&self) -> String {
        let year = if self.year > 0 { self.year } else { 1 - self.year };
        format!("{}/{}/{year}", self.month, self.day)
    }

    fn local_time(&self) -> String {
        let half = if self.hour < 12 { "AM" } else { "PM" };
        format!("{}:{:02}:{:02} {half}", self.twelve_hour(), self.minute, self.second)
    }
}

/// LiquidJS adds up the lengths first, which fails if a field `length` is no length.
fn measured(run: &mut Render<'_>, value: &Value, zone: &Value) -> Outcome<()> {
    for given in [value, zone] {
        if let Value::Object(object) = given {
            js::number(object.get(&units("length")).unwrap_or(&Value::Undefined), &mut run.meter)?;
        }
    }
    Ok(())
}

/// Parses a value as a date in `zone`; `None` if it is not one.
fn read(run: &mut Render<'_>, value: &Value, zone: &Value) -> Outcome<Option<Date>> {
    let time = match value.clone().plain(&mut run.meter)? {
        Value::Undefined | Value::Null => return Ok(None),
        Value::Number(seconds) => clip(seconds * 1000.0),
        Value::Bool(truth) => Some(f64::from(u8::from(truth))),
        Value::Text(text) if is(&text, "now") || is(&text, "today") => Some(run.now()? as f64),
        other => {
            let is_text = matches!(other, Value::Text(_));
            let text = js::string(&other, &mut run.meter)?;
            run.meter.step(text.len())?;
            if is_text && !text.is_empty() && text.iter().all(|unit| (48..58).contains(unit)) {
                clip(js::parse_number(&text) * 1000.0)
            } else {
                parse(&text)?
            }
        }
    };
    let Some(time) = time else { return Ok(None) };
    let (behind, zone) = match zone {
        Value::Undefined | Value::Null => (0.0, None),
        Value::Text(name) => {
            run.meter.step(name.len())?;
            (named_zone(name, time)?, Some(Arc::clone(name)))
        }
        minutes => (js::number(minutes, &mut run.meter)?, Some(units(""))),
    };
    let shown = clip(time + (0.0 - behind) * 60_000.0);
    Ok(shown.map(|shown| Date { time, behind, zone, shown: Civil::new(shown) }))
}

/// The bundled database alone: what the machine has would differ from one to the next.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// The offset of a zone of the time zone database west of UTC at an instant, in minutes.
fn named_zone(name: &[u16], time: f64) -> Outcome<f64> {
    let unknown = || js::failed(format!("unknown time zone `{}`", String::from_utf16_lossy(name)));
    let name = utf8(name).ok_or_else(unknown)?;
    if name.eq_ignore_ascii_case("Factory") || name.eq_ignore_ascii_case("Etc/Unknown") {
        return Err(unknown());
    }
    // JavaScript engines read these as the cities whose clocks they follow.
    let name = match name.to_ascii_uppercase().as_str() {
        "EST5EDT" => "America/New_York".to_owned(),
        "CST6CDT" => "America/Chicago".to_owned(),
        "MST7MDT" => "America/Denver".to_owned(),
        "PST8PDT" => "America/Los_Angeles".to_owned(),
        _ => name,
    };
    // Node writes the two clocks out and parses them to find their difference; nothing is promised for years of one and
    // two digits, which it misreads, and beyond the end of the database.
    if !(100..=9998).contains(&Civil::new(time).year) {
        return Err(Unevaluable::Unsupported {
            what: "a named time zone in a year before 100 or after 9998".to_owned(),
        });
    }
    let zone = ZONES.get(&name).map_err(|_| unknown())?;
    let instant = jiff::Timestamp::from_millisecond(time as i64).map_err(|_| unknown())?;
    let seconds = zone.to_offset(instant).seconds();
    Ok(f64::from(-seconds) * 1000.0 / 60_000.0)
}

fn shown_as(run: &mut Render<'_>, value: Value, format: &str) -> Outcome<Value> {
    match read(run, &value, &Value::Undefined)? {
        Some(date) => show(run, &date, &units(format)),
        None => Ok(value),
    }
}

/// Day, month and year, with `ordinal` as `15th Jun 2026`, with `ordinal` and `US` as `Jun 15th, 2026`.
fn short(run: &mut Render<'_>, value: Value, given: &[Value], month: &str) -> Outcome<Value> {
    let Some(date) = read(run, &value, &Value::Undefined)? else { return Ok(value) };
    let given_is =
        |place: usize, name: &str| matches!(argument(given, place), Value::Text(text) if is(text, name));
    let day = date.shown.day;
    let format = match (given_is(0, "ordinal"), given_is(1, "US")) {
        (true, true) => format!("{month} {day}%q, %Y"),
        (true, false) => format!("{day}%q {month} %Y"),
        (false, _) => format!("%d {month} %Y"),
    };
    show(run, &date, &units(&format))
}

/// A directive: `%`, flags, width, a modifier that changes nothing, and the letter.
struct Directive<'f> {
    flags: &'f [u16],
    width: f64,
    letter: u16,
}

fn show(run: &mut Render<'_>, date: &Date, format: &[u16]) -> Outcome<Value> {
    let mut out: Vec<u16> = Vec::with_capacity(format.len());
    let mut rest = format;
    while let Some(at) = rest.iter().position(|&unit| unit == 37) {
        let (before, directive) = rest.split_at(at);
        out.extend_from_slice(before);
        let (length, directive_read) = read_directive(directive);
        let (spelled, after) = directive.split_at(length.min(directive.len()));
        match directive_read {
            Some(directive) => match converted(run, date, &directive)? {
                Some(shown) => out.extend_from_slice(&shown),
                None => out.extend_from_slice(spelled),
            },
            None => out.extend_from_slice(spelled),
        }
        rest = after;
    }
    out.extend_from_slice(rest);
    made(run, out)
}

/// The directive at the beginning of `text` and its length. If the letter is missing (the text or the line ends), the
/// text is literal.
fn read_directive(text: &[u16]) -> (usize, Option<Directive<'_>>) {
    let count =
        |from: usize, kind: fn(&u16) -> bool| text.iter().skip(from).take_while(|unit| kind(unit)).count();
    let flags_end = 1 + count(1, |unit| matches!(unit, 45 | 95 | 48 | 94 | 35 | 58));
    let width_end = flags_end + count(flags_end, |unit| (48..58).contains(unit));
    let end = width_end + usize::from(matches!(text.get(width_end), Some(69 | 79)));
    let flags = text.get(1..flags_end).unwrap_or_default();
    let width = js::parse_number(text.get(flags_end..width_end).unwrap_or_default());
    match text.get(end) {
        Some(&letter) if !matches!(letter, 10 | 13 | 0x2028 | 0x2029) => {
            (end + 1, Some(Directive { flags, width, letter }))
        }
        _ => (end, None),
    }
}

fn converted(run: &mut Render<'_>, date: &Date, directive: &Directive<'_>) -> Outcome<Option<Text>> {
    let has = |flag: char| directive.flags.iter().any(|&unit| u32::from(unit) == u32::from(flag));
    let letter = char::from_u32(u32::from(directive.letter)).unwrap_or(' ');
    let shown = &date.shown;
    let number = |number: i64| number.to_string();
    let (text, width) = match letter {
        'a' => (shown.day_name().chars().take(3).collect(), 0),
        'A' => (shown.day_name().to_owned(), 0),
        'b' | 'h' => (shown.month_name().chars().take(3).collect(), 0),
        'B' => (shown.month_name().to_owned(), 0),
        'c' => (format!("{}, {}", shown.local_date(), shown.local_time()), 0),
        'x' => (shown.local_date(), 0),
        'X' => (shown.local_time(), 0),
        'C' => (number(shown.year.div_euclid(100)), 2),
        'd' | 'e' => (number(shown.day), 2),
        'H' | 'k' => (number(shown.hour), 2),
        'I' | 'l' => (number(shown.twelve_hour()), 2),
        'j' => (number(shown.day_of_year + 1), 3),
        'L' => (number(shown.millisecond), 3),
        'm' => (number(shown.month), 2),
        'M' => (number(shown.minute), 2),
        'N' => (fraction(run, shown, directive.width)?, 0),
        'p' => (if shown.hour < 12 { "AM" } else { "PM" }.to_owned(), 0),
        'P' => (if shown.hour < 12 { "am" } else { "pm" }.to_owned(), 0),
        'q' => (shown.ordinal().to_owned(), 0),
        's' => (js::number_text((date.time / 1000.0).floor()), 0),
        'S' => (number(shown.second), 2),
        'u' => (number(if shown.weekday == 0 { 7 } else { shown.weekday }), 0),
        'w' => (number(shown.weekday), 0),
        'U' => (number(shown.week(0)), 2),
        'W' => (number(shown.week(1)), 2),
        'y' => (number(shown.year.rem_euclid(100)), 2),
        'Y' => (number(shown.year), 4),
        'z' => (offset(date.behind, has(':')), 0),
        'Z' => match &date.zone {
            None => ("UTC".to_owned(), 0),
            Some(name) if name.is_empty() => (offset(date.behind, has(':')), 0),
            Some(name) => (String::from_utf16_lossy(name), 0),
        },
        't' => ("\t".to_owned(), 0),
        'n' => ("\n".to_owned(), 0),
        '%' => ("%".to_owned(), 0),
        _ => return Ok(None),
    };
    let mut text = units(&text);
    if has('^') {
        text = upper(&text);
    } else if has('#') {
        let has_lower = text.iter().any(|unit| (97..123).contains(unit));
        text = if has_lower { upper(&text) } else { crate::liquid::text::lower(&text) };
    }
    let width = match directive.width {
        _ if has('-') => 0.0,
        wide if wide != 0.0 => wide,
        _ => f64::from(width),
    };
    let pad = if has('_') || (!has('0') && "aAbBceklpP".contains(letter)) { 32 } else { 48 };
    if pad == 48 && text.first() == Some(&45) {
        let digits = padded(run, text.get(1..).unwrap_or_default(), width - 1.0, pad)?;
        return Ok(Some([&[45], &*digits].concat().into()));
    }
    padded(run, &text, width, pad).map(Some)
}

/// `text` with `pad` in front, to a length of `width`.
fn padded(run: &mut Render<'_>, text: &[u16], width: f64, pad: u16) -> Outcome<Text> {
    let missing = missing(run, text.len(), width)?;
    Ok(std::iter::repeat_n(pad, missing).chain(text.iter().copied()).collect())
}

/// The number of characters missing to `width`, counted before they are made.
fn missing(run: &mut Render<'_>, length: usize, width: f64) -> Outcome<usize> {
    let missing = (width - js::count(length)).max(0.0);
    let missing = if missing < 1e9 { missing as usize } else { usize::MAX / 4 };
    run.meter.text(missing)?;
    Ok(missing)
}

/// The milliseconds as this many digits of a fraction; nine, where no width is given.
fn fraction(run: &mut Render<'_>, shown: &Civil, width: f64) -> Outcome<String> {
    let width = if width == 0.0 { 9.0 } else { width };
    let digits = format!("{:03}", shown.millisecond);
    let kept = js::whole(width.min(3.0)).unwrap_or(3);
    let mut digits: String = digits.chars().take(kept).collect();
    let missing = missing(run, digits.len(), width)?;
    digits.push_str(&"0".repeat(missing));
    Ok(digits)
}

/// `+0130` or `+01:30` for a zone with this offset west of UTC, in minutes.
fn offset(behind: f64, colon: bool) -> String {
    let total = behind.abs();
    let two = |number: f64| {
        let text = js::number_text(number);
        if text.len() < 2 { format!("0{text}") } else { text }
    };
    let sign = if behind > 0.0 { '-' } else { '+' };
    let colon = if colon { ":" } else { "" };
    format!("{sign}{}{colon}{}", two((total / 60.0).floor()), two(total % 60.0))
}
