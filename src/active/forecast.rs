//! What more annotation would bring.
//!
//! Learning curves follow a power law well: `F1(n) = a − b·n^(−c)` with n annotated sentences (Cortes et al. 1993; Figueroa
//! et al. 2012). For each c of a grid, a and b are found by weighted least squares, the later points weighing more, since
//! they are of more sentences and it is their neighbourhood that is forecast.

/// A gain below this, from as many more sentences as are asked about, is hardly worth it.
const LITTLE: f64 = 0.005;
/// A point of F1.
const POINT: f64 = 0.01;

/// Of a power law.
const PARAMETERS: usize = 3;
/// Points that are left out in turn, at most.
const MOST_LEFT_OUT: usize = 40;

/// Annotated sentences, and the F1 that a model reached on them.
pub type Point = (f64, f64);

/// The gain of F1 that some more sentences bring.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Forecast {
    pub more_sentences: usize,
    pub gain: f64,
    /// Least and greatest gain that a curve through all but one of the points foretells, widened by how far points as few
    /// as these may lie from the curve: of made-up curves with noise about nine in ten had their true gain in between.
    pub low: f64,
    pub high: f64,
}

impl Forecast {
    /// Points that a forecast needs at least.
    pub const FEWEST_POINTS: usize = 5;
    /// Between the first and the last one the number of sentences must have grown at least so many times.
    pub const LEAST_GROWTH: f64 = 2.0;

    /// From the curve so far; `None` where its points are too few or too close together to tell.
    pub fn of(points: &[Point], more_sentences: usize) -> Option<Self> {
        Some(Outlook::of(points)?.after(more_sentences))
    }

    /// Whether even the greatest gain is little: a reason to stop, or to look at labels again.
    pub fn is_little(&self) -> bool {
        self.high < LITTLE
    }
}

/// How many more sentences the next point of F1 takes; `None` where [`NextPoint::FARTHEST`] times those that there are
/// don't bring it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NextPoint {
    pub about: Option<usize>,
    /// As many bring it where the gain is the highest of [`Forecast`]'s band, the lowest.
    pub least: Option<usize>,
    pub most: Option<usize>,
}

impl NextPoint {
    /// So many times the sentences that there are: what lies beyond no curve can tell.
    pub const FARTHEST: usize = 10;

    /// From the curve so far; `None` where there is no forecast.
    pub fn of(points: &[Point]) -> Option<Self> {
        let outlook = Outlook::of(points)?;
        let farthest = Self::FARTHEST * outlook.last.ceil() as usize;
        let first = |gain: &dyn Fn(Forecast) -> f64| {
            // Each of the three gains grows with the sentences.
            let reaches = |more: usize| gain(outlook.after(more)) >= POINT;
            let (mut too_few, mut enough) = (0, farthest);
            if !reaches(enough) {
                return None;
            }
            while enough - too_few > 1 {
                let middle = too_few + (enough - too_few) / 2;
                if reaches(middle) { enough = middle } else { too_few = middle }
            }
            Some(enough)
        };
        Some(Self { about: first(&|f| f.gain), least: first(&|f| f.high), most: first(&|f| f.low) })
    }
}

/// The curves that a forecast is read from.
struct Outlook {
    whole: PowerLaw,
    /// Those through all but one of the points.
    others: Vec<PowerLaw>,
    /// Sentences of the last point.
    last: f64,
    /// Beyond an F1 of 1 there is nothing to gain, whatever a curve says.
    room: f64,
    /// How far a point as these may lie from the curve.
    error: f64,
}

impl Outlook {
    fn of(points: &[Point]) -> Option<Self> {
        let (first, (last, f1)) = (points.first()?.0, *points.last()?);
        if points.len() < Forecast::FEWEST_POINTS || last < Forecast::LEAST_GROWTH * first {
            return None;
        }
        let whole = PowerLaw::fit(points)?;
        // Of many points it is enough to leave out some.
        let every = points.len().div_ceil(MOST_LEFT_OUT);
        let without = (0..points.len()).step_by(every).filter_map(|left_out| {
            let others: Vec<Point> =
                points.iter().enumerate().filter(|(i, _)| *i != left_out).map(|(_, p)| *p).collect();
            PowerLaw::fit(&others)
        });
        let others = without.collect();
        let freedom = points.len().saturating_sub(PARAMETERS).max(1);
        let error = whole.error(points) * students_t(freedom) / (freedom as f64).sqrt();
        Some(Self { whole, others, last, room: (1.0 - f1).max(0.0), error })
    }

