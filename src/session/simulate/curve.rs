//! Runs of one strategy with several seeds as one curve.

use super::record::{PointRecord, RunRecord};

/// The learning curve of a strategy.
#[derive(Clone, PartialEq, Debug)]
pub struct Curve {
    pub strategy: String,
    pub runs: usize,
    pub points: Vec<CurvePoint>,
    /// Share of the actions that suggestions save, a pair of points: mean of the runs.
    pub saved: Vec<Option<f64>>,
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
        let curve =
            |name: &str| Self::of_strategy(name, &runs.iter().filter(|r| r.strategy == name).collect::<Vec<_>>());
        names.into_iter().map(curve).collect()
    }

    fn of_strategy(name: &str, runs: &[&RunRecord]) -> Self {
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
        let saved = (0..longest).map(|number| {
            let of_run = |run: &&&RunRecord| saved_before(&run.points, number);
            let (sum, count) = runs.iter().filter_map(|run| of_run(&run)).fold((0.0, 0), |(s, n), x| (s + x, n + 1));
            (count > 0).then(|| sum / f64::from(count))
        });
        Self { strategy: name.to_owned(), runs: runs.len(), points: points.collect(), saved: saved.collect() }
    }

    /// How many tokens it takes to reach an F1 for the first time, with straight lines between the points; `None` where it
    /// is not reached.
    pub fn tokens_for(&self, f1: f64) -> Option<f64> {
        let mut before = (0.0, 0.0);
        for point in &self.points {
            if point.f1 >= f1 {
                let share = if point.f1 > before.1 { (f1 - before.1) / (point.f1 - before.1) } else { 1.0 };
                return Some(before.0 + share * (point.tokens - before.0));
            }
            before = (point.tokens, point.f1);
        }
        None
    }
}

/// Share of the actions saved between a point and the one before.
fn saved_before(points: &[PointRecord], number: usize) -> Option<f64> {
    let point = points.get(number)?;
    let before = number.checked_sub(1).and_then(|n| points.get(n));
    let (actions, from_scratch) = before.map_or((0, 0), |p| (p.actions, p.actions_from_scratch));
    let (actions, from_scratch) = (point.actions - actions, point.actions_from_scratch - from_scratch);
    (from_scratch > 0).then(|| 1.0 - actions as f64 / from_scratch as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(strategy: &str, points: &[(usize, f64, usize)]) -> RunRecord {
        let point = |&(tokens, f1, actions): &(usize, f64, usize)| PointRecord {
            tokens,
            f1,
            actions,
            actions_from_scratch: 2 * tokens,
            ..PointRecord::default()
        };
        RunRecord { strategy: strategy.into(), points: points.iter().map(point).collect(), ..RunRecord::default() }
    }

    #[test]
    fn curves_are_means_and_say_when_they_reach_what() {
        let runs = [
            run("random", &[(100, 0.2, 200), (200, 0.4, 300)]),
            run("default", &[(100, 0.3, 200)]),
            run("random", &[(120, 0.3, 240), (240, 0.5, 480)]),
        ];
        let curves = Curve::of_runs(&runs);
        assert_eq!(
            curves.iter().map(|c| (c.strategy.as_str(), c.runs)).collect::<Vec<_>>(),
            [("random", 2), ("default", 1)]
        );
        let [random, default] = curves.as_slice() else { panic!("two curves") };
        assert_eq!((random.points[1].tokens, random.points[1].low, random.points[1].high), (220.0, 0.4, 0.5));
        assert!((random.tokens_for(0.35).unwrap() - 165.0).abs() < 1e-9);
        assert_eq!(default.tokens_for(0.31), None);
        // 100 of 200 actions in the second stretch of one run, none in that of the other.
        assert_eq!(random.saved, [Some(0.0), Some(0.25)]);
    }
}
