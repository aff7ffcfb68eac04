//! What all pictures are written with.

use std::fmt::{Arguments, Write as _};

/// Told apart by people who don't see red and green, too (Okabe and Ito 2008).
pub const COLORS: [&str; 7] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"];

/// Appends to a text.
pub fn push(text: &mut String, part: Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = text.write_fmt(part);
}

/// Begins a picture on white, in points.
pub fn begin(width: f64, height: f64) -> String {
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#ffffff"/>"##
    )
}

/// Ends a picture.
pub fn end(mut svg: String) -> String {
    svg.push_str("</svg>\n");
    svg
}

/// Words at a place, of which `anchor` (`start`, `middle`, `end`) lies there.
pub fn text(svg: &mut String, (x, y): (f64, f64), anchor: &str, words: &str) {
    push(svg, format_args!(r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{}</text>"#, escaped(words)));
}

/// Any text as the content of an element.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_strangers_are_words_and_no_elements() {
        let mut svg = begin(10.0, 20.0);
        text(&mut svg, (1.0, 2.0), "end", "<script>&");
        let svg = end(svg);
        assert!(svg.contains(r#"<text x="1.0" y="2.0" text-anchor="end">&lt;script&gt;&amp;</text>"#), "{svg}");
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    }
}
