//! A table of figures, for the window and the clipboard.

use crate::annotation::Rgb;
use crate::evaluation::PartialCounts;
use crate::wording::grouped;
use std::cmp::Ordering;

/// One figure.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Figure {
    /// Of one, shown in percent; `None` without anything to divide by.
    Share(Option<f64>),
    /// Of two shares, shown in points.
    Difference(Option<f64>),
    Count(usize),
    /// In its own unit, with two digits after the point.
    Number(Option<f64>),
}

/// A column and what stands above it.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Head {
    pub(super) title: String,
    /// Empty where the title says enough.
    pub(super) meaning: &'static str,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct SheetRow {
    pub(super) name: String,
    /// Of a label.
    pub(super) color: Option<Rgb>,
    /// One for each column but the first.
    pub(super) figures: Vec<Figure>,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Sheet {
    /// Above the table.
    pub(super) title: &'static str,
    /// Of the names.
    pub(super) first: &'static str,
    pub(super) heads: Vec<Head>,
    pub(super) rows: Vec<SheetRow>,
}

impl Head {
    pub(super) fn new(title: impl Into<String>, meaning: &'static str) -> Self {
        Self { title: title.into(), meaning }
    }
}

impl Figure {
    /// As the window shows it.
    pub(super) fn shown(self) -> String {
        let signed = |points: f64| format!("{:+.1}", (10.0 * points).round() / 10.0 + 0.0);
        match self {
            Self::Share(Some(share)) => format!("{:.1}", 100.0 * share),
            Self::Difference(Some(share)) => signed(100.0 * share),
            Self::Count(count) => grouped(count),
            Self::Number(Some(number)) => format!("{number:.2}"),
            Self::Share(None) | Self::Difference(None) | Self::Number(None) => "–".to_owned(),
        }
    }

    /// What has no figure is less than all that have one.
    pub(super) fn compare(self, other: Self) -> Ordering {
        let value = |figure: Self| figure.value().unwrap_or(f64::NEG_INFINITY);
        value(self).total_cmp(&value(other))
    }

    fn value(self) -> Option<f64> {
        match self {
            Self::Share(value) | Self::Difference(value) | Self::Number(value) => value,
            Self::Count(count) => Some(count as f64),
        }
    }

    /// Shares as shares, with four digits after the point; empty without a figure.
    fn rounded(self) -> String {
        match self {
            Self::Count(count) => count.to_string(),
            figure => figure.value().map_or_else(String::new, |value| format!("{value:.4}")),
        }
    }
}

impl Sheet {
    /// Titles and figures with a tab between two.
    pub(super) fn tsv(&self) -> String {
        let plain = |cell: &str| cell.replace(['\t', '\r', '\n'], " ");
        let heads = self.heads.iter().map(|head| plain(&head.title));
        let titles: Vec<String> = std::iter::once(plain(self.first)).chain(heads).collect();
        let rows = self.rows.iter().map(|row| {
            let figures = row.figures.iter().copied().map(Figure::rounded);
            std::iter::once(plain(&row.name)).chain(figures).collect::<Vec<_>>()
        });
        std::iter::once(titles).chain(rows).map(|cells| cells.join("\t") + "\n").collect()
    }
}

/// The columns of scores; with those of a second model, where there is one.
pub(super) fn score_heads(second: Option<&str>) -> Vec<Head> {
    let mut heads = vec![
        Head::new("P", "precision: right / predicted, in percent"),
        Head::new("R", "recall: right / gold, in percent"),
        Head::new("F1", "2·right / (predicted + gold), in percent"),
        Head::new("Gold", "mentions that a person marked"),
        Head::new("Predicted", "mentions that the model found, rightly or wrongly"),
        Head::new("Right", "mentions that are both"),
    ];
    if let Some(second) = second {
        heads.push(Head::new(format!("F1, {second}"), "F1 of the model compared with"));
        heads.push(Head::new("Difference", "F1 of the chosen model minus that of the model compared with, in points"));
    }
    heads
}

/// What stands below [`score_heads`].
pub(super) fn score_figures<C: Into<PartialCounts>>(of: C, second: Option<C>) -> Vec<Figure> {
    let of = of.into();
    let mut figures = vec![
        Figure::Share(of.precision()),
        Figure::Share(of.recall()),
        Figure::Share(of.f1()),
        Figure::Count(of.support()),
        Figure::Count(of.predicted()),
        Figure::Count(of.equal),
    ];
    if let Some(second) = second.map(Into::into) {
        figures.push(Figure::Share(second.f1()));
        figures.push(Figure::Difference(of.f1().zip(second.f1()).map(|(of, second)| of - second)));
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Counts;

    fn sheet() -> Sheet {
        let counts =
            |right, wrong, missed| Counts { true_positives: right, false_positives: wrong, false_negatives: missed };
        let row = |name: &str, first, second| SheetRow {
            name: name.to_owned(),
            color: None,
            figures: score_figures(first, Some(second)),
        };
        let rows = vec![
            row("all\t\"labels\"", counts(3, 1, 3), counts(4, 0, 2)),
            row("none", Counts::default(), counts(1, 0, 0)),
        ];
        Sheet { title: "Scores by label", first: "Label", heads: score_heads(Some("model 2")), rows }
    }

    #[test]
    fn every_row_has_a_figure_for_every_column() {
        let sheet = sheet();
        assert!(sheet.rows.iter().all(|row| row.figures.len() == sheet.heads.len()));
        let shown: Vec<String> = sheet.rows[0].figures.iter().map(|figure| figure.shown()).collect();
        assert_eq!(shown, ["75.0", "50.0", "60.0", "6", "4", "3", "80.0", "-20.0"]);
        let shown: Vec<String> = sheet.rows[1].figures.iter().map(|figure| figure.shown()).collect();
        assert_eq!(shown, ["–", "–", "–", "0", "0", "0", "100.0", "–"]);
        assert_eq!(Figure::Difference(Some(-0.0001)).shown(), "+0.0");
    }

    #[test]
    fn a_spreadsheet_gets_shares_and_one_line_a_row() {
        let tsv = sheet().tsv();
        assert_eq!(tsv.lines().next(), Some("Label\tP\tR\tF1\tGold\tPredicted\tRight\tF1, model 2\tDifference"));
        assert_eq!(tsv.lines().nth(1), Some("all \"labels\"\t0.7500\t0.5000\t0.6000\t6\t4\t3\t0.8000\t-0.2000"));
        assert_eq!(tsv.lines().nth(2), Some("none\t\t\t\t0\t0\t0\t1.0000\t"));
        assert_eq!(tsv.lines().count(), 3);
    }

    #[test]
    fn what_has_no_figure_comes_before_all_that_have_one() {
        assert_eq!(Figure::Share(None).compare(Figure::Share(Some(0.0))), Ordering::Less);
        assert_eq!(Figure::Count(10).compare(Figure::Count(9)), Ordering::Greater);
    }
}
