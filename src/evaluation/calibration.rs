//! Whether scores mean what they say, and how to make them.

use super::counts::ratio;

/// Scores that a scale is fitted to, at least.
const FEWEST: usize = 50;
/// Groups of scores.
pub(super) const BINS: usize = 10;
/// Of a scale, either way.
const MOST_BIAS: f64 = 6.0;

/// What makes a model's scores honest: of suggestions with a score of 0.8 eight in ten are to be right.
///
/// Suggestions are cut off at a low score, so that what a person sees of them is more often right or wrong than all candidates
/// are: dividing by a temperature alone (Guo et al. 2017) can't mend that, the bias does (Platt 1999).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Calibration {
    pub scale: Scale,
    /// Expected calibration error with scores as they come, and with what they become: the mean distance of score and share of
    /// right ones over ten groups of scores, in [0, 1].
    pub error_before: f64,
    pub error_after: f64,
}

/// What scores become: p is made `σ(logit(p) / temperature + bias)`. Their order stays.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scale {
    /// Above 0; above 1 for a model that is too sure of itself.
    pub temperature: f64,
    /// Below 0 for a model that sees too much.
    pub bias: f64,
}

impl Calibration {
    /// The scale on which suggestions whose answer is known are least surprising (Platt 1999, with his targets, which keep few
    /// answers from making a model sure); `None` with too few of them.
    pub fn fit(scores: &[(f32, bool)]) -> Option<Self> {
        if scores.len() < FEWEST {
            return None;
        }
        let right = scores.iter().filter(|(_, right)| *right).count() as f64;
        let wrong = scores.len() as f64 - right;
        let (hit, miss) = ((right + 1.0) / (right + 2.0), 1.0 / (wrong + 2.0));
        let answers: Vec<(f64, f64)> =
            scores.iter().map(|&(score, right)| (logit(score), if right { hit } else { miss })).collect();
        // One valley: the surprise is convex in 1/T and the bias together. Golden section over ln T.
        let at = |log_temperature: f64| Scale::with_temperature(log_temperature.exp(), &answers);
        let golden = (5_f64.sqrt() - 1.0) / 2.0;
        let (mut low, mut high) = (0.2_f64.ln(), 5_f64.ln());
        while high - low > 1e-3 {
            let (a, b) = (high - golden * (high - low), low + golden * (high - low));
            if at(a).surprise(&answers) < at(b).surprise(&answers) { high = b } else { low = a }
        }
        let scale = at(f64::midpoint(low, high));
        let error = |scale| Reliability::of(scores, scale).error().unwrap_or_default();
        Some(Self { scale, error_before: error(Scale::default()), error_after: error(scale) })
    }
}

/// Scores as they come.
impl Default for Scale {
    fn default() -> Self {
        Self { temperature: 1.0, bias: 0.0 }
    }
}

impl Scale {
    /// What a score becomes.
    pub fn apply(self, score: f32) -> f32 {
        self.of_logit(logit(score)) as f32
    }

    fn of_logit(self, logit: f64) -> f64 {
        1.0 / (1.0 + (-(logit / self.temperature + self.bias)).exp())
    }

    /// The best bias beside a temperature: with it, the scores add up to the answers. Their sum rises with the bias, so that
    /// halving finds it.
    fn with_temperature(temperature: f64, answers: &[(f64, f64)]) -> Self {
        let (mut low, mut high) = (-MOST_BIAS, MOST_BIAS);
        while high - low > 1e-4 {
            let bias = f64::midpoint(low, high);
            let scale = Self { temperature, bias };
            let excess: f64 = answers.iter().map(|&(logit, target)| scale.of_logit(logit) - target).sum();
            if excess < 0.0 { low = bias } else { high = bias }
        }
        Self { temperature, bias: f64::midpoint(low, high) }
    }

    /// Cross entropy.
    fn surprise(self, answers: &[(f64, f64)]) -> f64 {
        let one = |&(logit, target): &(f64, f64)| {
            let p = self.of_logit(logit).clamp(1e-12, 1.0 - 1e-12);
            -(target * p.ln() + (1.0 - target) * (1.0 - p).ln())
        };
        answers.iter().map(one).sum()
    }
}

fn logit(score: f32) -> f64 {
    let p = f64::from(score).clamp(1e-6, 1.0 - 1e-6);
    (p / (1.0 - p)).ln()
}

/// How often suggestions are right, by their scores: the reliability diagram (DeGroot and Fienberg 1983; Guo et al. 2017).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Reliability {
    /// From scores of 0 to 0.1 to those of 0.9 to 1.
    pub bins: [ReliabilityBin; BINS],
}

/// Suggestions whose scores lie in one tenth.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ReliabilityBin {
    pub count: usize,
    pub right: usize,
    sum: f64,
}

