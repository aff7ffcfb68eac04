//! Runs of one strategy with several seeds as one curve.

use super::record::{PointRecord, RunRecord};

/// What other strategies are compared with.
const BASELINE: &str = "random";

/// The learning curve of a strategy.
#[derive(Clone, PartialEq, Debug)]
pub struct Curve {
    pub strategy: String,
    pub runs: usize,
    pub points: Vec<CurvePoint>,
    /// `None` of `random` itself, and where no seed has both.
    pub above_random: Option<AboveRandom>,
}

/// How far F1 lies above that of `random` with the same seed and as many tokens read: the mean over doublings of the
/// tokens, from where both curves are there to where the first ends. Sentences are no measure: strategies ask for longer or
/// shorter ones.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AboveRandom {
    /// Of the seeds.
    pub mean: f64,
    pub low: f64,
    pub high: f64,
}

/// Means of the runs that have come as far.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CurvePoint {
    pub sentences: usize,
    pub tokens: f64,
    pub f1: f64,
    /// Least and greatest F1 of a run.
    pub low: f64,
    pub high: f64,
}

impl Curve {
    /// In the order in which strategies first appear.
    pub(super) fn of_runs(runs: &[RunRecord]) -> Vec<Self> {
        let mut names: Vec<&str> = Vec::new();
        for run in runs {
            if !names.contains(&run.strategy.as_str()) {
                names.push(&run.strategy);
            }
        }
        let curve = |name: &str| Self::of_strategy(name, &of_name(runs, name), &of_name(runs, BASELINE));
        names.into_iter().map(curve).collect()
    }

    fn of_strategy(name: &str, runs: &[&RunRecord], random: &[&RunRecord]) -> Self {
        let longest = runs.iter().map(|run| run.points.len()).max().unwrap_or(0);
        let at = |number: usize| runs.iter().filter_map(move |run| run.points.get(number));
        let points = (0..longest).map(|number| {
            let count = at(number).count().max(1) as f64;
            CurvePoint {
                sentences: at(number).map(|p| p.sentences).max().unwrap_or(0),
                tokens: at(number).map(|p| p.tokens as f64).sum::<f64>() / count,
                f1: at(number).map(|p| p.f1).sum::<f64>() / count,
                low: at(number).map(|p| p.f1).fold(f64::INFINITY, f64::min),
                high: at(number).map(|p| p.f1).fold(f64::NEG_INFINITY, f64::max),
            }
        });
        let random = if name == BASELINE { &[] } else { random };
        let gaps = runs.iter().filter_map(|run| {
            let same_seed = random.iter().find(|random| random.seed == run.seed)?;
            mean_gap(&run.points, &same_seed.points)
        });
        let gaps: Vec<f64> = gaps.collect();
        let above_random = (!gaps.is_empty()).then(|| AboveRandom {
            mean: gaps.iter().sum::<f64>() / gaps.len() as f64,
            low: gaps.iter().copied().fold(f64::INFINITY, f64::min),
            high: gaps.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        });
        Self { strategy: name.to_owned(), runs: runs.len(), points: points.collect(), above_random }
    }

    /// How many tokens it takes to reach an F1 for the first time: between two points a curve is nearly straight in the
    /// logarithm of the tokens, before the first one in the tokens. `None` where it is not reached.
    pub fn tokens_for(&self, f1: f64) -> Option<f64> {
        let reached = self.points.iter().position(|point| point.f1 >= f1)?;
        let point = self.points.get(reached)?;
        let Some(before) = reached.checked_sub(1).and_then(|before| self.points.get(before)) else {
            return Some(if point.f1 > 0.0 { point.tokens * f1.max(0.0) / point.f1 } else { 0.0 });
        };
        let share = (f1 - before.f1) / (point.f1 - before.f1);
        Some(before.tokens * (point.tokens / before.tokens).powf(share))
    }
}

fn of_name<'r>(runs: &'r [RunRecord], name: &str) -> Vec<&'r RunRecord> {
    runs.iter().filter(|run| run.strategy == name).collect()
}

