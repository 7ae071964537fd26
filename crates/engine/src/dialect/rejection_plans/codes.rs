//! Codes of rejection plans: the finding, and problems of a plan's text.

use rulestep_base::codes;

codes! {
    Finding PLAN_MATCHED = "plan_matched": "the tool's rejection plan matched",
"All conditions of the tool's rejection plan match, so the call is rejected.

    name: transfer_call
    rejectionPlan:
      conditions:
        - {type: regex, regex: '(?i)\\bagent\\b', target: {role: user}, negate: true}

This plan rejects a transfer unless the user's newest message contains `agent`. Conditions look at the
messages before the turn, and at the turn's own message if it has text. They do not look at arguments.
The check shows each condition and the text it looked at. A condition that cannot be evaluated counts as
matched, and the check says why.

A plan without conditions never rejects. If a tool has two plans, each of them can reject its calls.
";

    Problem CONDITION_UNEVALUABLE = "condition_unevaluable": "a condition can never be evaluated, and always counts as matched",
"The condition itself is wrong, whatever the messages say: a pattern or a template that cannot be read,
an unknown filter, a role that is neither `user` nor `assistant`, an empty group, a group with an
operator that is neither `AND` nor `OR`, or a value of the wrong type.

    {type: regex, regex: '(unclosed', negate: true}

A condition that cannot be evaluated counts as matched, even with `negate`. So a plan with only this
condition rejects every call, and an `OR` group with it always matches.

Patterns are JavaScript regular expressions, and can begin with `(?i)`, `(?m)` or `(?s)`. `\\p{…}` and
`\\u{…}` are not supported, because their meaning depends on a flag. Templates are Liquid, without
`include`, `render`, `layout` and `sample`.
";

    Problem GUARD_MEETS_OWN_MESSAGE = "guard_meets_own_message": "a condition on the model's newest message looks at the one that makes the call",
"`{role: assistant}` without a position, or with `position: -1`, is the model's newest message. If the
response that makes the call has text, the newest message is this response itself.

    target: {role: assistant}
    regex: 'shall I go ahead'

If the model writes `Done, I am cancelling it now.` with its call, the condition looks at these words and
not at the question before. If the response has no text, `-1` is the message before it.

If the model announces its calls, look at a message of the user, or at `position: -2`.
";

    Problem PENDING_CALL_UNSETTLED = "pending_call_unsettled": "a position among the model's messages depends on whether the call is one",
"A response that calls a tool and says nothing may count as a message or not. Measured on the library that
evaluates plans, it does not. Two public deployments report that in live calls it does: the call, with empty
content, is then the model's newest message, and `-2` the last one that was spoken.

    target: {role: assistant, position: -2}
    pending_call: counts

`pending_call` in the plan says which of the two is so where it runs: `counts` or `left_out`, which is also
what holds without it. Where a verdict is another one under the other setting, the finding says so.
";

    Problem MILLISECONDS_AS_SECONDS = "milliseconds_as_seconds": "a template reads milliseconds as seconds",
"The variable `now` is in milliseconds, but the filter `date` reads a number as seconds.

    {{ now | date: '%Y' }}                         prints a year around 58,000
    {{ 'now' | date: '%Y' }}                       prints this year
    {{ now | divided_by: 1000 | date: '%Y' }}      prints this year

The condition is evaluated as written, so correct the template.
";

    Problem TEMPLATE_WITHOUT_ANSWER = "template_without_answer": "a template prints neither `true` nor `false`",
"A template must print `true` or `false`; white space around it does not matter. Any other output counts
as matched. This template was tried on a session without messages.

    {% if messages.size > 4 %}true{% endif %}

With four messages or fewer it prints nothing, so the call is rejected in either case. An `else` fixes
it:

    {% if messages.size > 4 %}true{% else %}false{% endif %}
";

    Problem PLANS_NOT_BUILT = "plans_not_built": "this build evaluates no rejection plans",
"A document has a rejection plan, but the library was built without the feature `rejection-plans`. The
version does not load, because an unevaluated plan would let every call pass.

    rulestep = { version = \"0.1\", default-features = false, features = [\"rejection-plans\"] }

Build with the feature, or remove the document.
";
}
