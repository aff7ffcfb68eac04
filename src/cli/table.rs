//! Numbers in columns, for people.

use crate::wording::one_line;
use std::fmt;

/// Rows of cells, each on one line whatever it holds. The first column is aligned to the left, the others to the right.
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new<S: Into<String>>(head: impl IntoIterator<Item = S>) -> Self {
        Self { rows: vec![head.into_iter().map(|cell| one_line(&cell.into()).into_owned()).collect()] }
    }

    pub(super) fn row(&mut self, name: &str, cells: impl IntoIterator<Item = String>) {
        let cells = cells.into_iter().map(|cell| one_line(&cell).into_owned());
        self.rows.push(std::iter::once(one_line(name).into_owned()).chain(cells).collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                match column {
                    0 => line.push_str(&format!("{cell:<width$}")),
                    _ => line.push_str(&format!("  {cell:>width$}")),
                }
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(["label", "F1", "gold"]);
        table.row("Straße", ["0.5000".to_owned(), "12".to_owned()]);
        table.row("X", ["-".to_owned()]);
        expect_test::expect![[r#"
            label       F1  gold
            Straße  0.5000    12
            X            -
        "#]]
        .assert_eq(&table.to_string());
    }
}