/// Mean of `a`'s F1 less `b`'s over the logarithm of the tokens, where there are both. Curves are nearly straight in it.
fn mean_gap(a: &[PointRecord], b: &[PointRecord]) -> Option<f64> {
    let line = |points: &[PointRecord]| -> Vec<(f64, f64)> {
        points.iter().map(|p| ((p.tokens.max(1) as f64).ln(), p.f1)).collect()
    };
    let (a, b) = (line(a), line(b));
    let (from, to) = (a.first()?.0.max(b.first()?.0), a.last()?.0.min(b.last()?.0));
    let mut places: Vec<f64> = a.iter().chain(&b).map(|(x, _)| *x).filter(|x| (from..=to).contains(x)).collect();
    places.sort_unstable_by(f64::total_cmp);
    let gaps = places.iter().map(|&x| Some((x, height_at(&a, x)? - height_at(&b, x)?)));
    let gaps = gaps.collect::<Option<Vec<(f64, f64)>>>()?;
    let pairs = gaps.iter().zip(gaps.iter().skip(1));
    let area: f64 = pairs.map(|((x, gap), (next_x, next_gap))| (next_x - x) * f64::midpoint(*gap, *next_gap)).sum();
    (to > from).then(|| area / (to - from))
}

/// Of a line through points.
fn height_at(line: &[(f64, f64)], x: f64) -> Option<f64> {
    let before = line.iter().rfind(|p| p.0 <= x)?;
    let after = line.iter().find(|p| p.0 >= x)?;
    let width = after.0 - before.0;
    let share = if width > 0.0 { (x - before.0) / width } else { 0.0 };
    Some(before.1 + share * (after.1 - before.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(strategy: &str, points: &[(usize, f64)]) -> RunRecord {
        let point = |&(tokens, f1): &(usize, f64)| PointRecord { tokens, f1, ..PointRecord::default() };
        RunRecord { strategy: strategy.into(), points: points.iter().map(point).collect(), ..RunRecord::default() }
    }

    #[test]
    fn curves_are_means_and_say_when_they_reach_what() {
        let runs = [
            run("random", &[(100, 0.2), (200, 0.4)]),
            run("default", &[(100, 0.3)]),
            run("random", &[(120, 0.3), (240, 0.5)]),
        ];
        let curves = Curve::of_runs(&runs);
        assert_eq!(
            curves.iter().map(|c| (c.strategy.as_str(), c.runs)).collect::<Vec<_>>(),
            [("random", 2), ("default", 1)]
        );
        let [random, default] = curves.as_slice() else { panic!("two curves") };
        assert_eq!((random.points[1].tokens, random.points[1].low, random.points[1].high), (220.0, 0.4, 0.5));
        // Means of .25 with 110 tokens and .45 with 220.
        assert!((random.tokens_for(0.35).unwrap() - 110.0 * 2_f64.sqrt()).abs() < 1e-9);
        assert!((random.tokens_for(0.05).unwrap() - 22.0).abs() < 1e-9);
        assert_eq!(default.tokens_for(0.31), None);
        // The default is seen at one point only, and no stretch has both curves.
        assert_eq!((random.above_random, default.above_random), (None, None));
    }

    #[test]
    fn strategies_are_compared_with_random_of_the_same_seed_at_equal_tokens() {
        let of_seed = |seed, run: RunRecord| RunRecord { seed, ..run };
        let runs = [
            of_seed(1, run("random", &[(100, 0.2), (400, 0.4)])),
            of_seed(2, run("random", &[(100, 0.2), (400, 0.4)])),
            // A tenth above wherever both are: with 100 tokens, and with 200, where random has .3.
            of_seed(1, run("bald", &[(50, 0.1), (100, 0.3), (200, 0.4)])),
            of_seed(2, run("bald", &[(100, 0.2), (400, 0.4)])),
            of_seed(3, run("bald", &[(100, 0.9), (400, 0.9)])),
        ];
        let curves = Curve::of_runs(&runs);
        assert_eq!(curves[0].above_random, None);
        let AboveRandom { mean, low, high } = curves[1].above_random.unwrap();
        for (got, want) in [(mean, 0.05), (low, 0.0), (high, 0.1)] {
            assert!((got - want).abs() < 1e-9, "{got} instead of {want}");
        }
    }
}
