//! Tables as RFC 4180 has them: commas, a line for the titles, lines end with CR LF.

use std::borrow::Cow;

/// A table that grows row by row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Csv(String);

impl Csv {
    pub fn new<'a>(titles: impl IntoIterator<Item = &'a str>) -> Self {
        let mut csv = Self(String::new());
        csv.row(titles.into_iter().map(str::to_owned));
        csv
    }

    /// A cell for each title; what there is no figure for is empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        for (number, cell) in cells.into_iter().enumerate() {
            if number > 0 {
                self.0.push(',');
            }
            self.0.push_str(&quoted(&cell));
        }
        self.0.push_str("\r\n");
    }

    pub fn into_text(self) -> String {
        self.0
    }

    /// A figure in full; empty where there is none.
    pub fn figure(figure: Option<f64>) -> String {
        figure.map(|figure| figure.to_string()).unwrap_or_default()
    }
}

/// A cell, in quotation marks where it needs them.
pub fn quoted(cell: &str) -> Cow<'_, str> {
    let is_plain = !cell.contains([',', '"', '\r', '\n']);
    if is_plain { cell.into() } else { format!("\"{}\"", cell.replace('"', "\"\"")).into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_keep_their_commas_quotation_marks_and_line_ends() {
        let mut csv = Csv::new(["name", "F1, mean"]);
        csv.row(["a \"b\"\nc".to_owned(), Csv::figure(Some(0.1 + 0.2))]);
        csv.row(["plain".to_owned(), Csv::figure(None)]);
        let expected = "name,\"F1, mean\"\r\n\"a \"\"b\"\"\nc\",0.30000000000000004\r\nplain,\r\n";
        assert_eq!(csv.into_text(), expected);
    }
}
