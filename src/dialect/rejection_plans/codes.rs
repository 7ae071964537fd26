//! Codes of the rejection plans: the finding, and what may be wrong with a plan's text.

use crate::diagnostic::code::codes;

codes! {
    Finding PLAN_MATCHED = "plan_matched": "the tool's rejection plan matched",
"All conditions of a rejection plan on the called tool match, so the call is rejected.

    name: transfer_call
    rejectionPlan:
      conditions:
        - {type: regex, regex: '(?i)\\bagent\\b', target: {role: user}, negate: true}

This one rejects a transfer unless the user's newest message says `agent`. Looked at are the messages
before the turn, and the turn's own when it has text; arguments play no part. The check shows every
condition, the text it looked at, and why one could not be evaluated: such a condition counts as matched.

A plan without conditions never rejects. Of two plans on one tool each can reject.
";

    Problem CONDITION_UNEVALUABLE = "condition_unevaluable": "a condition can never be evaluated, and always counts as matched",
"Something in the text of a rejection plan is wrong whatever was said: a pattern or a template that
cannot be read, an unknown filter, a role that is neither `user` nor `assistant`, a group that is empty
or has another operator than `AND` and `OR`, a value of the wrong type.

    {type: regex, regex: '(unclosed', negate: true}

What cannot be evaluated counts as matched, and `negate` does not turn that around: a plan of this
condition alone rejects every call, and in a group joined by `OR` the others say nothing any more.

Patterns are JavaScript's, and may begin with `(?i)`, `(?m)` or `(?s)`; `\\p{…}` and `\\u{…}` are not
read, since their meaning hangs on a flag. Templates are Liquid's, without `include`, `render`,
`layout` and `sample`.
";

    Problem BACKSPACE_IN_PATTERN = "backspace_in_pattern": "a pattern holds a backspace where a word boundary was meant",
"In JSON, and in YAML between double quotes, `\\b` is the backspace character. The pattern then waits
for a backspace, which nobody says.

    {\"type\": \"regex\", \"regex\": \"\\bcancel\\b\"}      finds nothing
    {\"type\": \"regex\", \"regex\": \"\\\\bcancel\\\\b\"}    finds the word

In YAML single quotes keep it as it is: `regex: '\\bcancel\\b'`.
";

    Problem GUARD_MEETS_OWN_MESSAGE = "guard_meets_own_message": "a guard on the model's newest message meets the one that makes the call",
"`{role: assistant}` without a position, or with `position: -1`, is the model's newest message. When the
response that makes the call has text, that is this response itself.

    target: {role: assistant}
    regex: 'shall I go ahead'

A model that writes `Done, I am cancelling it now.` beside its call is checked on these words, and not on
its question before. A response without text is passed over, and then `-1` is the message before.

If the model announces its calls, look at what the user said, or at `position: -2`.
";

    Problem MILLISECONDS_AS_SECONDS = "milliseconds_as_seconds": "a template reads milliseconds as seconds",
"The variable `now` counts milliseconds, and the filter `date` takes a number for seconds.

    {{ now | date: '%Y' }}                         prints a year around 58,000
    {{ 'now' | date: '%Y' }}                       prints this year
    {{ now | divided_by: 1000 | date: '%Y' }}      as well

The condition is evaluated as it is written.
";

    Problem TEMPLATE_WITHOUT_ANSWER = "template_without_answer": "a template prints neither `true` nor `false`",
"A template must print exactly `true` or `false`; white space around it does not matter. Anything else
cannot be evaluated, and counts as matched. This one was tried on a session without messages.

    {% if messages.size > 4 %}true{% endif %}

With four messages or fewer it prints nothing, so the call is rejected in either case. An `else` mends
it:

    {% if messages.size > 4 %}true{% else %}false{% endif %}
";

    Problem PLANS_NOT_BUILT = "plans_not_built": "this build evaluates no rejection plans",
"The library was built without the feature `rejection-plans`, and a document has a rejection plan. The
version does not load: a plan that nobody evaluates would let every call pass.

    rulestep = { version = \"0.1\", default-features = false, features = [\"rejection-plans\"] }

Build with the feature, or leave the document out.
";
}
