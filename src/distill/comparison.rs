//! What a student learns from a batch: its error against the teacher's hidden states, and the gradients of that.

use crate::encoder::{Alignment, Bert, Encoder, EncoderBatch, Start, Tape};
use crate::nn::batches::Size;
use crate::nn::kernels::add_row;
use crate::nn::{Gradients, Mode, NnError, Rng, as_slice};
use candle_core::Tensor;

/// A sentence laid out for both; the student's is `None` where it is the teacher's.
pub(super) struct SentencePair {
    pub(super) teacher: Alignment,
    pub(super) student: Option<Alignment>,
}

impl SentencePair {
    pub(super) fn student(&self) -> &Alignment {
        self.student.as_ref().unwrap_or(&self.teacher)
    }

    pub(super) fn size(&self) -> Size {
        Size { longest: self.teacher.positions(), all: self.teacher.rows() }
    }
}

/// Sentences laid out for both, and which rows stand for the same.
pub(super) struct BatchPair {
    teacher: EncoderBatch,
    pub(super) student: EncoderBatch,
    pub(super) pairs: Vec<(usize, usize)>,
}

impl BatchPair {
    pub(super) fn new<'a>(
        sentences: impl Iterator<Item = &'a SentencePair>,
        [teacher, student]: [&Encoder; 2],
    ) -> Self {
        let both: Vec<(&Alignment, &Alignment)> = sentences.map(|s| (&s.teacher, s.student())).collect();
        let (of_teacher, of_student): (Vec<_>, Vec<_>) = both.iter().copied().unzip();
        let pieces = |encoder: &Encoder| encoder.definition().subwords().pieces();
        Self {
            teacher: EncoderBatch::new(&of_teacher, pieces(teacher)),
            student: EncoderBatch::new(&of_student, pieces(student)),
            pairs: batch_pairs(&both),
        }
    }
}

/// What the passes work in, one after the other.
#[derive(Default)]
pub(super) struct Comparison {
    teacher: Tape,
    pub(super) student: Tape,
    pub(super) gradients: Gradients,
    /// Of the student's hidden states, from the first block on.
    pub(super) grads: Vec<Vec<f32>>,
}

impl Comparison {
    /// The mean of the blocks' errors; leaves the gradients.
    pub(super) fn compare(
        &mut self,
        batch: &BatchPair,
        teacher: &Bert,
        student: &Bert,
        targets: &[usize],
    ) -> Result<f64, NnError> {
        let mode = &mut Mode::Train(&mut Rng::new(0, "no dropout"));
        student.forward(&batch.student, Start::Words, mode, &mut self.student)?;
        self.grads.resize_with(targets.len(), Vec::new);
        let (mut sum, mut below) = (0.0, None::<(usize, Tensor)>);
        for (block, (&target, grad)) in targets.iter().zip(&mut self.grads).enumerate() {
            let below_states =
                below.as_ref().map(|(number, states)| Ok::<_, NnError>((*number, as_slice(states)?))).transpose()?;
            let start = below_states.as_ref().map_or(Start::Words, |(number, states)| Start::States(*number, states));
            let states = teacher.forward_to(&batch.teacher, start, target, &mut Mode::Predict, &mut self.teacher)?;
            let weight = 1.0 / targets.len() as f64;
            sum += error(
                &as_slice(&states)?,
                self.student.states(block + 1),
                &batch.pairs,
                student.hidden(),
                weight,
                grad,
            );
            drop(below_states);
            below = Some((target, states));
        }
        Ok(sum / targets.len().max(1) as f64)
    }
}

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
fn batch_pairs(sentences: &[(&Alignment, &Alignment)]) -> Vec<(usize, usize)> {
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
fn error(
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
