//! What more annotation would bring.
//!
//! Learning curves follow a power law well: `F1(n) = a − b·n^(−c)` with n annotated sentences (Cortes et al. 1993; Figueroa
//! et al. 2012). For each c of a grid, a and b are found by weighted least squares, the later points weighing more, since
//! they are of more sentences and it is their neighbourhood that is forecast.

/// A gain below this, from as many more sentences as are asked about, is hardly worth it.
const LITTLE: f64 = 0.005;

/// Annotated sentences, and the F1 that a model reached on them.
pub type Point = (f64, f64);

/// The gain of F1 that some more sentences bring.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Forecast {
    pub more_sentences: usize,
    pub gain: f64,
    /// Least and greatest gain that a curve through all but one of the points foretells, widened by how far the points lie
    /// from the curve.
    pub low: f64,
    pub high: f64,
}

impl Forecast {
    /// Points that a forecast needs at least.
    pub const FEWEST_POINTS: usize = 4;
    /// Between the first and the last one the number of sentences must have grown at least so many times.
    pub const LEAST_GROWTH: f64 = 2.0;

    /// From the curve so far; `None` where its points are too few or too close together to tell.
    pub fn of(points: &[Point], more_sentences: usize) -> Option<Self> {
        let (first, last) = (points.first()?.0, points.last()?.0);
        if points.len() < Self::FEWEST_POINTS || last < Self::LEAST_GROWTH * first {
            return None;
        }
        // Beyond an F1 of 1 there is nothing to gain, whatever the curve says.
        let room = (1.0 - points.last()?.1).max(0.0);
        let gain_by = |curve: &PowerLaw| (curve.at(last + more_sentences as f64) - curve.at(last)).min(room);
        let whole = PowerLaw::fit(points)?;
        let gain = gain_by(&whole);
        let without = (0..points.len()).filter_map(|left_out| {
            let others: Vec<Point> =
                points.iter().enumerate().filter(|(i, _)| *i != left_out).map(|(_, p)| *p).collect();
            Some(gain_by(&PowerLaw::fit(&others)?))
        });
        let (low, high) = without.fold((gain, gain), |(low, high), gain| (low.min(gain), high.max(gain)));
        let error = whole.error(points) / (points.len() as f64).sqrt();
        Some(Self { more_sentences, gain, low: low - error, high: (high + error).min(room) })
    }

    /// Whether even the greatest gain is little: a reason to stop, or to look at labels again.
    pub fn is_little(&self) -> bool {
        self.high < LITTLE
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

fn weight(point: &Point) -> f64 {
    point.0
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let forecast = Forecast::of(&curve(1.1, 1.2, 0.5, &[20.0, 40.0, 80.0, 125.0]), 100).unwrap();
        let room = 1.2 * 125.0_f64.powf(-0.5) - 0.1;
        assert!((forecast.gain - room).abs() < 1e-9 && (forecast.high - room).abs() < 1e-9, "{forecast:?} {room}");
    }

    #[test]
    fn few_points_or_a_short_way_tell_nothing() {
        assert_eq!(Forecast::of(&curve(0.7, 1.0, 0.5, &[20.0, 60.0, 120.0]), 100), None);
        assert_eq!(Forecast::of(&curve(0.7, 1.0, 0.5, &[100.0, 110.0, 120.0, 130.0]), 100), None);
        assert_eq!(Forecast::of(&[], 100), None);
    }

    #[test]
    fn a_flat_curve_says_stop_and_a_falling_one_promises_nothing() {
        let flat = curve(0.7, 0.0, 0.5, &[100.0, 200.0, 400.0, 800.0]);
        assert!(Forecast::of(&flat, 100).unwrap().is_little());
        let falling = [(100.0, 0.7), (200.0, 0.69), (400.0, 0.68), (800.0, 0.66)];
        assert!(Forecast::of(&falling, 100).unwrap().gain.abs() < 1e-9);
    }
}
