//! Properties of the contracts dialect, held against an evaluator that shares nothing with the engine.

#[cfg(test)]
#[path = "property/cases.rs"]
mod cases;
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
#[path = "property/generate_sessions.rs"]
mod generate_sessions;
#[cfg(test)]
#[path = "property/naive.rs"]
mod naive;
