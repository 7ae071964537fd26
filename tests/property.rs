//! Properties of the dialects, held against evaluators that share nothing with the engine.

#[cfg(test)]
#[path = "property/cases.rs"]
mod cases;
#[cfg(test)]
#[path = "property/compare.rs"]
mod compare;
#[cfg(test)]
#[path = "property/contracts.rs"]
mod contracts;
#[cfg(test)]
#[path = "property/engine.rs"]
mod engine;
#[cfg(test)]
#[path = "property/generate.rs"]
mod generate;
#[cfg(test)]
#[path = "property/generate_contracts.rs"]
mod generate_contracts;
#[cfg(test)]
#[path = "property/generate_rules.rs"]
mod generate_rules;
#[cfg(test)]
#[path = "property/generate_sessions.rs"]
mod generate_sessions;
#[cfg(test)]
#[path = "property/naive.rs"]
mod naive;
#[cfg(test)]
#[path = "property/naive_plans.rs"]
mod naive_plans;
#[cfg(test)]
#[path = "property/naive_rules.rs"]
mod naive_rules;
#[cfg(test)]
#[path = "property/plans.rs"]
mod plans;
#[cfg(test)]
#[path = "property/policy_sessions.rs"]
mod policy_sessions;
#[cfg(test)]
#[path = "property/rules.rs"]
mod rules;
#[cfg(test)]
#[path = "property/sequence_policies.rs"]
mod sequence_policies;
#[cfg(test)]
#[path = "property/tool_policies.rs"]
mod tool_policies;
#[cfg(test)]
#[path = "property/witness.rs"]
mod witness;
