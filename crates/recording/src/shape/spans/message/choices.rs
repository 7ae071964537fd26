//! Whether several answers of one request are its choices or parts of one response: conventions list both alike, and
//! instrumentations have listed the parts of a response as if each were a choice.

use serde_json::Value;

use crate::shape::answer;
use crate::shape::spans::attributes::{Attributes, CHOICES};

/// Names of the parameter that asks for several choices.
const COUNTS: [&str; 5] = ["n", "candidate_count", "candidateCount", "num_generations", "choice_count"];

/// Attributes that hold a request's parameters.
const PARAMETERS: [&str; 2] = ["llm.invocation_parameters", "langfuse.observation.model.parameters"];

/// Attributes that hold the original response.
const RESPONSES: [&str; 3] = ["output.value", "gen_ai.completion", "langfuse.observation.output"];

/// Attributes that hold the provider.
const PROVIDER: [&str; 4] = ["gen_ai.system", "gen_ai.provider.name", "llm.system", "llm.provider"];

/// Whether each of this many messages is a choice; `each_has_a_reason` is whether each of them says why the model
/// stopped. Read as choices, the calls of all but one did not happen, so the answer is yes only if the recording
/// confirms it.
pub fn are_choices(attributes: &Attributes, count: usize, each_has_a_reason: bool) -> bool {
    let reasons = || attributes.tree("gen_ai.response.finish_reasons");
    let provider = attributes.any(&PROVIDER).unwrap_or_default().to_ascii_lowercase();
    // Their interfaces give no choices.
    let gives_one = ["anthropic", "bedrock", "aws"].iter().any(|name| provider.contains(name));
    several(attributes.text(CHOICES).and_then(|count| count.parse().ok()))
        || PARAMETERS.iter().any(|name| attributes.tree(name).is_some_and(|tree| asks_for_several(&tree)))
        || !gives_one && each_has_a_reason
        || reasons().and_then(|reasons| Some(reasons.as_array()?.len())) == Some(count)
        || RESPONSES.iter().any(|name| {
            let answer = attributes.tree(name).and_then(|response| answer::read(&response));
            answer.is_some_and(|answer| answer.are_choices)
        })
}

fn asks_for_several(parameters: &Value) -> bool {
    let count = |value: &Value| value.as_u64().or_else(|| value.as_str()?.parse().ok());
    let asks = |value: &Value| COUNTS.iter().any(|name| several(value.get(name).and_then(count)));
    let within = ["generation_config", "generationConfig", "config"];
    asks(parameters) || within.iter().any(|key| parameters.get(key).is_some_and(asks))
}

fn several(count: Option<u64>) -> bool {
    count.is_some_and(|count| count > 1)
}
