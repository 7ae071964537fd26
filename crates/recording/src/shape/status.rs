//! Words that recordings of every kind use for the outcome of a call.

use rulestep_base::session::Body;

/// The outcome of a call, as a word expresses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It succeeded.
    Succeeded,
    /// It failed, or was aborted.
    Failed,
    /// It was refused, so that it did not run, and how that is known.
    Refused(&'static str),
    /// It has not ended.
    Open,
    /// The word is not known, so it is not known either whether the call succeeded.
    Unknown,
}

impl Status {
    /// Whether the call failed; `None` if it has not ended, or that is unknown.
    pub fn failed(self) -> Option<bool> {
        match self {
            Status::Succeeded => Some(false),
            Status::Failed | Status::Refused(_) => Some(true),
            Status::Open | Status::Unknown => None,
        }
    }

    /// How the refusal is known, if the call was refused.
    pub fn refused(self) -> Option<&'static str> {
        if let Status::Refused(how) = self { Some(how) } else { None }
    }
}

/// The meaning of a word, however it is spelt: `timed_out`, `timed-out`, `TIMED OUT`.
pub fn status(word: &str) -> Status {
    let letters = word.chars().filter(|letter| letter.is_ascii_alphanumeric());
    let letters: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    match &*letters {
        "success" | "successful" | "succeeded" | "ok" | "okay" | "complete" | "completed" | "done"
        | "finished" | "fulfilled" | "passed" | "resolved" | "available" | "outputavailable" => {
            Status::Succeeded
        }
        "error" | "errored" | "err" | "failed" | "failure" | "fail" | "faulted" | "exception" | "crashed"
        | "timeout" | "timedout" | "cancelled" | "canceled" | "aborted" | "abort" | "interrupted"
        | "killed" | "terminated" | "stopped" | "incomplete" | "invalid" | "expired" | "outputerror"
        | "unsuccessful" => Status::Failed,
        "denied" | "permissiondenied" | "outputdenied" => Status::Refused("the result's status is `denied`"),
        "rejected" | "reject" => Status::Refused("the result's status is `rejected`"),
        "refused" => Status::Refused("the result's status is `refused`"),
        "declined" => Status::Refused("the result's status is `declined`"),
        "pending" | "running" | "inprogress" | "queued" | "started" | "executing" | "scheduled"
        | "waiting" | "requiresaction" | "awaitingapproval" | "validating" => Status::Open,
        _ => Status::Unknown,
    }
}

/// Whether a call that ended in this way failed; `None` if the word does not say.
pub fn failed(word: &str) -> Option<bool> {
    (status(word) != Status::Succeeded).then_some(true)
}

/// Whether a result in the form of the protocol for tools says itself that its call failed.
pub fn says_error(content: &Body) -> bool {
    content.may_hold("isError")
        && content.value().and_then(|value| value.get("isError")).is_some_and(|error| *error == true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_known_in_every_spelling() {
        for (word, expected) in [
            ("success", Status::Succeeded),
            ("Completed", Status::Succeeded),
            ("timed_out", Status::Failed),
            ("TIMED-OUT", Status::Failed),
            ("canceled", Status::Failed),
            ("denied", Status::Refused("the result's status is `denied`")),
            ("in_progress", Status::Open),
            ("", Status::Unknown),
            ("partial", Status::Unknown),
        ] {
            assert_eq!(status(word), expected, "{word}");
        }
        assert_eq!((failed("ok"), failed("odd")), (None, Some(true)));
    }
}