    fn after(&self, more_sentences: usize) -> Forecast {
        let Self { last, room, error, .. } = *self;
        let gain_by = |curve: &PowerLaw| (curve.at(last + more_sentences as f64) - curve.at(last)).min(room);
        let gain = gain_by(&self.whole);
        let gains = self.others.iter().map(gain_by);
        let (low, high) = gains.fold((gain, gain), |(low, high), gain| (low.min(gain), high.max(gain)));
        Forecast { more_sentences, gain, low: low - error, high: (high + error).min(room) }
    }
}

/// `a − b·n^(−c)`, b and c not negative.
#[derive(Clone, Copy, PartialEq, Debug)]
struct PowerLaw {
    a: f64,
    b: f64,
    c: f64,
}

impl PowerLaw {
    fn fit(points: &[Point]) -> Option<Self> {
        let exponents = (1..=40).map(|step| f64::from(step) * 0.05);
        let fits = exponents.filter_map(|c| Self::fit_with(points, c));
        fits.min_by(|x, y| x.error(points).total_cmp(&y.error(points)))
    }

    fn fit_with(points: &[Point], c: f64) -> Option<Self> {
        // A straight line through (n^-c, F1): its slope is -b.
        let total: f64 = points.iter().map(weight).sum();
        let mean = |of: &dyn Fn(&Point) -> f64| points.iter().map(|p| weight(p) * of(p)).sum::<f64>() / total;
        let x = |p: &Point| p.0.powf(-c);
        let (mean_x, mean_y) = (mean(&x), mean(&|p| p.1));
        let covariance = mean(&|p| (x(p) - mean_x) * (p.1 - mean_y));
        let variance = mean(&|p| (x(p) - mean_x).powi(2));
        if variance <= 0.0 {
            return None;
        }
        // A curve that falls says nothing of what more would bring: then it is flat.
        let b = (-covariance / variance).max(0.0);
        Some(Self { a: mean_y + b * mean_x, b, c })
    }

    fn at(&self, n: f64) -> f64 {
        self.a - self.b * n.powf(-self.c)
    }

    /// Weighted root of the mean squared distance.
    fn error(&self, points: &[Point]) -> f64 {
        let total: f64 = points.iter().map(weight).sum();
        let squares: f64 = points.iter().map(|p| weight(p) * (p.1 - self.at(p.0)).powi(2)).sum();
        (squares / total).sqrt()
    }
}

/// Between plus and minus this lie 95 % of Student's distribution with so many degrees of freedom.
fn students_t(freedom: usize) -> f64 {
    const FIRST: [f64; 10] = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23];
    // From there on within a hundredth: 1.96 without end, a little more before.
    FIRST.get(freedom.saturating_sub(1)).copied().unwrap_or(1.96 + 2.6 / freedom as f64)
}

