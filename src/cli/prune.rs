//! `rulestep prune`: removes journals of sessions that are over.

use std::time::{Duration, SystemTime};

use clap::Args;

use super::install::failed;
use super::verb::{Exit, Exits, FAULT, Failure, Screen, Verb};
use super::{hook, live};
use crate::live::prune::{Fate, Seen, Wanted, prune};
use rulestep_base::wording as words;

/// Remove old journals, and print which. A journal is the recording of one session that `hook`, `gate` or `proxy` writes
#[derive(Debug, Args)]
pub struct Prune {
    /// Remove journals without a new entry for this long: hours, days or weeks, such as `12h`, `30d` or `8w`
    #[arg(long, value_name = "AGE")]
    pub older_than: String,
    /// Also remove old journals of sessions that have not ended; agents may still resume them
    #[arg(long)]
    pub unfinished: bool,
    /// List what would be removed, and remove nothing
    #[arg(long)]
    pub dry_run: bool,
}

impl Verb for Prune {
    const NAME: &'static str = "prune";
    const EXITS: Exits = &[
        (0, "the journals were removed, or there was none to remove"),
        (2, "wrong arguments, or a journal could not be removed"),
        FAULT,
    ];

    fn run(&self, screen: &mut Screen) -> Result<Exit, Failure> {
        let older_than = age(&self.older_than).ok_or_else(|| {
            let message = format!("`{}` is not an age", words::line(&self.older_than));
            Failure::usage(message).help("write a number with `h` (hours), `d` (days) or `w` (weeks): `30d`")
        })?;
        let folder = hook::folder().map_err(failed)?;
        let wanted = Wanted { older_than, unfinished: self.unfinished, dry_run: self.dry_run };
        let seen = prune(&live::journals(&folder), wanted, SystemTime::now());
        let does = if self.dry_run { "would remove" } else { "removed" };
        let (mut count, mut bytes, mut all_done) = (0, 0, true);
        for Seen { path, bytes: own, fate } in &seen {
            let shown = path.strip_prefix(&folder).unwrap_or(path).with_extension("");
            let shown = words::line(&shown.display().to_string());
            match fate {
                Fate::Removed => {
                    (count, bytes) = (count + 1, bytes + own);
                    writeln!(screen.out(), "{does}  {:>9}  {shown}", size(*own))?;
                }
                Fate::Failed(error) => {
                    all_done = false;
                    screen.error(&format!("the journal {shown} cannot be removed: {error}"), None);
                }
                Fate::Recent | Fate::Unfinished | Fate::InUse => {}
            }
        }
        writeln!(screen.out(), "{does} {}, {}", words::count(count, "journal"), size(bytes))?;
        for line in kept(&seen, &self.older_than) {
            writeln!(screen.out(), "{line}")?;
        }
        Ok(if all_done { Exit::Clean } else { Exit::Bad })
    }
}

/// What is kept, and why.
fn kept(seen: &[Seen], age: &str) -> Vec<String> {
    let of = |is: fn(&Fate) -> bool| seen.iter().filter(|one| is(&one.fate)).count() as u64;
    let why = [
        (of(|fate| matches!(fate, Fate::InUse)), "in use".to_owned()),
        (of(|fate| matches!(fate, Fate::Recent)), format!("written to in the last {}", words::line(age))),
        (
            of(|fate| matches!(fate, Fate::Unfinished)),
            "of a session without an end (`--unfinished` removes these)".to_owned(),
        ),
    ];
    let kept = why.iter().filter(|(count, _)| *count > 0);
    kept.map(|(count, why)| format!("kept {}: {why}", words::count(*count, "journal"))).collect()
}

/// A number of hours, days or weeks.
fn age(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let hours = match unit {
        "h" => 1,
        "d" => 24,
        "w" => 7 * 24,
        _ => return None,
    };
    let digits = Some(digits).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    Some(Duration::from_secs(digits.parse::<u64>().ok()?.checked_mul(hours * 3600)?))
}

/// Bytes, for people.
fn size(bytes: u64) -> String {
    match bytes {
        0..1000 => format!("{bytes} B"),
        1000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_whole_numbers_with_a_unit() {
        let hours = |text| age(text).map(|age| age.as_secs() / 3600);
        assert_eq!(
            (hours("36h"), hours("30d"), hours("2w"), hours("0d")),
            (Some(36), Some(720), Some(336), Some(0))
        );
        for odd in ["", "d", "30", "30m", "-1d", "+1d", "1.5d", "1 d", "30D", "é", "99999999999999999999d"] {
            assert_eq!(age(odd), None, "{odd}");
        }
    }
}
