//! Learning curves as a picture that every browser shows.

use super::curve::{Curve, CurvePoint};
use std::fmt::Write as _;

const SIZE: (f64, f64) = (760.0, 480.0);
/// Left, top, right, bottom.
const MARGIN: (f64, f64, f64, f64) = (64.0, 24.0, 200.0, 52.0);
/// Told apart by people who don't see red and green, too (Okabe and Ito 2008).
const COLORS: [&str; 7] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"];
const LINES_ACROSS: usize = 5;

/// F1 over annotated tokens: a line for the mean of each strategy, a band from the least to the greatest run.
pub(super) fn svg(curves: &[Curve]) -> String {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let most_tokens = points().map(|p| p.tokens).fold(1.0, f64::max);
    let most_f1 = (points().map(|p| p.high).fold(0.1, f64::max) * 10.0).ceil() / 10.0;
    let axes = Axes { most_tokens, most_f1 };
    let mut svg = String::new();
    let (width, height) = SIZE;
    push(
        &mut svg,
        format_args!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#ffffff"/>"##
        ),
    );
    axes.draw(&mut svg);
    for (i, curve) in curves.iter().enumerate() {
        let color = COLORS.get(i % COLORS.len()).copied().unwrap_or("#000000");
        // The eighth strategy looks like the first one, but for its dashes.
        let dash = if i < COLORS.len() { "" } else { r#" stroke-dasharray="6 4""# };
        let line = |f1: fn(&CurvePoint) -> f64| curve.points.iter().map(move |p| axes.place(p.tokens, f1(p)));
        let band: Vec<(f64, f64)> = line(|p| p.high).chain(line(|p| p.low).rev()).collect();
        push(&mut svg, format_args!(r#"<polygon points="{}" fill="{color}" opacity="0.15"/>"#, list(&band)));
        let mean: Vec<(f64, f64)> = line(|p| p.f1).collect();
        push(
            &mut svg,
            format_args!(r#"<polyline points="{}" fill="none" stroke="{color}" stroke-width="2"{dash}/>"#, list(&mean)),
        );
        for (x, y) in mean {
            push(&mut svg, format_args!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="3" fill="{color}"/>"#));
        }
        let (x, y) = (width - MARGIN.2 + 16.0, MARGIN.1 + 14.0 + 18.0 * i as f64);
        push(
            &mut svg,
            format_args!(
                r#"<line x1="{x}" y1="{0}" x2="{1}" y2="{0}" stroke="{color}" stroke-width="2"{dash}/><text x="{2}" y="{y}">{3}</text>"#,
                y - 4.0,
                x + 18.0,
                x + 24.0,
                curve.strategy
            ),
        );
    }
    svg.push_str("</svg>\n");
    svg
}

#[derive(Clone, Copy)]
struct Axes {
    most_tokens: f64,
    most_f1: f64,
}

impl Axes {
    fn place(self, tokens: f64, f1: f64) -> (f64, f64) {
        let (left, top, right, bottom) = MARGIN;
        let (width, height) = (SIZE.0 - left - right, SIZE.1 - top - bottom);
        (left + tokens / self.most_tokens * width, top + (1.0 - f1 / self.most_f1) * height)
    }

    fn draw(self, svg: &mut String) {
        for step in 0..=LINES_ACROSS {
            let share = step as f64 / LINES_ACROSS as f64;
            let (f1, tokens) = (share * self.most_f1, share * self.most_tokens);
            let ((left, y), (right, _)) = (self.place(0.0, f1), self.place(self.most_tokens, f1));
            push(
                svg,
                format_args!(
                    r##"<line x1="{left:.1}" y1="{y:.1}" x2="{right:.1}" y2="{y:.1}" stroke="#dddddd"/><text x="{0:.1}" y="{1:.1}" text-anchor="end">{f1:.2}</text>"##,
                    left - 8.0,
                    y + 4.0
                ),
            );
            let (x, bottom) = self.place(tokens, 0.0);
            push(
                svg,
                format_args!(r#"<text x="{x:.1}" y="{0:.1}" text-anchor="middle">{tokens:.0}</text>"#, bottom + 18.0),
            );
        }
        let (middle, bottom) = self.place(self.most_tokens / 2.0, 0.0);
        push(
            svg,
            format_args!(
                r#"<text x="{middle:.1}" y="{0:.1}" text-anchor="middle">annotated tokens</text>"#,
                bottom + 40.0
            ),
        );
        let (_, half) = self.place(0.0, self.most_f1 / 2.0);
        push(
            svg,
            format_args!(
                r#"<text x="16" y="{half:.1}" text-anchor="middle" transform="rotate(-90 16 {half:.1})">F1 on test</text>"#
            ),
        );
    }
}

fn list(points: &[(f64, f64)]) -> String {
    points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ")
}

fn push(svg: &mut String, part: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = svg.write_fmt(part);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_rises_to_the_right() {
        let point = |tokens, f1| CurvePoint { sentences: 1, tokens, f1, low: f1, high: f1 };
        let curve = |name: &str| Curve {
            strategy: name.into(),
            runs: 1,
            points: vec![point(500.0, 0.2), point(1000.0, 0.4)],
            above_random: None,
        };
        let svg = svg(&[curve("random"), curve("entropy+diverse")]);
        // A quarter and a half of a height of 404 above the ground, and half the width of 496.
        assert!(svg.contains(r#"<polyline points="312.0,226.0 560.0,24.0""#), "{svg}");
        assert!(svg.contains(">entropy+diverse</text>") && svg.matches("<polyline").count() == 2);
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    }
}