fn weight(point: &Point) -> f64 {
    point.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::Rng;

    fn curve(a: f64, b: f64, c: f64, at: &[f64]) -> Vec<Point> {
        at.iter().map(|&n| (n, a - b * n.powf(-c))).collect()
    }

    #[test]
    fn a_power_law_is_found_again() {
        let points = curve(0.75, 1.2, 0.4, &[20.0, 60.0, 120.0, 250.0, 500.0]);
        let forecast = Forecast::of(&points, 100).unwrap();
        let want = 1.2 * (500.0_f64.powf(-0.4) - 600.0_f64.powf(-0.4));
        assert!((forecast.gain - want).abs() < 1e-6, "{forecast:?} {want}");
        assert!(forecast.low <= forecast.gain && forecast.gain <= forecast.high);
        assert!(forecast.high - forecast.low < 1e-6, "all points are on the curve: {forecast:?}");
        assert!(!forecast.is_little());
    }

    #[test]
    fn noise_makes_the_band_wide() {
        let mut points = curve(0.75, 1.2, 0.4, &[20.0, 60.0, 120.0, 250.0, 500.0]);
        for (i, point) in points.iter_mut().enumerate() {
            point.1 += if i % 2 == 0 { 0.02 } else { -0.02 };
        }
        let forecast = Forecast::of(&points, 100).unwrap();
        assert!(forecast.high - forecast.low > 0.01, "{forecast:?}");
    }

    #[test]
    fn more_than_all_is_not_promised() {
        let forecast = Forecast::of(&curve(1.1, 1.2, 0.5, &[20.0, 40.0, 60.0, 80.0, 125.0]), 100).unwrap();
        let room = 1.2 * 125.0_f64.powf(-0.5) - 0.1;
        assert!((forecast.gain - room).abs() < 1e-9 && (forecast.high - room).abs() < 1e-9, "{forecast:?} {room}");
    }

    #[test]
    fn the_next_point_is_as_far_as_the_curve_says() {
        let points = curve(0.75, 1.2, 0.4, &[20.0, 60.0, 120.0, 250.0, 500.0]);
        let next = NextPoint::of(&points).unwrap();
        let gain = |more: usize| 1.2 * (500.0_f64.powf(-0.4) - (500.0 + more as f64).powf(-0.4));
        let about = next.about.unwrap();
        assert!(gain(about) >= 0.01 - 1e-6 && gain(about - 1) < 0.01 + 1e-6, "{about}");
        assert!(next.least <= next.about && next.about <= next.most, "{next:?}");
        let mut noisy = points;
        noisy.iter_mut().enumerate().for_each(|(i, point)| point.1 += if i % 2 == 0 { 0.02 } else { -0.02 });
        let next = NextPoint::of(&noisy).unwrap();
        assert_eq!((next.least, next.most), (Some(1), None), "noise of two points hides one");
        let flat = curve(0.7, 0.0, 0.5, &[100.0, 200.0, 400.0, 600.0, 800.0]);
        assert_eq!(NextPoint::of(&flat).unwrap().about, None);
    }

    #[test]
    fn few_points_or_a_short_way_tell_nothing() {
        assert_eq!(Forecast::of(&curve(0.7, 1.0, 0.5, &[20.0, 60.0, 90.0, 120.0]), 100), None);
        assert_eq!(Forecast::of(&curve(0.7, 1.0, 0.5, &[100.0, 110.0, 120.0, 130.0, 140.0]), 100), None);
        assert_eq!(Forecast::of(&[], 100), None);
    }

    #[test]
    fn a_flat_curve_says_stop_and_a_falling_one_promises_nothing() {
        let flat = curve(0.7, 0.0, 0.5, &[100.0, 200.0, 400.0, 600.0, 800.0]);
        assert!(Forecast::of(&flat, 100).unwrap().is_little());
        let falling = [(100.0, 0.7), (200.0, 0.69), (400.0, 0.68), (600.0, 0.67), (800.0, 0.66)];
        assert!(Forecast::of(&falling, 100).unwrap().gain.abs() < 1e-9);
        // Level by chance, with a few sentences to score on.
        let level = [(20.0, 0.50), (35.0, 0.52), (50.0, 0.50), (65.0, 0.51), (80.0, 0.505)];
        assert!(!Forecast::of(&level, 100).unwrap().is_little());
    }

    #[test]
    fn nine_of_ten_bands_hold_the_true_gain_and_are_no_wider_than_they_must_be() {
        let cases = [(5, 0.005, 0.045), (5, 0.02, 0.15), (6, 0.01, 0.045), (8, 0.02, 0.055), (12, 0.01, 0.017)];
        for (points, noise, widest) in cases {
            let mut rng = Rng::new(points, "made-up learning curves");
            let mut hold = || {
                let between = |rng: &mut Rng, low: f32, high: f32| f64::from(low + (high - low) * rng.unit());
                let (a, c) = (between(&mut rng, 0.6, 0.85), between(&mut rng, 0.3, 1.0));
                let b = (a - between(&mut rng, 0.2, 0.4)) * 20_f64.powf(c);
                let step = [1.25, 1.5, 2.0][rng.below(3)];
                let at: Vec<f64> = (0..points).map(|i| 20.0 * f64::powf(step, i as f64)).collect();
                let mut points = curve(a, b, c, &at);
                points.iter_mut().for_each(|point| point.1 += noise * f64::from(rng.normal()));
                let forecast = Forecast::of(&points, 100).unwrap();
                let last = at[at.len() - 1];
                let truth = b * (last.powf(-c) - (last + 100.0).powf(-c));
                ((forecast.low..=forecast.high).contains(&truth), forecast.high - forecast.low)
            };
            let (held, mut widths): (Vec<bool>, Vec<f64>) = (0..300).map(|_| hold()).unzip();
            widths.sort_by(f64::total_cmp);
            let held = held.into_iter().filter(|held| *held).count();
            assert!(held >= 255, "{held} of 300 with {points} points and a noise of {noise}");
            let width = widths[150];
            assert!(width < widest, "half are wider than {width} with {points} points and a noise of {noise}");
        }
    }
}
