//! Figures of two kinds of things at once, each cell in its shade.

use super::svg::{begin, end, escaped, push, text};

const CELL: (f64, f64) = (72.0, 30.0);
/// Left of the cells, for the rows' names; above them, for the columns' and the title.
const NAMES: f64 = 180.0;
const TOP: f64 = 64.0;
const MARGIN: f64 = 24.0;
/// Letters of a column's name that fit above it.
const MOST_LETTERS: usize = 11;

/// What a shade says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shades {
    /// From white at 0 to blue at the greatest.
    Greater,
    /// From orange at the least over white at 0 to blue at the greatest.
    AroundZero,
}

/// Rows from above, columns from the left.
#[derive(Clone, PartialEq, Debug)]
pub struct HeatMap {
    pub title: String,
    pub rows: Vec<String>,
    pub columns: Vec<String>,
    /// A row for each of `rows`, with a figure for each of `columns`, `None` where there is none.
    pub cells: Vec<Vec<Option<f64>>>,
    pub shades: Shades,
    /// Digits after the point.
    pub digits: usize,
}

impl HeatMap {
    pub fn svg(&self) -> String {
        let (width, height) = CELL;
        let size = (self.columns.len() as f64 * width, self.rows.len() as f64 * height);
        let mut svg = begin((NAMES + size.0 + MARGIN).max(480.0), TOP + size.1 + MARGIN);
        text(&mut svg, (MARGIN, 24.0), "start", &self.title);
        for (number, column) in self.columns.iter().enumerate() {
            let x = NAMES + (number as f64 + 0.5) * width;
            text(&mut svg, (x, TOP - 8.0), "middle", &shortened(column));
        }
        let figures = self.cells.iter().flatten().flatten();
        let greatest = figures.map(|figure| figure.abs()).fold(0.0, f64::max);
        for (number, (row, cells)) in self.rows.iter().zip(&self.cells).enumerate() {
            let y = TOP + number as f64 * height;
            text(&mut svg, (NAMES - 8.0, y + height / 2.0 + 4.0), "end", row);
            for (number, figure) in cells.iter().enumerate() {
                self.cell(&mut svg, (NAMES + number as f64 * width, y), *figure, greatest);
            }
        }
        end(svg)
    }

    fn cell(&self, svg: &mut String, (x, y): (f64, f64), figure: Option<f64>, greatest: f64) {
        let (width, height) = CELL;
        let share = figure.map_or(0.0, |figure| if greatest > 0.0 { figure / greatest } else { 0.0 });
        let fill = shade(share);
        push(
            svg,
            format_args!(
                r##"<rect x="{x:.1}" y="{y:.1}" width="{width}" height="{height}" fill="{fill}" stroke="#ffffff"/>"##
            ),
        );
        let words = match (figure, self.shades) {
            (None, _) => "–".to_owned(),
            (Some(figure), Shades::Greater) => format!("{figure:.*}", self.digits),
            (Some(figure), Shades::AroundZero) => format!("{figure:+.*}", self.digits),
        };
        // What stands on a dark shade is white.
        let ink = if share.abs() > 0.6 { "#ffffff" } else { "#000000" };
        let (x, y) = (x + width / 2.0, y + height / 2.0 + 4.0);
        push(
            svg,
            format_args!(r#"<text x="{x:.1}" y="{y:.1}" text-anchor="middle" fill="{ink}">{}</text>"#, escaped(&words)),
        );
    }
}

/// A name that fits above a column.
fn shortened(name: &str) -> String {
    if name.chars().count() <= MOST_LETTERS {
        return name.to_owned();
    }
    name.chars().take(MOST_LETTERS - 1).chain(['…']).collect()
}

/// Of a share in [-1, 1]: orange below 0, blue above, white at 0.
fn shade(share: f64) -> String {
    let full = if share < 0.0 { [0xD5, 0x5E, 0x00] } else { [0x00, 0x72, 0xB2] };
    let mixed = full.map(|part: u8| {
        let part = 255.0 + (f64::from(part) - 255.0) * share.abs().min(1.0);
        part.round() as u8
    });
    format!("#{:02X}{:02X}{:02X}", mixed[0], mixed[1], mixed[2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_is_darkest_and_what_is_less_has_another_colour() {
        assert_eq!([shade(1.0), shade(0.0), shade(-1.0)], ["#0072B2", "#FFFFFF", "#D55E00"]);
        let map = HeatMap {
            title: "b − a".to_owned(),
            rows: vec!["<x>".to_owned(), "y".to_owned()],
            columns: vec!["XS".to_owned(), "a very long name".to_owned()],
            cells: vec![vec![Some(0.2), None], vec![Some(-0.1), Some(0.0)]],
            shades: Shades::AroundZero,
            digits: 2,
        };
        let svg = map.svg();
        assert!(svg.contains(">&lt;x&gt;</text>") && svg.contains(">a very lon…</text>"), "{svg}");
        assert!([">+0.20<", ">-0.10<", ">+0.00<", ">–<"].iter().all(|words| svg.contains(words)), "{svg}");
        assert_eq!(svg.matches("#0072B2").count(), 1);
        assert_eq!(svg.matches("<rect").count(), 1 + 4, "the ground and the cells");
        let counts = HeatMap { shades: Shades::Greater, digits: 0, ..map }.svg();
        assert!(counts.contains(">0<") && !counts.contains('+'), "{counts}");
    }
}
