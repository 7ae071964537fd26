//! Types that all crates of Rulestep share.
//!
//! | module | content |
//! |---|---|
//! | [`source`] | text with a name, spans, and documents in which every key and value knows its place; [`source::edit`] changes a text in place |
//! | [`diagnostic`] | problems of a text or a recording, for people; the one table of codes with their pages |
//! | [`session`] | one recorded run: messages, turns, calls, outcomes |
//! | [`checksum`] | 64 bits that tell texts apart |
//! | [`merge`] | what is counted in parts and put together |
//! | [`wording`] | the parts of sentences: recorded text made safe for a screen, names, numbers, lists |
//!
//! Imports run one way: `source` ← `diagnostic` ← `session` ← `wording`. Nothing here prints, reads files or the environment, or asks
//! the time, and nothing knows a rule or a format of recordings.

pub mod checksum;
pub mod diagnostic;
pub mod merge;
pub mod session;
pub mod source;
pub mod wording;
