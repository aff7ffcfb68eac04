//! Points on a plane, with a colour for each group.

use super::svg::{COLORS, begin, end, escaped, push, text};

const SIDE: f64 = 560.0;
/// Left, top, right, bottom.
const MARGIN: (f64, f64, f64, f64) = (56.0, 40.0, 200.0, 56.0);
/// What is of no group.
const GREY: &str = "#999999";

/// A point.
#[derive(Clone, PartialEq, Debug)]
pub struct ScatterPoint {
    /// Across and up.
    pub at: [f64; 2],
    /// Its group's number; `None` for what only lies around the others.
    pub group: Option<usize>,
    /// Drawn as a cross.
    pub is_crossed: bool,
    /// What is shown when the pointer rests on it.
    pub about: String,
}

/// Both axes have the same scale, so that distances can be compared.
#[derive(Clone, PartialEq, Debug)]
pub struct Scatter {
    pub title: String,
    /// What the axes are: across and up.
    pub axes: [String; 2],
    pub groups: Vec<String>,
    /// What points of no group are called, and what crosses are.
    pub others: String,
    pub crossed: String,
    /// Later ones lie on top.
    pub points: Vec<ScatterPoint>,
}

impl Scatter {
    pub fn svg(&self) -> String {
        let (left, top, right, bottom) = MARGIN;
        let mut svg = begin(left + SIDE + right, top + SIDE + bottom);
        text(&mut svg, (left, 24.0), "start", &self.title);
        push(
            &mut svg,
            format_args!(
                r##"<rect x="{left}" y="{top}" width="{SIDE}" height="{SIDE}" fill="none" stroke="#dddddd"/>"##
            ),
        );
        text(&mut svg, (left + SIDE / 2.0, top + SIDE + 32.0), "middle", &self.axes[0]);
        let half = top + SIDE / 2.0;
        push(
            &mut svg,
            format_args!(
                r#"<text x="24" y="{half}" text-anchor="middle" transform="rotate(-90 24 {half})">{}</text>"#,
                escaped(&self.axes[1])
            ),
        );
        let place = self.places();
        for point in &self.points {
            let (x, y) = place(point.at);
            let color = color_of(point.group);
            let about = escaped(&point.about);
            if point.is_crossed {
                push(
                    &mut svg,
                    format_args!(
                        r#"<path d="M{0:.1} {1:.1}l6 6m0 -6l-6 6" stroke="{color}" stroke-width="1.5"><title>{about}</title></path>"#,
                        x - 3.0,
                        y - 3.0
                    ),
                );
            } else {
                push(
                    &mut svg,
                    format_args!(
                        r#"<circle cx="{x:.1}" cy="{y:.1}" r="3" fill="{color}" opacity="0.6"><title>{about}</title></circle>"#
                    ),
                );
            }
        }
        self.legend(&mut svg);
        end(svg)
    }

    /// From a point to its place in the picture: all points fit, with the same scale across and up.
    fn places(&self) -> impl Fn([f64; 2]) -> (f64, f64) + use<> {
        let (left, top, ..) = MARGIN;
        let range = |axis: usize| {
            let values = self.points.iter().map(|point| point.at[axis]);
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
        };
        let [(x_low, x_high), (y_low, y_high)] = [0, 1].map(range);
        let span = (x_high - x_low).max(y_high - y_low);
        let scale = if span.is_finite() && span > 0.0 { SIDE * 0.94 / span } else { 1.0 };
        let middle = [f64::midpoint(x_low, x_high), f64::midpoint(y_low, y_high)];
        move |[x, y]| (left + SIDE / 2.0 + (x - middle[0]) * scale, top + SIDE / 2.0 - (y - middle[1]) * scale)
    }

    fn legend(&self, svg: &mut String) {
        let (left, top, ..) = MARGIN;
        let (x, mut y) = (left + SIDE + 24.0, top + 12.0);
        let groups = self.groups.iter().enumerate().map(|(number, name)| (color_of(Some(number)), name.as_str()));
        let others = self.points.iter().any(|point| point.group.is_none()).then_some((GREY, self.others.as_str()));
        for (color, name) in groups.chain(others) {
            push(svg, format_args!(r#"<circle cx="{x}" cy="{:.1}" r="4" fill="{color}"/>"#, y - 4.0));
            text(svg, (x + 12.0, y), "start", name);
            y += 18.0;
        }
        if self.points.iter().any(|point| point.is_crossed) {
            push(
                svg,
                format_args!(
                    r##"<path d="M{0:.1} {1:.1}l6 6m0 -6l-6 6" stroke="#000000" stroke-width="1.5"/>"##,
                    x - 3.0,
                    y - 7.0
                ),
            );
            text(svg, (x + 12.0, y), "start", &self.crossed);
        }
    }
}

/// The eighth group has the first one's colour again.
fn color_of(group: Option<usize>) -> &'static str {
    group.and_then(|group| COLORS.get(group % COLORS.len()).copied()).unwrap_or(GREY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scatter(points: &[([f64; 2], Option<usize>, bool)]) -> String {
        let point = |&(at, group, is_crossed): &_| ScatterPoint { at, group, is_crossed, about: "a<b".to_owned() };
        let scatter = Scatter {
            title: "vectors".to_owned(),
            axes: ["first".to_owned(), "second".to_owned()],
            groups: vec!["PER".to_owned(), "ORG".to_owned()],
            others: "no mention".to_owned(),
            crossed: "wrong".to_owned(),
            points: points.iter().map(point).collect(),
        };
        scatter.svg()
    }

    #[test]
    fn all_points_are_inside_on_one_scale() {
        let svg = scatter(&[([-10.0, 0.0], Some(0), false), ([10.0, 2.0], Some(1), true), ([0.0, 1.0], None, false)]);
        // The middle of both is the middle of the frame; ten to the left is 0.47 of it.
        let middle = (MARGIN.0 + SIDE / 2.0, MARGIN.1 + SIDE / 2.0);
        assert!(svg.contains(&format!(r#"cx="{:.1}" cy="{:.1}" r="3" fill="{GREY}""#, middle.0, middle.1)), "{svg}");
        let left = format!(r#"cx="{:.1}" cy="{:.1}""#, middle.0 - 0.47 * SIDE, middle.1 + 0.047 * SIDE);
        assert!(svg.contains(&left), "{left}: {svg}");
        assert_eq!(svg.matches("<path").count(), 1 + 1, "the cross, and what it is called");
        assert!(svg.contains("<title>a&lt;b</title>") && svg.contains(">no mention</text>"));
    }

    #[test]
    fn few_points_have_a_picture_too() {
        let svg = scatter(&[]);
        assert!(!svg.contains("NaN") && !svg.contains("inf") && !svg.contains("no mention"), "{svg}");
        assert!(!scatter(&[([3.0, 3.0], Some(0), false); 2]).contains("NaN"));
    }
}
