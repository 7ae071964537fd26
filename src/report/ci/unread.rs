//! Recordings that were not read whole, as tests: a build server shows the tests, and a report in which all of them pass says
//! that nothing is wrong.

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus};

use crate::report::unread::UnreadFile;
use crate::report::{RunCounts, words};

/// What is tested.
const TEST: &str = "the recording is read completely";

/// A test for each recording that was not read whole, and one where the work was broken off. What makes the run fail is an
/// error, anything else is skipped.
pub fn tests(total: &RunCounts) -> impl Iterator<Item = TestCase> {
    let files = total.unread.files().map(|(name, file)| {
        let mut test = TestCase::new(TEST, status(file, total.strict));
        test.set_classname(if name.is_empty() {
            "recordings".into()
        } else {
            words::name(name).into_owned()
        });
        test
    });
    let interrupted = total.reading.interrupted.then(|| {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_type("interrupted");
        status.set_message("interrupted: these results are incomplete");
        TestCase::new("every recording is read", status)
    });
    files.chain(interrupted)
}

fn status(file: &UnreadFile, strict: bool) -> TestCaseStatus {
    let nothing = "nothing in it is a recording";
    let Some((message, _)) = file.problems.first() else {
        let mut status = match strict {
            true => TestCaseStatus::non_success(NonSuccessKind::Error),
            false => TestCaseStatus::skipped(),
        };
        status.set_type("skipped");
        status.set_message(nothing);
        return status;
    };
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_type("unread");
    status.set_message(words::line(message));
    status
        .set_description(file.problems.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n"));
    status
}
