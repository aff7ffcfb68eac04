//! From the scores of one word's tags to those of its neighbour's, over all transitions.

/// Below this a sum has lost summands that count: they were too small to be numbers.
const LEAST_SUM: f64 = 1e-290;
/// The logarithm of what may be multiplied with a factor too small to be a number and still count for nothing.
const MOST_LOG: f64 = 600.0;

/// Scores of transitions, `[T, T]`, from a row's tag to a column's; −∞ where one is forbidden.
///
/// Sums of exponentials are taken with exponentials computed beforehand, so that a step costs T of them and T² products. What
/// these lose where scores are very far from each other is computed anew from logarithms.
#[derive(Debug)]
pub(super) struct Steps {
    size: usize,
    scores: Vec<f64>,
    /// The greatest score of each column.
    tops: Vec<f64>,
    /// Exponentials of the scores less the greatest one of their column.
    factors: Vec<f64>,
}

impl Steps {
    pub(super) fn new(scores: Vec<f64>, size: usize) -> Self {
        let mut tops = vec![f64::NEG_INFINITY; size];
        for row in scores.chunks_exact(size) {
            tops.iter_mut().zip(row).for_each(|(top, score)| *top = top.max(*score));
        }
        let factor = |(score, top): (&f64, &f64)| if *score == f64::NEG_INFINITY { 0.0 } else { (score - top).exp() };
        let factors = scores.iter().zip(tops.iter().cycle()).map(factor).collect();
        Self { size, scores, tops, factors }
    }

    pub(super) fn transposed(&self) -> Self {
        let (size, scores) = (self.size, &self.scores);
        let columns = (0..size).flat_map(|column| (0..size).map(move |row| scores[row * size + column]));
        Self::new(columns.collect(), size)
    }

    pub(super) fn score(&self, from: usize, to: usize) -> f64 {
        self.scores[from * self.size + to]
    }

    /// The scores from each tag, row after row.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.scores.chunks_exact(self.size)
    }

    fn column(&self, to: usize) -> impl Iterator<Item = f64> + Clone {
        self.scores.iter().skip(to).step_by(self.size).copied()
    }

    /// `sums[j] = ln Σᵢ exp(from[i] + score[i, j])`
    pub(super) fn advance(&self, from: &[f64], sums: &mut [f64]) {
        let top = greatest(from);
        sums.fill(0.0);
        for (x, factors) in from.iter().zip(self.factors.chunks_exact(self.size)) {
            let weight = (x - top).exp();
            // What is no number goes on as none.
            if weight != 0.0 {
                sums.iter_mut().zip(factors).for_each(|(sum, factor)| *sum += weight * factor);
            }
        }
        for (to, (sum, column_top)) in sums.iter_mut().zip(&self.tops).enumerate() {
            *sum = if *sum >= LEAST_SUM {
                top + column_top + sum.ln()
            } else {
                log_sum(from.iter().zip(self.column(to)).map(|(x, score)| x + score))
            };
        }
    }

    /// `sums[i, j] += weight · exp(from[i] + score[i, j] + to[j])`: the probability of each transition, where `to` is less the
    /// logarithm of what all sequences sum to.
    pub(super) fn add_probabilities(&self, from: &[f64], to: &[f64], weight: f64, sums: &mut [f64]) {
        let top = greatest(from);
        let mut columns: Vec<f64> = to.iter().zip(&self.tops).map(|(y, column_top)| top + column_top + y).collect();
        for (to_tag, column) in columns.iter_mut().enumerate() {
            if *column < MOST_LOG {
                *column = weight * column.exp();
                continue;
            }
            *column = 0.0;
            for (from_tag, (x, score)) in from.iter().zip(self.column(to_tag)).enumerate() {
                sums[from_tag * self.size + to_tag] += weight * (x + score + to[to_tag]).exp();
            }
        }
        let rows = sums.chunks_exact_mut(self.size).zip(self.factors.chunks_exact(self.size));
        for (x, (sums, factors)) in from.iter().zip(rows) {
            let row = (x - top).exp();
            if row != 0.0 {
                let columns = factors.iter().zip(&columns);
                sums.iter_mut().zip(columns).for_each(|(sum, (factor, column))| *sum += row * factor * column);
            }
        }
    }
}

fn greatest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// `ln Σ exp(value)`; −∞ for nothing.
pub(super) fn log_sum(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let top = values.clone().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY { top } else { top + values.map(|x| (x - top).exp()).sum::<f64>().ln() }
}
