//! Questions about many sessions at once: which of them match, what their rules did, what they hold.
//!
//! Everything here is counted session by session and merged, so that it can be counted on many threads, or machines.

pub mod breakdown;
pub mod contexts;
pub mod coverage;
pub mod filter;
pub mod identity;
pub mod inventory;
pub mod names;
pub mod occurrence;
pub mod repeats;
pub mod rows;
pub mod seen;
pub mod sieve;
pub mod sightings;
pub mod survey;
pub mod table;
pub mod trigrams;
pub mod verdict;
