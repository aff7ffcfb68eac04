//! Whether scores mean what they say, and how to make them.

/// Scores that a temperature is fitted to, at least.
const FEWEST: usize = 50;
/// Groups of scores for the error.
const BINS: usize = 10;

/// What makes a model's scores honest: of suggestions with a score of 0.8 eight in ten are to be right.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Calibration {
    /// Scores p become `σ(logit(p) / T)`; above 1 for a model that is too sure of itself.
    pub temperature: f64,
    /// Expected calibration error with scores as they come, and divided: the mean distance of score and share of right ones
    /// over ten groups of scores, in [0, 1].
    pub error_before: f64,
    pub error_after: f64,
}

impl Calibration {
    /// The temperature at which suggestions whose answer is known are least surprising (temperature scaling, Guo et al. 2017);
    /// `None` with too few of them.
    pub fn fit(scores: &[(f32, bool)]) -> Option<Self> {
        if scores.len() < FEWEST {
            return None;
        }
        // One valley: the surprise is convex in 1/T. Golden section over ln T.
        let surprise = |log_temperature: f64| {
            let temperature = log_temperature.exp();
            scores.iter().map(|&(score, right)| surprise(scaled(score, temperature), right)).sum::<f64>()
        };
        let golden = (5_f64.sqrt() - 1.0) / 2.0;
        let (mut low, mut high) = (0.2_f64.ln(), 5_f64.ln());
        while high - low > 1e-3 {
            let (a, b) = (high - golden * (high - low), low + golden * (high - low));
            if surprise(a) < surprise(b) { high = b } else { low = a }
        }
        let temperature = f64::midpoint(low, high).exp();
        Some(Self { temperature, error_before: error(scores, 1.0), error_after: error(scores, temperature) })
    }
}

/// A score divided by a temperature.
pub fn calibrated(score: f32, temperature: f64) -> f32 {
    scaled(score, temperature) as f32
}

fn scaled(score: f32, temperature: f64) -> f64 {
    let p = f64::from(score).clamp(1e-6, 1.0 - 1e-6);
    1.0 / (1.0 + (-(p / (1.0 - p)).ln() / temperature).exp())
}

fn surprise(p: f64, right: bool) -> f64 {
    -(if right { p } else { 1.0 - p }).ln()
}

fn error(scores: &[(f32, bool)], temperature: f64) -> f64 {
    let mut bins = [(0.0, 0.0, 0.0); BINS];
    for &(score, right) in scores {
        let p = scaled(score, temperature);
        let number = ((p * BINS as f64) as usize).min(BINS - 1);
        if let Some((count, sum, hits)) = bins.get_mut(number) {
            *count += 1.0;
            *sum += p;
            *hits += f64::from(u8::from(right));
        }
    }
    bins.iter().map(|(_, sum, hits): &(f64, f64, f64)| (sum - hits).abs()).sum::<f64>() / scores.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::Rng;

    /// Scores of a model whose log-odds are `sharpness` times what they should be.
    fn scores(sharpness: f64, count: usize) -> Vec<(f32, bool)> {
        let mut rng = Rng::new(3, "test");
        let one = |rng: &mut Rng| {
            let truth = f64::from(rng.unit()).clamp(0.02, 0.98);
            let logit = (truth / (1.0 - truth)).ln() * sharpness;
            (calibrated((1.0 / (1.0 + (-logit).exp())) as f32, 1.0), f64::from(rng.unit()) < truth)
        };
        (0..count).map(|_| one(&mut rng)).collect()
    }

    #[test]
    fn a_model_that_is_too_sure_is_cooled_and_one_that_is_right_stays() {
        let too_sure = Calibration::fit(&scores(2.0, 4000)).unwrap();
        assert!((too_sure.temperature - 2.0).abs() < 0.2, "{too_sure:?}");
        assert!(too_sure.error_after < 0.5 * too_sure.error_before && too_sure.error_before > 0.05, "{too_sure:?}");
        let right = Calibration::fit(&scores(1.0, 4000)).unwrap();
        assert!((right.temperature - 1.0).abs() < 0.1 && right.error_before < 0.03, "{right:?}");
        assert_eq!(Calibration::fit(&scores(1.0, 49)), None);
    }

    #[test]
    fn order_and_the_middle_stay() {
        assert!((calibrated(0.5, 3.0) - 0.5).abs() < 1e-6);
        assert!(calibrated(0.9, 3.0) < 0.9 && calibrated(0.9, 3.0) > calibrated(0.8, 3.0));
        assert!(calibrated(1.0, 2.0) < 1.0 && calibrated(0.0, 2.0) > 0.0);
    }
}
