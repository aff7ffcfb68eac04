//! One row for each variant, for a terminal, the window and files.

use super::comparison::{Comparison, Spread};
use super::record::ComparedRun;
use super::request::Variant;
use crate::evaluation::Counts;
use crate::figure::{push, quoted};
use serde_json::{Map, Value as Json, json};

/// What columns are about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColumnGroup {
    Scores,
    Nesting,
    Length,
    Costs,
}

/// What stands in a column, and how it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Column {
    pub title: String,
    pub group: ColumnGroup,
    /// What the figures mean, with their unit.
    pub meaning: &'static str,
    /// Digits after the point.
    pub digits: usize,
    /// Whether a greater figure is better.
    pub more_is_better: bool,
}

/// A variant with a figure for each column, `None` where there is none.
#[derive(Clone, PartialEq, Debug)]
pub struct ComparisonRow {
    pub variant: Variant,
    pub figures: Vec<Option<f64>>,
}

/// Figures are means over the seeds.
#[derive(Clone, PartialEq, Debug)]
pub struct ComparisonTable {
    pub columns: Vec<Column>,
    pub rows: Vec<ComparisonRow>,
}

impl Comparison {
    pub fn table(&self) -> ComparisonTable {
        let column = |group, title: &str, meaning, digits, more_is_better| Column {
            title: title.to_owned(),
            group,
            meaning,
            digits,
            more_is_better,
        };
        let score = |title, meaning, more_is_better| column(ColumnGroup::Scores, title, meaning, 4, more_is_better);
        let cost =
            |title, meaning, digits, more_is_better| column(ColumnGroup::Costs, title, meaning, digits, more_is_better);
        let mut columns = vec![
            score("F1", "strict micro-F1, mean over the seeds", true),
            score("±", "sample standard deviation of F1 over the seeds", false),
            score("P", "precision, over all seeds", true),
            score("R", "recall, over all seeds", true),
        ];
        let by_nesting = ["nested", "covering", "both", "flat"];
        let meaning = "F1 of such mentions, over all seeds";
        columns.extend(by_nesting.map(|group| column(ColumnGroup::Nesting, group, meaning, 4, true)));
        let lengths: Vec<&str> = self.variants().first().map_or_else(Vec::new, |first| names(self, first));
        let meaning = "F1 of mentions with so many words, over all seeds";
        let of_length = |width: &&str| column(ColumnGroup::Length, &format!("{width} w"), meaning, 4, true);
        columns.extend(lengths.iter().map(of_length));
        columns.extend([
            cost("train s", "seconds of a training, from request to model", 1, false),
            cost("train/s", "sentences per second of training", 1, true),
            cost("predict s", "seconds to predict the scored sentences", 2, false),
            cost("train MB", "peak memory of the process during training", 0, false),
            cost("predict MB", "peak memory of the process during prediction", 0, false),
            cost("parameters", "numbers that are learnt", 0, false),
            cost("unlearnable", "gold mentions that the architecture can't learn", 0, false),
        ]);
        let rows = self.variants().into_iter().map(|variant| self.row(variant)).collect();
        ComparisonTable { columns, rows }
    }

    fn row(&self, variant: &Variant) -> ComparisonRow {
        let Spread { mean, deviation } = self.f1(variant);
        let micro: Counts = self.micro(variant).into_iter().map(|(_, counts)| counts).sum();
        let nesting = self.nesting(variant);
        let mean_of = |figure: fn(&ComparedRun) -> Option<f64>| self.spread(variant, figure).mean;
        let mut figures = vec![mean, deviation, micro.precision(), micro.recall()];
        figures.extend([nesting.nested, nesting.covering, nesting.both, nesting.flat].map(Counts::f1));
        figures.extend(self.lengths(variant).rows().map(|(_, counts)| counts.f1()));
        figures.extend([
            mean_of(|run| Some(run.cost.train_secs)),
            mean_of(|run| Some(run.cost.sentences_per_sec)),
            mean_of(|run| Some(run.cost.score_secs)),
            mean_of(|run| run.cost.peak_memory_mb),
            mean_of(|run| run.cost.predict_memory_mb),
            mean_of(|run| Some(run.cost.parameters as f64)),
            mean_of(|run| Some(run.cost.unlearnable_mentions as f64)),
        ]);
        ComparisonRow { variant: variant.clone(), figures }
    }
}

fn names(compared: &Comparison, variant: &Variant) -> Vec<&'static str> {
    compared.lengths(variant).rows().map(|(name, _)| name).collect()
}

impl Column {
    /// A figure as it is written; empty where there is none.
    pub fn text(&self, figure: Option<f64>) -> String {
        figure.map_or_else(String::new, |figure| format!("{figure:.*}", self.digits))
    }
}

impl ComparisonTable {
    /// RFC 4180: commas, a line for the titles, lines end with CR LF. Figures in full.
    pub fn csv(&self) -> String {
        let mut csv = String::from("variant");
        self.columns.iter().for_each(|column| push(&mut csv, format_args!(",{}", quoted(&column.title))));
        for row in &self.rows {
            push(&mut csv, format_args!("\r\n{}", quoted(&row.variant.to_string())));
            for figure in &row.figures {
                csv.push(',');
                if let Some(figure) = figure {
                    push(&mut csv, format_args!("{figure}"));
                }
            }
        }
        csv + "\r\n"
    }

