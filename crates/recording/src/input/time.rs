//! Instants in recordings.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::fmt::rfc2822;
use jiff::tz::TimeZone;

use crate::input::shallow::{Kind, Members, Node};
use rulestep_base::session::Millis;
use rulestep_base::source::quoted;

/// The instant under the first of these keys that is present. A value that is not a known form of time is reported.
pub fn of(members: &Members<'_>, keys: &[&str]) -> Result<Option<Millis>, String> {
    let Some((key, node)) = keys.iter().find_map(|key| members.get(key).map(|node| (key, node))) else {
        return Ok(None);
    };
    let told = || format!("`{key}` is not a known form of time: {}", quoted(node.json()));
    instant(node).map(Some).ok_or_else(told)
}

/// The instant of a JSON value: ISO 8601 (UTC if it names no zone), RFC 2822, or a number since 1970 in seconds,
/// milliseconds, microseconds or nanoseconds, distinguished by its size.
pub fn instant(node: Node<'_>) -> Option<Millis> {
    match node.kind() {
        Kind::Number => number(node.json()),
        // The caller reports a value that is not a time, and no call depends on it.
        _ => text(node.tried().text()?.trim()),
    }
}

/// The instant of a text, as in [`instant`].
pub fn text(text: &str) -> Option<Millis> {
    if text.is_empty() {
        return None;
    }
    // Eight digits are a date, fewer no time at all.
    let digits = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') && text.len() > 8;
    if let Some(millis) = Some(text).filter(|_| digits).and_then(number) {
        return Some(millis);
    }
    if let Ok(instant) = text.parse::<Timestamp>() {
        return Some(instant.as_millisecond());
    }
    let civil = text.parse::<DateTime>().or_else(|_| text.parse::<Date>().map(DateTime::from));
    if let Ok(civil) = civil {
        return civil.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp().as_millisecond());
    }
    rfc2822::parse(text).ok().map(|zoned| zoned.timestamp().as_millisecond())
}

fn number(digits: &str) -> Option<Millis> {
    let value: f64 = digits.parse().ok()?;
    let size = value.abs();
    let millis = match size {
        _ if size < 1e11 => value * 1e3,
        _ if size < 1e14 => value,
        _ if size < 1e17 => value / 1e3,
        _ if size < 1e20 => value / 1e6,
        _ => return None,
    };
    // Whole milliseconds are exact in this range.
    Some(millis.round() as Millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_spellings() {
        const TEN: Millis = 1_777_888_800_000;
        for (json, expected) in [
            (r#""2026-05-04T10:00:00Z""#, Some(TEN)),
            (r#""2026-05-04T10:00:00.250Z""#, Some(TEN + 250)),
            (r#""2026-05-04T10:00:00.250123456Z""#, Some(TEN + 250)),
            (r#""2026-05-04T12:00:00+02:00""#, Some(TEN)),
            (r#""2026-05-04T12:00:00+0200""#, Some(TEN)),
            (r#""2026-05-04 10:00:00""#, Some(TEN)),
            (r#""2026-05-04T10:00:00""#, Some(TEN)),
            (r#""2026-05-04T10:00""#, Some(TEN)),
            (r#""2026-05-04""#, Some(TEN - 36_000_000)),
            (r#""20260504T100000Z""#, Some(TEN)),
            (r#""Mon, 04 May 2026 10:00:00 +0000""#, Some(TEN)),
            ("1777888800", Some(TEN)),
            ("1777888800.25", Some(TEN + 250)),
            ("1777888800000", Some(TEN)),
            ("1777888800000000", Some(TEN)),
            ("1777888800000000000", Some(TEN)),
            (r#""1777888800""#, Some(TEN)),
            ("1.7778888e9", Some(TEN)),
            ("0", Some(0)),
            ("1e300", None),
            (r#""yesterday""#, None),
            (r#""""#, None),
            ("true", None),
            ("{}", None),
        ] {
            let node = Node::parse(json).unwrap();
            assert_eq!(instant(node), expected, "{json}");
        }
    }
}
