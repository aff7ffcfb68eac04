//! Columns, for people: without lines, so that they can be read on paper and by programs, too.

use crate::wording::one_line;
use comfy_table::CellAlignment;
use comfy_table::presets::NOTHING;
use std::fmt;

/// Rows of cells, each on one line whatever it holds, as wide as a terminal shows them. The first column is aligned to the
/// left, the others to the right.
pub(super) struct Table(comfy_table::Table);

impl Table {
    pub(super) fn new<S: Into<String>>(head: impl IntoIterator<Item = S>) -> Self {
        let head: Vec<String> = head.into_iter().map(|cell| one_line(&cell.into()).into_owned()).collect();
        let columns = head.len();
        let mut table = comfy_table::Table::new();
        table.load_style(NOTHING).add_row(head);
        for at in 0..columns {
            let Some(column) = table.column_mut(at) else { continue };
            column.set_padding((if at == 0 { 0 } else { 2 }, 0));
            column.set_cell_alignment(if at == 0 { CellAlignment::Left } else { CellAlignment::Right });
        }
        Self(table)
    }

    /// Aligns the last column to the left: texts.
    pub(super) fn ending_in_text(mut self) -> Self {
        let last = self.0.column_count().saturating_sub(1);
        if let Some(column) = self.0.column_mut(last) {
            column.set_cell_alignment(CellAlignment::Left);
        }
        self
    }

    pub(super) fn row(&mut self, name: &str, cells: impl IntoIterator<Item = String>) {
        let cells = cells.into_iter().map(|cell| one_line(&cell).into_owned());
        self.0.add_row(std::iter::once(one_line(name).into_owned()).chain(cells).collect::<Vec<_>>());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.0.trim_fmt())
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

    #[test]
    fn wide_characters_take_two_places_and_line_breaks_none() {
        let mut table = Table::new(["label", "gold", "text"]).ending_in_text();
        table.row("東京", ["3".to_owned(), "one\ntwo".to_owned()]);
        table.row("e\u{301}", ["12".to_owned(), "three".to_owned()]);
        let one_line = one_line("one\ntwo");
        let expected = format!("label  gold  text\n東京      3  {one_line}\ne\u{301}        12  three\n");
        assert_eq!(table.to_string(), expected);
    }
}
