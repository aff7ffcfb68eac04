//! Names and shapes of weights, as they are put together for a kind of encoder.

/// Weights by the names that the program gives them.
#[derive(Debug, Default)]
pub(super) struct Shapes(Vec<(String, Vec<usize>)>);

impl Shapes {
    /// `NAME.weight`, `[rows, columns]`: a table, or a layer without bias, whose outputs are the rows.
    pub(super) fn matrix(&mut self, name: &str, rows: usize, columns: usize) {
        self.push(format!("{name}.weight"), &[rows, columns]);
    }

    /// A linear layer with bias.
    pub(super) fn dense(&mut self, name: &str, inputs: usize, outputs: usize) {
        self.matrix(name, outputs, inputs);
        self.push(format!("{name}.bias"), &[outputs]);
    }

    /// A norm without bias.
    pub(super) fn scale(&mut self, name: &str, size: usize) {
        self.push(format!("{name}.weight"), &[size]);
    }

    /// A norm with bias.
    pub(super) fn norm(&mut self, name: &str, size: usize) {
        self.scale(name, size);
        self.push(format!("{name}.bias"), &[size]);
    }

    pub(super) fn push(&mut self, name: String, shape: &[usize]) {
        self.0.push((name, shape.to_vec()));
    }

    pub(super) fn list(self) -> Vec<(String, Vec<usize>)> {
        self.0
    }
}