impl ReliabilityBin {
    /// Mean score; `None` without any.
    pub fn mean_score(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    /// Share of right ones; `None` without any.
    pub fn share_right(self) -> Option<f64> {
        ratio(self.right, self.count)
    }
}

impl Reliability {
    /// Of suggestions with their scores, and whether they are right; a scale makes of each score another one first.
    pub fn of(scores: &[(f32, bool)], scale: Scale) -> Self {
        let mut reliability = Self::default();
        for &(score, is_right) in scores {
            let p = scale.of_logit(logit(score));
            if let Some(bin) = reliability.bins.get_mut(Self::bin_of(p)) {
                bin.count += 1;
                bin.right += usize::from(is_right);
                bin.sum += p;
            }
        }
        reliability
    }

    /// The number of the bin of a score in [0, 1].
    pub fn bin_of(score: f64) -> usize {
        ((score * BINS as f64) as usize).min(BINS - 1)
    }

    /// Expected calibration error: the mean distance of score and share of right ones, each bin counting by its suggestions;
    /// in [0, 1], `None` without any.
    pub fn error(&self) -> Option<f64> {
        let all: usize = self.bins.iter().map(|bin| bin.count).sum();
        let distance: f64 = self.bins.iter().map(|bin| (bin.sum - bin.right as f64).abs()).sum();
        (all > 0).then(|| distance / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::Rng;

    /// Scores of a model whose log-odds are `sharpness` times what they should be, and too high by `excess`.
    fn scores(sharpness: f64, excess: f64, count: usize) -> Vec<(f32, bool)> {
        let mut rng = Rng::new(3, "test");
        let one = |rng: &mut Rng| {
            let truth = f64::from(rng.unit()).clamp(0.02, 0.98);
            let logit = (truth / (1.0 - truth)).ln() * sharpness + excess;
            ((1.0 / (1.0 + (-logit).exp())) as f32, f64::from(rng.unit()) < truth)
        };
        (0..count).map(|_| one(&mut rng)).collect()
    }

    #[test]
    fn a_model_that_is_too_sure_is_cooled_and_one_that_is_right_stays() {
        let too_sure = Calibration::fit(&scores(2.0, 0.0, 4000)).unwrap();
        assert!((too_sure.scale.temperature - 2.0).abs() < 0.2 && too_sure.scale.bias.abs() < 0.1, "{too_sure:?}");
        assert!(too_sure.error_after < 0.5 * too_sure.error_before && too_sure.error_before > 0.05, "{too_sure:?}");
        let right = Calibration::fit(&scores(1.0, 0.0, 4000)).unwrap();
        assert!((right.scale.temperature - 1.0).abs() < 0.1 && right.error_before < 0.03, "{right:?}");
        assert_eq!(Calibration::fit(&scores(1.0, 0.0, 49)), None);
    }

    #[test]
    fn a_model_that_sees_too_much_is_told_so() {
        let sees_too_much = Calibration::fit(&scores(1.0, 1.5, 4000)).unwrap();
        assert!((sees_too_much.scale.bias + 1.5).abs() < 0.15, "{sees_too_much:?}");
        assert!(sees_too_much.error_before > 0.15 && sees_too_much.error_after < 0.03, "{sees_too_much:?}");
        // All of a few are right: likely, not certain.
        let all_right: Vec<_> = scores(1.0, 0.0, 60).into_iter().map(|(score, _)| (score, true)).collect();
        let scale = Calibration::fit(&all_right).unwrap().scale;
        assert!((0.9..0.999).contains(&scale.apply(0.5)), "{scale:?}");
    }

    #[test]
    fn each_score_is_in_one_bin() {
        let scores = [(0.05, false), (0.95, true), (0.97, true), (1.0, false), (0.5, true)];
        let Reliability { bins } = Reliability::of(&scores, Scale::default());
        let seen: Vec<_> = bins.iter().enumerate().filter(|(_, bin)| bin.count > 0).collect();
        assert_eq!(
            seen.iter().map(|(number, bin)| (*number, bin.count, bin.right)).collect::<Vec<_>>(),
            [(0, 1, 0), (5, 1, 1), (9, 3, 2)]
        );
        let close = |got: Option<f64>, wanted: f64| assert!((got.unwrap() - wanted).abs() < 1e-4, "{got:?} {wanted}");
        close(bins[9].mean_score(), (0.95 + 0.97 + 1.0) / 3.0);
        close(bins[9].share_right(), 2.0 / 3.0);
        close(Reliability { bins }.error(), (0.05 + 0.5 + 0.92) / 5.0);
        assert_eq!((bins[3].mean_score(), bins[3].share_right()), (None, None));
        assert_eq!(Reliability::of(&[], Scale::default()).error(), None);
        // Cooler scores lie elsewhere.
        let cool = Reliability::of(&scores, Scale { temperature: 4.0, bias: 0.0 });
        assert!(cool.bins[9].count < 3, "{cool:?}");
    }

    #[test]
    fn order_stays() {
        let scale = Scale { temperature: 3.0, bias: -1.0 };
        assert!(scale.apply(0.9) < 0.9 && scale.apply(0.9) > scale.apply(0.8));
        assert!(scale.apply(1.0) < 1.0 && scale.apply(0.0) > 0.0);
        assert!((Scale::default().apply(0.3) - 0.3).abs() < 1e-6);
    }
}
