//! Trying an expression.

use crate::workbench::effect::TestRequest;
use crate::workbench::message::Msg;

/// Tries it.
pub fn test(request: &TestRequest) -> Msg {
    let answer = crate::tester::test_by(
        request.expression.language,
        &request.expression.text,
        &request.subject,
        &request.known,
    );
    Msg::Tested { number: request.number, answer: Box::new(answer) }
}
