//! What takes bounded memory and work however hostile or long the input is: measured with an allocator that counts.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on fails")]

mod counting;
mod encoders;
mod sentences;
