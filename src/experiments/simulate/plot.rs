//! Learning curves as a picture that every browser shows.

use super::curve::{Curve, CurvePoint};
use crate::figure::{COLORS, begin, end, push};
use crate::wording::grouped;

const SIZE: (f64, f64) = (760.0, 480.0);
/// Left, top, right, bottom.
const MARGIN: (f64, f64, f64, f64) = (64.0, 24.0, 200.0, 52.0);

/// F1 over annotated tokens, each doubling of which takes as much room: a line for the mean of each strategy, a band from
/// the least to the greatest run.
pub(super) fn svg(curves: &[Curve]) -> String {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let most = points().map(|p| p.tokens).fold(2.0, f64::max);
    let least = points().map(|p| p.tokens).fold(most, f64::min).clamp(1.0, most / 2.0);
    let highest = points().map(|p| p.high).fold(0.1, f64::max);
    let lowest = points().map(|p| p.low).fold(highest, f64::min);
    let axes = Axes { tokens: (least, most), tenths: ((lowest * 10.0).floor(), (highest * 10.0).ceil()) };
    let (width, height) = SIZE;
    let mut svg = begin(width, height);
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
    end(svg)
}

#[derive(Clone, Copy)]
struct Axes {
    /// From where to where.
    tokens: (f64, f64),
    /// The same of F1, in tenths.
    tenths: (f64, f64),
}

impl Axes {
    fn place(self, tokens: f64, f1: f64) -> (f64, f64) {
        let (left, top, right, bottom) = MARGIN;
        let (width, height) = (SIZE.0 - left - right, SIZE.1 - top - bottom);
        let ((from, to), (low, high)) = (self.tokens, self.tenths);
        let across = (tokens.max(1.0) / from).ln() / (to / from).ln();
        let up = (f1 * 10.0 - low) / (high - low).max(1.0);
        (left + across * width, top + (1.0 - up) * height)
    }

    fn draw(self, svg: &mut String) {
        let ((from, to), (low, high)) = (self.tokens, self.tenths);
        for tenth in low as usize..=high as usize {
            let f1 = tenth as f64 / 10.0;
            let ((left, y), (right, _)) = (self.place(from, f1), self.place(to, f1));
            push(
                svg,
                format_args!(
                    r##"<line x1="{left:.1}" y1="{y:.1}" x2="{right:.1}" y2="{y:.1}" stroke="#dddddd"/><text x="{0:.1}" y="{1:.1}" text-anchor="end">{f1:.1}</text>"##,
                    left - 8.0,
                    y + 4.0
                ),
            );
        }
        let bottom = SIZE.1 - MARGIN.3;
        let round = (0..9).flat_map(|power| [1, 2, 5].map(|first| first * 10_usize.pow(power)));
        for tokens in round.filter(|tokens| (from..=to).contains(&(*tokens as f64))) {
            let (x, _) = self.place(tokens as f64, 0.0);
            push(
                svg,
                format_args!(
                    r##"<line x1="{x:.1}" y1="{bottom:.1}" x2="{x:.1}" y2="{0:.1}" stroke="#999999"/><text x="{x:.1}" y="{1:.1}" text-anchor="middle">{2}</text>"##,
                    bottom + 4.0,
                    bottom + 18.0,
                    grouped(tokens)
                ),
            );
        }
        let middle = (MARGIN.0 + SIZE.0 - MARGIN.2) / 2.0;
        push(
            svg,
            format_args!(
                r#"<text x="{middle:.1}" y="{0:.1}" text-anchor="middle">annotated tokens</text>"#,
                bottom + 40.0
            ),
        );
        let half = (MARGIN.1 + bottom) / 2.0;
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
        // From the lowest tenth to the highest over a height of 404, and a doubling over the width of 496.
        assert!(svg.contains(r#"<polyline points="64.0,428.0 560.0,24.0""#), "{svg}");
        assert!([">0.2<", ">0.3<", ">0.4<", ">500<", ">1,000<"].iter().all(|mark| svg.contains(mark)), "{svg}");
        assert!(svg.contains(">entropy+diverse</text>") && svg.matches("<polyline").count() == 2);
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    }
}
