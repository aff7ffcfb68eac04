//! Vectors on a plane that shows most of how they differ: principal component analysis.

use crate::nn::Rng;

/// Points on a plane, one for each vector.
#[derive(Clone, PartialEq, Debug)]
pub struct Projection {
    pub points: Vec<[f64; 2]>,
    /// Share of the vectors' variance that each axis shows, in [0, 1].
    pub shown: [f64; 2],
    mean: Vec<f64>,
    /// Zero where nothing varies.
    axes: [Vec<f64>; 2],
}

/// Rounds of the iteration: the axes of real vectors settle within some ten.
const ROUNDS: usize = 100;
/// An axis that turns by less in a round has settled.
const SETTLED: f64 = 1e-9;

impl Projection {
    /// The two directions of greatest variance (Pearson 1901), by orthogonal iteration on the covariance, which is never
    /// built. Each direction points to where its greatest number is positive, so that the same vectors give the same
    /// picture. `None` with fewer than two vectors, vectors of no numbers or of several lengths, or a number that is none.
    ///
    /// `vectors`: rows of `size` numbers. Cost: 4 times rows times `size` for each round.
    pub fn of(vectors: &[f32], size: usize) -> Option<Self> {
        let is_whole = size > 0 && vectors.len().is_multiple_of(size) && vectors.len() >= 2 * size;
        if !is_whole || vectors.iter().any(|number| !number.is_finite()) {
            return None;
        }
        let count = vectors.len() / size;
        let mut mean = vec![0.0; size];
        for row in vectors.chunks_exact(size) {
            mean.iter_mut().zip(row).for_each(|(mean, number)| *mean += f64::from(*number) / count as f64);
        }
        let centred: Vec<f64> = vectors
            .chunks_exact(size)
            .flat_map(|row| row.iter().zip(&mean).map(|(number, mean)| f64::from(*number) - mean))
            .collect();
        let variance: f64 = centred.iter().map(|number| number * number).sum();
        if variance <= 0.0 {
            let axes = [(); 2].map(|()| vec![0.0; size]);
            return Some(Self { points: vec![[0.0; 2]; count], shown: [0.0; 2], mean, axes });
        }
        let axes = axes(&centred, size);
        let points: Vec<[f64; 2]> =
            centred.chunks_exact(size).map(|row| [0, 1].map(|axis| dot(row, &axes[axis]))).collect();
        let shown = [0, 1].map(|axis| points.iter().map(|point| point[axis].powi(2)).sum::<f64>() / variance);
        Some(Self { points, shown, mean, axes })
    }

    /// Where another vector of as many numbers lies on the plane.
    pub fn place(&self, vector: &[f32]) -> [f64; 2] {
        let centred: Vec<f64> = vector.iter().zip(&self.mean).map(|(number, mean)| f64::from(*number) - mean).collect();
        [0, 1].map(|axis: usize| dot(&centred, &self.axes[axis]))
    }
}

/// Two orthogonal unit vectors, of the greatest variance first.
fn axes(centred: &[f64], size: usize) -> [Vec<f64>; 2] {
    let mut rng = Rng::new(0, "principal components");
    let mut axes = [(); 2].map(|()| (0..size).map(|_| f64::from(rng.normal())).collect::<Vec<f64>>());
    orthonormal(&mut axes);
    for _ in 0..ROUNDS {
        let mut next = [(); 2].map(|()| vec![0.0; size]);
        for row in centred.chunks_exact(size) {
            for (next, axis) in next.iter_mut().zip(&axes) {
                let along = dot(row, axis);
                next.iter_mut().zip(row).for_each(|(next, number)| *next += along * number);
            }
        }
        orthonormal(&mut next);
        let has_settled = axes.iter().zip(&next).all(|(axis, next)| 1.0 - dot(axis, next).abs() < SETTLED);
        axes = next;
        if has_settled {
            break;
        }
    }
    for axis in &mut axes {
        let greatest = axis.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(0.0);
        if greatest < 0.0 {
            axis.iter_mut().for_each(|number| *number = -*number);
        }
    }
    axes
}

/// Gram and Schmidt; an axis along which nothing varies becomes zero.
fn orthonormal([first, second]: &mut [Vec<f64>; 2]) {
    normalise(first);
    let along = dot(first, second);
    let length = dot(second, second).sqrt();
    second.iter_mut().zip(first.iter()).for_each(|(second, first)| *second -= along * first);
    if dot(second, second).sqrt() <= 1e-12 * length {
        second.fill(0.0);
    }
    normalise(second);
}

fn normalise(axis: &mut [f64]) {
    let length = dot(axis, axis).sqrt();
    if length > 0.0 {
        axis.iter_mut().for_each(|number| *number /= length);
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axes_are_those_of_greatest_variance() {
        // Far apart along (3, 4, 0), less along (0, 0, 1), around (1, 1, 1).
        let vectors: Vec<f32> = [(10.0, 0.0), (-10.0, 0.0), (0.0, 1.0), (0.0, -1.0)]
            .into_iter()
            .flat_map(|(far, near)| [1.0 + 0.6 * far, 1.0 + 0.8 * far, 1.0 + near])
            .collect();
        let projection = Projection::of(&vectors, 3).unwrap();
        let [x, y] = projection.place(&[1.0 - 0.8, 1.0 + 0.6, 3.0]);
        assert!(x.abs() < 1e-4 && (y - 2.0).abs() < 1e-4, "off the first axis by a right angle: {x} {y}");
        let Projection { points, shown, .. } = projection;
        let wanted = [[10.0, 0.0], [-10.0, 0.0], [0.0, 1.0], [0.0, -1.0]];
        for (point, wanted) in points.iter().zip(wanted) {
            assert!(point.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-4), "{points:?}");
        }
        assert!((shown[0] - 200.0 / 202.0).abs() < 1e-6 && (shown[1] - 2.0 / 202.0).abs() < 1e-6);
    }

    #[test]
    fn vectors_on_a_line_have_one_axis_and_equal_ones_none() {
        let Projection { points, shown, .. } = Projection::of(&[1.0, 1.0, 2.0, 2.0, 4.0, 4.0], 2).unwrap();
        assert!(
            points.iter().all(|point| point[1].abs() < 1e-9) && (shown[0] - 1.0).abs() < 1e-9,
            "{points:?} {shown:?}"
        );
        assert_eq!(Projection::of(&[1.0, 2.0, 1.0, 2.0], 2).unwrap().points, [[0.0; 2]; 2]);
    }

    #[test]
    fn what_are_no_vectors_has_no_picture() {
        assert_eq!(Projection::of(&[], 3), None);
        assert_eq!(Projection::of(&[1.0, 2.0], 2), None);
        assert_eq!(Projection::of(&[1.0, 2.0, 3.0], 2), None);
        assert_eq!(Projection::of(&[1.0, f32::NAN], 1), None);
    }
}
