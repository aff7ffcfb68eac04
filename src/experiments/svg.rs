//! What all plots of experiments are written with.

use std::fmt::{Arguments, Write as _};

/// Appends to a text.
pub(super) fn push(text: &mut String, part: Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = text.write_fmt(part);
}

/// Begins a picture on white, in points.
pub(super) fn begin(width: f64, height: f64) -> String {
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#ffffff"/>"##
    )
}
