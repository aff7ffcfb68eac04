//! How often what has a score is right: the diagonal is where it should be.

use super::svg::{COLORS, begin, end, push, text};

const SIDE: f64 = 400.0;
/// Left, top, right, bottom.
const MARGIN: (f64, f64, f64, f64) = (64.0, 72.0, 24.0, 56.0);
/// How high the column of the most suggestions is.
const HIGHEST: f64 = 60.0;

/// Suggestions with scores of one tenth.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ReliabilityPoint {
    /// Mean, in [0, 1].
    pub score: f64,
    /// Share of those that are right, in [0, 1].
    pub right: f64,
    pub count: usize,
}

/// A line through points.
#[derive(Clone, PartialEq, Debug)]
pub struct ReliabilityLine {
    pub name: String,
    pub points: Vec<ReliabilityPoint>,
}

/// The columns at the bottom say how many suggestions the points of the first line are made of.
#[derive(Clone, PartialEq, Debug)]
pub struct ReliabilityDiagram {
    pub title: String,
    pub lines: Vec<ReliabilityLine>,
}

impl ReliabilityDiagram {
    pub fn svg(&self) -> String {
        let (left, top, right, bottom) = MARGIN;
        let mut svg = begin(left + SIDE + right, top + SIDE + bottom);
        text(&mut svg, (left, 20.0), "start", &self.title);
        for fifths in 0..=5 {
            let tick = f64::from(fifths) / 5.0;
            let (x, y) = place(tick, tick);
            push(
                &mut svg,
                format_args!(
                    r##"<line x1="{x:.1}" y1="{top}" x2="{x:.1}" y2="{:.1}" stroke="#dddddd"/><line x1="{left}" y1="{y:.1}" x2="{:.1}" y2="{y:.1}" stroke="#dddddd"/>"##,
                    top + SIDE,
                    left + SIDE
                ),
            );
            text(&mut svg, (x, top + SIDE + 16.0), "middle", &format!("{tick:.1}"));
            text(&mut svg, (left - 8.0, y + 4.0), "end", &format!("{tick:.1}"));
        }
        let ((x1, y1), (x2, y2)) = (place(0.0, 0.0), place(1.0, 1.0));
        push(
            &mut svg,
            format_args!(r##"<path d="M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}" stroke="#000000" stroke-dasharray="6 4"/>"##),
        );
        self.columns(&mut svg);
        for (number, line) in self.lines.iter().enumerate() {
            let color = COLORS[number % COLORS.len()];
            let places: Vec<(f64, f64)> = line.points.iter().map(|point| place(point.score, point.right)).collect();
            let list: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            push(
                &mut svg,
                format_args!(
                    r#"<polyline points="{}" fill="none" stroke="{color}" stroke-width="2"/>"#,
                    list.join(" ")
                ),
            );
            for (x, y) in places {
                push(&mut svg, format_args!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="4" fill="{color}"/>"#));
            }
            let y = 40.0 + 16.0 * number as f64;
            push(
                &mut svg,
                format_args!(r#"<circle cx="{:.1}" cy="{:.1}" r="4" fill="{color}"/>"#, left + 4.0, y - 4.0),
            );
            text(&mut svg, (left + 16.0, y), "start", &line.name);
        }
        text(&mut svg, (left + SIDE / 2.0, top + SIDE + 36.0), "middle", "score");
        let half = top + SIDE / 2.0;
        push(
            &mut svg,
            format_args!(
                r#"<text x="20" y="{half}" text-anchor="middle" transform="rotate(-90 20 {half})">share that is right</text>"#
            ),
        );
        end(svg)
    }

    fn columns(&self, svg: &mut String) {
        let points = self.lines.first().map(|line| line.points.as_slice()).unwrap_or_default();
        let most = points.iter().map(|point| point.count).max().unwrap_or(0).max(1);
        for point in points {
            let height = HIGHEST * point.count as f64 / most as f64;
            let (x, y) = place(point.score, 0.0);
            push(
                svg,
                format_args!(
                    r##"<rect x="{:.1}" y="{:.1}" width="16" height="{height:.1}" fill="#cccccc"><title>{}</title></rect>"##,
                    x - 8.0,
                    y - height,
                    point.count
                ),
            );
        }
    }
}

fn place(across: f64, up: f64) -> (f64, f64) {
    let (left, top, ..) = MARGIN;
    (left + across * SIDE, top + (1.0 - up) * SIDE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_right_as_often_as_it_says_lies_on_the_diagonal() {
        let point = |score, right, count| ReliabilityPoint { score, right, count };
        let before = ReliabilityLine {
            name: "as they come".to_owned(),
            points: vec![point(0.5, 0.25, 10), point(1.0, 1.0, 40)],
        };
        let after = ReliabilityLine { name: "calibrated".to_owned(), points: vec![point(0.25, 0.25, 10)] };
        let svg = ReliabilityDiagram { title: "calibration".to_owned(), lines: vec![before, after] }.svg();
        assert!(svg.contains(r#"<polyline points="264.0,372.0 464.0,72.0""#), "{svg}");
        assert!(svg.contains(r#"<circle cx="164.0" cy="372.0""#), "{svg}");
        assert!(svg.contains(r#"height="15.0""#) && svg.contains(r#"height="60.0""#), "a quarter as many: {svg}");
        assert!(svg.contains(">as they come<") && svg.contains(">calibrated<"));
        assert!(!ReliabilityDiagram { title: String::new(), lines: Vec::new() }.svg().contains("NaN"));
    }
}
