//! Distributions in [0, 1] beside each other: what is right on the one side, what is wrong on the other.

use super::svg::{COLORS, begin, end, push, text};

const EACH: f64 = 110.0;
const HEIGHT: f64 = 320.0;
/// Left, top, right, bottom.
const MARGIN: (f64, f64, f64, f64) = (56.0, 48.0, 24.0, 64.0);
/// How far a half reaches.
const REACH: f64 = 46.0;

/// Scores of one kind.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct HalfViolin {
    pub count: usize,
    /// At equal steps from 0 to 1; empty without scores.
    pub density: Vec<f64>,
    pub median: Option<f64>,
}

/// Two halves with a name.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Violin {
    pub name: String,
    pub left: HalfViolin,
    pub right: HalfViolin,
}

/// The halves of a violin are scaled alike, by the greatest density of both, so that each side shows its shape; how many there
/// are stands below.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Violins {
    pub title: String,
    /// What the left and the right halves are.
    pub sides: [String; 2],
    pub violins: Vec<Violin>,
}

impl Violins {
    pub fn svg(&self) -> String {
        let (left, top, right, bottom) = MARGIN;
        let width = left + EACH * self.violins.len().max(3) as f64 + right;
        let mut svg = begin(width, top + HEIGHT + bottom);
        text(&mut svg, (left, 20.0), "start", &self.title);
        for (number, side) in self.sides.iter().enumerate() {
            let x = left + 90.0 * number as f64;
            push(&mut svg, format_args!(r#"<rect x="{x}" y="28" width="10" height="10" fill="{}"/>"#, COLORS[number]));
            text(&mut svg, (x + 16.0, 38.0), "start", side);
        }
        for tenths in [0, 2, 4, 6, 8, 10] {
            let score = f64::from(tenths) / 10.0;
            let y = up(score);
            push(
                &mut svg,
                format_args!(
                    r##"<line x1="{left}" y1="{y:.1}" x2="{:.1}" y2="{y:.1}" stroke="#dddddd"/>"##,
                    width - right
                ),
            );
            text(&mut svg, (left - 8.0, y + 4.0), "end", &format!("{score:.1}"));
        }
        for (number, violin) in self.violins.iter().enumerate() {
            let middle = left + EACH * (number as f64 + 0.5);
            let greatest = violin.left.density.iter().chain(&violin.right.density).copied().fold(0.0, f64::max);
            for (half, sign, color) in [(&violin.left, -1.0, COLORS[0]), (&violin.right, 1.0, COLORS[1])] {
                half.draw(&mut svg, middle, sign * REACH / greatest.max(f64::MIN_POSITIVE), color);
                let (x, y) = (middle + sign * 6.0, top + HEIGHT + 36.0);
                let anchor = if sign < 0.0 { "end" } else { "start" };
                text(&mut svg, (x, y), anchor, &half.count.to_string());
            }
            text(&mut svg, (middle, top + HEIGHT + 18.0), "middle", &violin.name);
        }
        end(svg)
    }
}

impl HalfViolin {
    /// From the line in the middle, `scale` points for a density of 1.
    fn draw(&self, svg: &mut String, middle: f64, scale: f64, color: &str) {
        let steps = self.density.len().saturating_sub(1).max(1) as f64;
        if !self.density.is_empty() {
            let mut outline = format!("M{middle:.1} {:.1}", up(0.0));
            for (number, density) in self.density.iter().enumerate() {
                push(&mut outline, format_args!("L{:.1} {:.1}", middle + density * scale, up(number as f64 / steps)));
            }
            push(svg, format_args!(r#"<path d="{outline}L{middle:.1} {:.1}Z" fill="{color}"/>"#, up(1.0)));
        }
        if let Some(median) = self.median {
            let (y, end) = (up(median), middle + scale.signum() * REACH / 2.0);
            push(
                svg,
                format_args!(
                    r##"<line x1="{middle:.1}" y1="{y:.1}" x2="{end:.1}" y2="{y:.1}" stroke="#ffffff" stroke-width="2"/>"##
                ),
            );
        }
    }
}

/// Where a score stands.
fn up(score: f64) -> f64 {
    MARGIN.1 + HEIGHT * (1.0 - score)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_density_reaches_furthest_and_the_median_is_marked() {
        let right = HalfViolin { count: 7, density: vec![0.0, 1.0, 2.0], median: Some(0.75) };
        let wrong = HalfViolin { count: 0, ..HalfViolin::default() };
        let violin = Violin { name: "PER & co".to_owned(), left: right, right: wrong };
        let sides = ["right".to_owned(), "wrong".to_owned()];
        let svg = Violins { title: "scores".to_owned(), sides, violins: vec![violin] }.svg();
        let middle = MARGIN.0 + EACH / 2.0;
        let outline = format!(
            "M{middle:.1} {:.1}L{middle:.1} {0:.1}L{:.1} {:.1}L{:.1} {:.1}L{middle:.1} {4:.1}Z",
            up(0.0),
            middle - REACH / 2.0,
            up(0.5),
            middle - REACH,
            up(1.0)
        );
        assert!(svg.contains(&outline), "{outline}: {svg}");
        assert_eq!(svg.matches("<path").count(), 1, "without scores there is no shape");
        assert!(svg.contains(&format!(r#"y1="{:.1}" x2="{:.1}""#, up(0.75), middle - REACH / 2.0)), "{svg}");
        assert!(svg.contains(">PER &amp; co</text>") && svg.contains(">7</text>") && svg.contains(">0</text>"));
    }
}
