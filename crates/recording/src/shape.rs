//! Shapes that several formats share: chats, blocks, items, streams, spans.

pub mod answer;
pub mod bare;
pub mod blocks;
pub mod chat;
pub mod command;
pub mod exchange;
pub mod gemini;
pub mod interleaved;
pub mod items;
pub mod langchain;
pub mod live;
pub mod offer;
pub mod open;
pub mod python;
pub mod scribe;
pub mod spans;
pub mod status;
pub mod stream;
pub mod suspicion;
pub mod tags;
pub mod transcript;
pub mod unknown;
