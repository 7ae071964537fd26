//! Properties of the dialects, held against evaluators that share nothing with the engine.

#[cfg(test)]
mod alternatives;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod compare;
#[cfg(test)]
mod contracts;
#[cfg(test)]
mod editor;
#[cfg(test)]
mod engine;
#[cfg(test)]
mod filters;
#[cfg(test)]
mod gate;
#[cfg(test)]
mod generate;
#[cfg(test)]
mod generate_contracts;
#[cfg(test)]
mod generate_rules;
#[cfg(test)]
mod generate_sessions;
#[cfg(test)]
mod lint;
#[cfg(test)]
mod live;
#[cfg(test)]
mod merge;
#[cfg(test)]
mod naive;
#[cfg(test)]
mod naive_plans;
#[cfg(test)]
mod naive_rules;
#[cfg(test)]
mod outcomes;
#[cfg(test)]
mod plans;
#[cfg(test)]
mod policy_sessions;
#[cfg(test)]
mod redacted;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod sequence_policies;
#[cfg(test)]
#[path = "../shared/skipped.rs"]
mod skipped;
#[cfg(test)]
mod tool_policies;
#[cfg(test)]
mod verdicts;
#[cfg(test)]
mod way_out;
#[cfg(test)]
mod witness;
