//! Things that are painted: the sentence, and small parts that several panels use.
//!
//! # Invariants
//! - A widget gets what it shows and returns what was done to it; it knows neither the session nor the commands.

pub mod galleys;
pub mod heat_map;
pub mod keyboard;
pub mod parts;
pub mod sentence;
pub mod table;
