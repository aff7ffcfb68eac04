//! Pictures and tables as files: SVG, which every browser shows, and CSV, which every spreadsheet reads.
//!
//! # Invariants
//! - The same numbers give the same bytes. No clock, font file or size of a window gets in.
//! - Names may come from strangers: they are escaped wherever they stand.
//! - Colours are told apart by people who don't see red and green, too (Okabe and Ito 2008).
//!
//! Deliberately absent: what the numbers mean, files, the window's plots.

mod csv;
mod heat_map;
mod reliability;
mod scatter;
mod svg;
mod violins;

pub use csv::{Csv, quoted};
pub use heat_map::{HeatMap, Shades};
pub use reliability::{ReliabilityDiagram, ReliabilityLine, ReliabilityPoint};
pub use scatter::{Scatter, ScatterPoint};
pub use svg::{COLORS, begin, end, escaped, push, text};
pub use violins::{HalfViolin, Violin, Violins};
