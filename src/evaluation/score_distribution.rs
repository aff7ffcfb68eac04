//! How sure a model is where it is right, and where it is wrong.
//!
//! The violins of a predictor's scores, with the probabilities of right predictions on one side and of wrong ones on the other.

/// Scores of predicted mentions, in [0, 1].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ScoreDistribution {
    /// In ascending order.
    pub right: Vec<f32>,
    /// In ascending order.
    pub wrong: Vec<f32>,
}

impl ScoreDistribution {
    /// Shares whose quantiles are told.
    pub const SHARES: [f64; 7] = [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0];
    /// Points of a density that is told: one for each step of 0.02.
    pub const POINTS: usize = 51;

    /// Each prediction's score, and whether it is in the gold with its label.
    pub fn of(predictions: impl IntoIterator<Item = (f32, bool)>) -> Self {
        let mut distribution = Self::default();
        for (score, is_right) in predictions {
            let side = if is_right { &mut distribution.right } else { &mut distribution.wrong };
            side.push(score);
        }
        distribution.right.sort_by(f32::total_cmp);
        distribution.wrong.sort_by(f32::total_cmp);
        distribution
    }
}

/// The score below which a share of ascending scores lies, by linear interpolation (type 7 of Hyndman and Fan 1996); `None`
/// without scores.
pub fn quantile(scores: &[f32], share: f64) -> Option<f64> {
    let place = share.clamp(0.0, 1.0) * (scores.len().checked_sub(1)? as f64);
    let (below, above) = (scores.get(place.floor() as usize)?, scores.get(place.ceil() as usize)?);
    let (below, above) = (f64::from(*below), f64::from(*above));
    Some(below + (above - below) * place.fract())
}

/// Density of scores at `points` equal steps from 0 to 1: a Gaussian kernel with Silverman's bandwidth (1986, equation 3.31),
/// reflected at 0 and 1, where scores pile up and a plain kernel would lose half of its mass. Its mean over the points is
/// near 1. Empty without scores.
///
/// Cost: points times scores.
pub fn density(scores: &[f32], points: usize) -> Vec<f64> {
    let (Some(low), Some(high)) = (quantile(scores, 0.25), quantile(scores, 0.75)) else { return Vec::new() };
    let count = scores.len() as f64;
    let mean = scores.iter().map(|score| f64::from(*score)).sum::<f64>() / count;
    let variance = scores.iter().map(|score| (f64::from(*score) - mean).powi(2)).sum::<f64>() / count;
    // Of equal scores the bandwidth would be 0.
    let spread = variance.sqrt().min(if high > low { (high - low) / 1.34 } else { f64::INFINITY });
    let bandwidth = (0.9 * spread * count.powf(-0.2)).max(0.01);
    let scale = 1.0 / (count * bandwidth * std::f64::consts::TAU.sqrt());
    let kernel = |distance: f64| (-0.5 * (distance / bandwidth).powi(2)).exp();
    let at = |point: f64| {
        let mirrored = |score: f64| kernel(point - score) + kernel(point + score) + kernel(2.0 - point - score);
        scale * scores.iter().map(|score| mirrored(f64::from(*score))).sum::<f64>()
    };
    let step = 1.0 / points.saturating_sub(1).max(1) as f64;
    (0..points).map(|point| at(point as f64 * step)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn right_and_wrong_are_kept_apart() {
        let distribution = ScoreDistribution::of([(0.9, true), (0.3, false), (0.8, true), (0.6, false)]);
        assert_eq!(distribution, ScoreDistribution { right: vec![0.8, 0.9], wrong: vec![0.3, 0.6] });
    }

    #[test]
    fn quantiles_lie_between_scores() {
        let scores = [0.0, 0.25, 0.5, 1.0];
        let quantiles = [0.0, 0.5, 1.0, 0.25].map(|share| quantile(&scores, share).unwrap());
        assert_eq!(quantiles, [0.0, 0.375, 1.0, 0.1875]);
        assert_eq!((quantile(&[], 0.5), quantile(&[0.25], 0.9)), (None, Some(0.25)));
    }

    #[test]
    fn a_density_has_a_mass_of_one_also_at_the_ends() {
        for scores in [vec![1.0; 40], vec![0.0, 1.0, 0.5, 0.25], (0..100).map(|i| i as f32 / 99.0).collect()] {
            let mut scores: Vec<f32> = scores;
            scores.sort_by(f32::total_cmp);
            let density = density(&scores, 1001);
            let ends = (density[0] + density[1000]) / 2.0;
            let mass = (density[1..1000].iter().sum::<f64>() + ends) / 1000.0;
            assert!((mass - 1.0).abs() < 0.01, "{mass}");
        }
        let sure = density(&[0.9, 0.95, 0.97, 0.99], 11);
        assert!(sure[10] > 10.0 * sure[5], "{sure:?}");
        assert_eq!(density(&[], 5), Vec::<f64>::new());
    }
}
