//! Formats: golden files made by hand from `docs/formats.md` and the formats' specifications, round trips, and files
//! that break other tools.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on fails")]

mod brat;
mod characters;
mod columns;
mod conll;
mod conllu;
mod detection;
mod foreign;
mod helpers;
mod jsonl;
mod round_trips;
mod text;
mod units;
