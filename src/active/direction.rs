//! Where a sentence's likely first words point in the encoder's space, in few bytes.

use crate::nn::Rng;

/// Numbers of a direction. Random projections to as many keep the distances of thousands of sentences to a fifth or so
/// (Johnson and Lindenstrauss 1984), which is enough to tell groups apart.
const SIZE: usize = 64;

/// A fixed random projection: the same for every sentence, model and project.
#[derive(Clone, Debug)]
pub struct Projection {
    hidden: usize,
    /// `[hidden, SIZE]` of 1 and -1.
    signs: Vec<f32>,
}

impl Projection {
    /// For vectors of `hidden` numbers.
    pub fn new(hidden: usize) -> Self {
        let mut rng = Rng::new(0, "directions of sentences");
        let signs = (0..hidden * SIZE).map(|_| if rng.bits() & 1 == 0 { 1.0 } else { -1.0 }).collect();
        Self { hidden, signs }
    }

    /// The direction of the mean of words' vectors `[words, hidden]`, each weighted; all zero where no weight is.
    pub fn direction(&self, vectors: &[f32], weights: impl Iterator<Item = f32>) -> Vec<i8> {
        let mut sum = Vec::new();
        self.add(&mut sum, vectors, weights);
        self.direction_of(&sum)
    }

    /// Adds words to the sum that a direction is made of, which is empty before the first ones.
    pub fn add(&self, sum: &mut Vec<f32>, vectors: &[f32], weights: impl Iterator<Item = f32>) {
        sum.resize(self.hidden, 0.0);
        for (vector, weight) in vectors.chunks_exact(self.hidden.max(1)).zip(weights) {
            sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += weight * x);
        }
    }

    pub fn direction_of(&self, mean: &[f32]) -> Vec<i8> {
        let mut projected = vec![0.0; SIZE];
        for (x, signs) in mean.iter().zip(self.signs.chunks_exact(SIZE)) {
            projected.iter_mut().zip(signs).for_each(|(sum, sign)| *sum += x * sign);
        }
        let largest = projected.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
        let scale = if largest > 0.0 { 127.0 / largest } else { 0.0 };
        projected.iter().map(|x| (x * scale).round() as i8).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(a: &[i8], b: &[i8]) -> f32 {
        let dot = |a: &[i8], b: &[i8]| a.iter().zip(b).map(|(x, y)| f32::from(*x) * f32::from(*y)).sum::<f32>();
        dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
    }

    #[test]
    fn angles_stay_roughly() {
        let mut rng = Rng::new(1, "test");
        let mut vector = || -> Vec<f32> { (0..384).map(|_| rng.normal()).collect() };
        let (a, b) = (vector(), vector());
        let between: Vec<f32> = a.iter().zip(&b).map(|(x, y)| 0.8 * x + 0.6 * y).collect();
        let projection = Projection::new(384);
        let direction = |v: &[f32]| projection.direction(v, std::iter::once(0.3));
        assert!(cosine(&direction(&a), &direction(&b)).abs() < 0.35);
        assert!((cosine(&direction(&a), &direction(&between)) - 0.8).abs() < 0.2);
        assert_eq!(direction(&a), projection.direction(&[a.clone(), b].concat(), [2.0, 0.0].into_iter()));
    }

    #[test]
    fn nothing_points_nowhere() {
        assert_eq!(Projection::new(3).direction(&[1.0, 2.0, 3.0], std::iter::once(0.0)), vec![0; SIZE]);
    }
}
