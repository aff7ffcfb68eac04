//! F1 of every variant as a picture that every browser shows.

use super::comparison::Comparison;
use crate::figure::{begin, end, escaped, push};

const WIDTH: f64 = 760.0;
const ROW: f64 = 28.0;
/// Left of the axis, for the variants' names; and right of it, for the figures.
const NAMES: f64 = 260.0;
const FIGURES: f64 = 120.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 48.0;

impl Comparison {
    /// A row for each variant: a dot for each seed, a bar of one standard deviation to each side of the mean.
    pub fn svg(&self) -> String {
        svg(self)
    }
}

fn svg(compared: &Comparison) -> String {
    let variants = compared.variants();
    let f1 = |variant| compared.micro(variant).into_iter().filter_map(|(_, counts)| counts.f1()).collect::<Vec<f64>>();
    let all: Vec<f64> = variants.iter().flat_map(|variant| f1(variant)).collect();
    let axis = Axis::around(&all);
    let bottom = TOP + ROW * variants.len() as f64;
    let height = bottom + BOTTOM;
    let mut svg = begin(WIDTH, height);
    for tick in axis.ticks() {
        let x = axis.place(tick);
        push(
            &mut svg,
            format_args!(
                r##"<line x1="{x:.1}" y1="{TOP}" x2="{x:.1}" y2="{bottom}" stroke="#dddddd"/><text x="{x:.1}" y="{:.1}" text-anchor="middle">{tick:.2}</text>"##,
                bottom + 16.0
            ),
        );
    }
    for (row, variant) in variants.iter().enumerate() {
        let y = TOP + ROW * (row as f64 + 0.5);
        push(
            &mut svg,
            format_args!(
                r#"<text x="{:.1}" y="{:.1}" text-anchor="end">{}</text>"#,
                NAMES - 12.0,
                y + 4.0,
                escaped(&variant.to_string())
            ),
        );
        for f1 in f1(variant) {
            push(
                &mut svg,
                format_args!(
                    r##"<circle cx="{:.1}" cy="{y:.1}" r="4" fill="#56B4E9" opacity="0.7"/>"##,
                    axis.place(f1)
                ),
            );
        }
        let spread = compared.f1(variant);
        let Some(mean) = spread.mean else { continue };
        if let Some(deviation) = spread.deviation {
            let (low, high) = (axis.place(mean - deviation), axis.place(mean + deviation));
            push(
                &mut svg,
                format_args!(
                    r##"<line x1="{low:.1}" y1="{y:.1}" x2="{high:.1}" y2="{y:.1}" stroke="#0072B2" stroke-width="2"/>"##
                ),
            );
        }
        let x = axis.place(mean);
        push(
            &mut svg,
            format_args!(
                r##"<line x1="{x:.1}" y1="{:.1}" x2="{x:.1}" y2="{:.1}" stroke="#0072B2" stroke-width="3"/><text x="{:.1}" y="{:.1}">{mean:.4}</text>"##,
                y - 8.0,
                y + 8.0,
                WIDTH - FIGURES + 12.0,
                y + 4.0
            ),
        );
    }
    push(
        &mut svg,
        format_args!(
            r#"<text x="{:.1}" y="{:.1}" text-anchor="middle">strict micro-F1: each seed, mean, and standard deviation</text>"#,
            (NAMES + WIDTH - FIGURES) / 2.0,
            bottom + 36.0
        ),
    );
    end(svg)
}

/// From a tenth of a point or more below the least F1 to as much above the greatest, in whole steps.
#[derive(Clone, Copy)]
struct Axis {
    low: f64,
    high: f64,
    step: f64,
}

impl Axis {
    fn around(all: &[f64]) -> Self {
        let (least, most) = all.iter().fold((1.0_f64, 0.0_f64), |(low, high), f1| (low.min(*f1), high.max(*f1)));
        let (least, most) = if all.is_empty() { (0.0, 1.0) } else { (least, most) };
        let width = most - least;
        let step = [0.01, 0.02, 0.05, 0.1].into_iter().find(|step| width / step <= 8.0).unwrap_or(0.2);
        let low = ((least / step - 0.5).floor() * step).max(0.0);
        let high = ((most / step + 0.5).ceil() * step).min(1.0).max(low + step);
        Self { low, high, step }
    }

    fn place(self, f1: f64) -> f64 {
        NAMES + (f1.clamp(self.low, self.high) - self.low) / (self.high - self.low) * (WIDTH - FIGURES - NAMES)
    }

    fn ticks(self) -> impl Iterator<Item = f64> {
        let count = ((self.high - self.low) / self.step).round() as usize;
        (0..=count).map(move |tick| self.low + self.step * tick as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::comparison::tests::{comparison, run};
    use super::*;

    #[test]
    fn better_variants_are_further_right() {
        let all: &[&[(usize, usize, u32)]] = &[&[(0, 2, 1), (0, 1, 1)], &[(5, 9, 1)]];
        let svg = svg(&comparison(vec![run("a<b", 1, all), run("c", 1, &[&[(0, 2, 1)], &[]]), run("a<b", 2, all)]));
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && svg.contains(">a&lt;b</text>"), "{svg}");
        assert_eq!(svg.matches("<circle").count(), 3);
        let x = |mean: f64| format!("{:.1}", Axis { low: 0.4, high: 1.0, step: 0.1 }.place(mean));
        assert!(svg.contains(&format!(r#"cx="{}""#, x(1.0))) && svg.contains(&format!(r#"cx="{}""#, x(0.5))), "{svg}");
        assert!(svg.contains(">1.0000</text>") && svg.contains(">0.5000</text>"));
    }

    #[test]
    fn the_axis_holds_all_figures() {
        for all in [vec![], vec![0.0], vec![1.0], vec![0.651, 0.653], vec![0.1, 0.9]] {
            let axis = Axis::around(&all);
            assert!(axis.low < axis.high && all.iter().all(|f1| (axis.low..=axis.high).contains(f1)), "{all:?}");
            assert!(axis.ticks().count() <= 12, "{all:?}");
        }
    }
}