    /// Titles and figures as they are written, with a tab between two: for a spreadsheet.
    pub fn tsv(&self) -> String {
        let plain = |cell: &str| cell.replace(['\t', '\r', '\n'], " ");
        let mut tsv = String::from("variant");
        self.columns.iter().for_each(|column| push(&mut tsv, format_args!("\t{}", plain(&column.title))));
        for row in &self.rows {
            push(&mut tsv, format_args!("\n{}", plain(&row.variant.to_string())));
            for (column, figure) in self.columns.iter().zip(&row.figures) {
                push(&mut tsv, format_args!("\t{}", column.text(*figure)));
            }
        }
        tsv + "\n"
    }

    /// The columns with what they mean, and of each variant its figures by the titles of the columns, in full; null where
    /// there is none.
    pub fn json(&self) -> Json {
        let column = |column: &Column| {
            json!({
                "title": column.title,
                "meaning": column.meaning,
                "more_is_better": column.more_is_better,
            })
        };
        let row = |row: &ComparisonRow| {
            let figures = self.columns.iter().zip(&row.figures);
            let settings = row.variant.settings.iter().map(|(key, value)| (key.clone(), value.clone().into()));
            json!({
                "variant": row.variant.to_string(),
                "architecture": row.variant.architecture,
                "settings": settings.collect::<Map<_, _>>(),
                "figures": figures.map(|(column, figure)| (column.title.clone(), json!(figure))).collect::<Map<_, _>>(),
            })
        };
        json!({
            "columns": self.columns.iter().map(column).collect::<Vec<_>>(),
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
        })
    }

    /// A table of GitHub Flavored Markdown.
    pub fn markdown(&self) -> String {
        let mut markdown = String::from("| variant |");
        self.columns.iter().for_each(|column| push(&mut markdown, format_args!(" {} |", column.title)));
        markdown.push_str("\n|---|");
        markdown.push_str(&"---:|".repeat(self.columns.len()));
        for row in &self.rows {
            push(&mut markdown, format_args!("\n| {} |", row.variant.to_string().replace('|', "\\|")));
            for (column, figure) in self.columns.iter().zip(&row.figures) {
                push(&mut markdown, format_args!(" {} |", column.text(*figure)));
            }
        }
        markdown + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::super::comparison::tests::{comparison, run};
    use super::*;

    fn table() -> ComparisonTable {
        comparison(vec![
            run("a", 1, &[&[(0, 2, 1), (0, 1, 1)], &[(5, 9, 1)]]),
            run("b", 1, &[&[(0, 2, 1)], &[]]),
            run("a", 2, &[&[(0, 2, 1)], &[(5, 9, 1)]]),
        ])
        .table()
    }

    #[test]
    fn every_row_has_a_figure_for_every_column() {
        let table = table();
        assert!(table.rows.iter().all(|row| row.figures.len() == table.columns.len()));
        let figure = |row: usize, title: &str| {
            let column = table.columns.iter().position(|column| column.title == title).unwrap();
            table.rows[row].figures[column]
        };
        assert_eq!((figure(0, "R"), figure(1, "F1"), figure(1, "±")), (Some(5.0 / 6.0), Some(0.5), None));
        assert_eq!((figure(0, "4 w"), figure(1, "4 w"), figure(0, "5 w")), (Some(1.0), Some(0.0), None));
        assert_eq!((figure(0, "train s"), figure(0, "predict MB")), (Some(15.0), None));
    }

    #[test]
    fn files_hold_one_line_a_variant() {
        let csv = table().csv();
        assert!(csv.starts_with("variant,F1,±,P,R,nested,") && csv.ends_with("\r\n"), "{csv}");
        assert_eq!(csv.lines().count(), 3);
        assert!(csv.lines().nth(2).unwrap().starts_with("b,0.5,,1,0.3333333333333333,"), "{csv}");
        let markdown = table().markdown();
        let columns: Vec<usize> = markdown.lines().map(|line| line.matches('|').count()).collect();
        assert_eq!(columns, [table().columns.len() + 2; 4], "{markdown}");
        let tsv = table().tsv();
        let tabs: Vec<usize> = tsv.lines().map(|line| line.matches('\t').count()).collect();
        assert_eq!(tabs, [table().columns.len(); 3], "{tsv}");
        assert!(tsv.lines().nth(2).unwrap().starts_with("b\t0.5000\t\t1.0000\t0.3333\t"), "{tsv}");
        assert_eq!(quoted("spanner a=\"1,2\""), "\"spanner a=\"\"1,2\"\"\"");
    }

    #[test]
    fn json_names_every_figure() {
        let json = table().json();
        assert_eq!(json["columns"].as_array().map(Vec::len), Some(table().columns.len()));
        let row = &json["rows"][1];
        assert_eq!((&row["variant"], &row["architecture"]), (&Json::from("b"), &Json::from("b")));
        assert_eq!((&row["figures"]["F1"], &row["figures"]["±"]), (&Json::from(0.5), &Json::Null));
        assert_eq!(row["figures"].as_object().map(Map::len), Some(table().columns.len()));
    }
}
