//! What a student learns from a batch: its error against the teacher's hidden states, and the gradients of that.

use crate::encoder::Alignment;
use crate::nn::kernels::add_row;

/// Rows of the teacher's and of the student's hidden states that stand for the same, in a sentence laid out by both: all of
/// them where both take its words apart into as many subwords, else those where words begin and end.
fn pairs(teacher: &Alignment, student: &Alignment) -> Vec<(usize, usize)> {
    let lengths = |alignment: &Alignment| alignment.windows().iter().map(|w| w.positions).collect::<Vec<_>>();
    let (of_teacher, of_student) = (lengths(teacher), lengths(student));
    if of_teacher == of_student {
        return (0..of_teacher.iter().sum()).map(|row| (row, row)).collect();
    }
    let start = |lengths: &[usize], window: usize| lengths.iter().take(window).sum::<usize>();
    let mut pairs = Vec::new();
    for (t, s) in teacher.words().iter().zip(student.words()) {
        let (from_t, from_s) = (start(&of_teacher, t.window), start(&of_student, s.window));
        pairs.push((from_t + t.first, from_s + s.first));
        if t.last > t.first || s.last > s.first {
            pairs.push((from_t + t.last, from_s + s.last));
        }
    }
    pairs
}

/// The pairs of a whole batch.
pub(super) fn batch_pairs(sentences: &[(&Alignment, &Alignment)]) -> Vec<(usize, usize)> {
    let (mut all, mut from_t, mut from_s) = (Vec::new(), 0, 0);
    for (teacher, student) in sentences {
        all.extend(pairs(teacher, student).into_iter().map(|(t, s)| (from_t + t, from_s + s)));
        from_t += teacher.rows();
        from_s += student.rows();
    }
    all
}

/// The squared distance of the student's hidden states from the teacher's, both with rows of `h` numbers, as a share of how
/// far the teacher's are from their mean: 0 is a perfect student, 1 one that gives the mean. `gradient` gets that of
/// `weight` times it.
pub(super) fn error(
    teacher: &[f32],
    student: &[f32],
    pairs: &[(usize, usize)],
    h: usize,
    weight: f64,
    gradient: &mut Vec<f32>,
) -> f64 {
    gradient.clear();
    gradient.resize(student.len(), 0.0);
    let row = |i: usize| i * h..(i + 1) * h;
    let mut mean = vec![0f32; h];
    for (t, _) in pairs {
        add_row(&mut mean, &teacher[row(*t)]);
    }
    mean.iter_mut().for_each(|x| *x /= pairs.len().max(1) as f32);
    let (mut squares, mut spread) = (0f64, 0f64);
    for (t, s) in pairs {
        let (t, s, gradient) = (&teacher[row(*t)], &student[row(*s)], &mut gradient[row(*s)]);
        let (mut off, mut far) = (0f32, 0f32);
        for (((t, s), mean), gradient) in t.iter().zip(s).zip(&mean).zip(gradient) {
            *gradient = s - t;
            off += *gradient * *gradient;
            far += (t - mean) * (t - mean);
        }
        squares += f64::from(off);
        spread += f64::from(far);
    }
    let spread = spread.max(f64::MIN_POSITIVE);
    let factor = (2.0 * weight / spread) as f32;
    gradient.iter_mut().for_each(|x| *x *= factor);
    squares / spread
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::Rng;

    #[test]
    fn the_gradient_is_the_slope_of_the_error() {
        let (h, mut rng) = (3, Rng::new(1, "states"));
        let mut numbers = |rows: usize| (0..rows * h).map(|_| rng.normal()).collect::<Vec<f32>>();
        let (teacher, mut student) = (numbers(4), numbers(5));
        let pairs = [(0, 0), (1, 2), (3, 4)];
        let (mut gradient, mut unused) = (Vec::new(), Vec::new());
        let at = error(&teacher, &student, &pairs, h, 0.5, &mut gradient);
        assert!(at > 0.0);
        for i in 0..student.len() {
            let before = student[i];
            let mut moved = |by: f32| {
                student[i] = before + by;
                0.5 * error(&teacher, &student, &pairs, h, 1.0, &mut unused)
            };
            let slope = (moved(1e-2) - moved(-1e-2)) / 2e-2;
            student[i] = before;
            assert!((slope - f64::from(gradient[i])).abs() < 1e-4, "{i}: {slope} {}", gradient[i]);
        }
        let same: Vec<f32> = teacher[..].to_vec();
        assert_eq!(error(&teacher, &same, &[(0, 0), (1, 1)], h, 1.0, &mut unused), 0.0);
    }
}
