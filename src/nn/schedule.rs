//! The learning rate over the steps of a run.

/// Linear from 0 up over the first steps, then linear down to 0 at the last.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinearSchedule {
    warmup_steps: f64,
    steps: f64,
}

impl LinearSchedule {
    /// `warmup` is a share of the steps in [0, 1].
    pub fn new(steps: usize, warmup: f64) -> Self {
        let steps = steps.max(1) as f64;
        Self { warmup_steps: (warmup.clamp(0.0, 1.0) * steps).max(1.0), steps }
    }

    /// The factor of the learning rate at a step counted from 0; above 0 for every step below the total.
    pub fn factor(&self, step: usize) -> f64 {
        let step = step as f64;
        let up = (step + 1.0) / self.warmup_steps;
        let down = (self.steps - step) / (self.steps - self.warmup_steps).max(1.0);
        up.min(down).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn rises_then_falls() {
        let schedule = LinearSchedule::new(10, 0.2);
        let factors: Vec<String> = (0..11).map(|s| format!("{:.3}", schedule.factor(s))).collect();
        expect!["0.500 1.000 1.000 0.875 0.750 0.625 0.500 0.375 0.250 0.125 0.000"].assert_eq(&factors.join(" "));
    }

    #[test]
    fn every_step_of_a_short_run_learns() {
        for (steps, warmup) in [(1, 0.1), (2, 0.0), (3, 1.0)] {
            let schedule = LinearSchedule::new(steps, warmup);
            assert!((0..steps).all(|s| schedule.factor(s) > 0.0));
        }
    }
}
