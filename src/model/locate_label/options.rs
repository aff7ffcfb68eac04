//! What can be set, and what the numbers are without: those of the paper's Table 6 for GENIA, and its λ.

use super::seeds::Drawing;
use super::soft_nms::SoftNms;
use crate::model::{OptionDefault, OptionError, OptionSpec, OptionValues, WORD_SHAPE_FEATURES};
use crate::parameter::{Kind, Value};

/// Not the max width of other architectures, which says what can be found: here that has no bound.
const LONGEST_SEED: OptionSpec = OptionSpec {
    name: "longest_seed",
    takes: Kind::Whole(1, 1000),
    default: OptionDefault::Fixed(Value::Whole(15)),
    shapes_weights: false,
    help: "longest seed in words; mentions may be wider",
};
/// With [`LONGEST_SEED`] it says which lengths train: 1-7, 9, 11, 13, 15 by default; 10 and 10 give GENIA's 1-10.
const EVERY_LENGTH_TO: OptionSpec = OptionSpec {
    name: "every_length_to",
    takes: Kind::Whole(1, 1000),
    default: OptionDefault::Fixed(Value::Whole(7)),
    shapes_weights: false,
    help: "seeds of all lengths up to this train, then every second",
};
const ALPHA_1: OptionSpec = share("alpha1", 0.7, "overlap (IoU) that makes a seed positive");
const ALPHA_2: OptionSpec = share("alpha2", 1.0, "overlap that labels a moved span");
const ETA: OptionSpec = OptionSpec {
    name: "eta",
    takes: Kind::Real(0.0, 10.0),
    default: OptionDefault::Fixed(Value::Real(1.0)),
    shapes_weights: false,
    help: "how much less partial overlaps count",
};
const NEGATIVES: OptionSpec = OptionSpec {
    name: "seed_negatives",
    takes: Kind::Whole(1, 1000),
    default: OptionDefault::Fixed(Value::Whole(5)),
    shapes_weights: false,
    help: "negative seeds per positive one",
};
/// λ₂ of Eq. 17; λ₁ and λ₃ are 1.
const REGRESSION_WEIGHT: OptionSpec = OptionSpec {
    name: "regression_weight",
    takes: Kind::Real(0.0, 100.0),
    default: OptionDefault::Fixed(Value::Real(0.1)),
    shapes_weights: false,
    help: "weight of the boundaries' loss",
};
/// The authors' program keeps what is more probable than 1/6.
const FILTER: OptionSpec = share("filter", 0.1667, "probability that keeps a seed");
/// u, k and δ of Eq. 18.
const NMS_DECAY: OptionSpec = share("nms_decay", 0.9, "factor of scores beside a better span");
const NMS_IOU: OptionSpec = share("nms_iou", 0.7, "overlap that is beside");
const NMS_THRESHOLD: OptionSpec = OptionSpec {
    name: "nms_threshold",
    takes: Kind::Real(0.0, 100.0),
    default: OptionDefault::Fixed(Value::Real(0.45)),
    shapes_weights: false,
    help: "score above which a span is a mention",
};

const fn share(name: &'static str, default: f64, help: &'static str) -> OptionSpec {
    OptionSpec {
        name,
        takes: Kind::Real(0.0, 1.0),
        default: OptionDefault::Fixed(Value::Real(default)),
        shapes_weights: false,
        help,
    }
}

pub(super) const OPTIONS: &[OptionSpec] = &[
    LONGEST_SEED,
    EVERY_LENGTH_TO,
    ALPHA_1,
    ALPHA_2,
    ETA,
    NEGATIVES,
    REGRESSION_WEIGHT,
    FILTER,
    NMS_DECAY,
    NMS_IOU,
    NMS_THRESHOLD,
    WORD_SHAPE_FEATURES,
];

/// The values of [`OPTIONS`].
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Settings {
    /// Seeds of all lengths up to this are asked for in prediction.
    pub longest_seed: usize,
    /// Lengths of the seeds that train, in order.
    pub lengths: Vec<usize>,
    pub drawing: Drawing,
    /// α₂
    pub least_iou: f32,
    /// η
    pub focus: f32,
    /// λ₂
    pub regression_weight: f64,
    /// Probability from which the filter keeps a seed.
    pub filter: f32,
    pub soft_nms: SoftNms,
    pub word_shapes: bool,
}

impl Settings {
    pub(super) fn new(options: &OptionValues) -> Result<Self, OptionError> {
        let real = |spec| options.real(spec).map(|x| x as f32);
        let longest_seed = options.whole(&LONGEST_SEED)?;
        Ok(Self {
            longest_seed,
            lengths: lengths(longest_seed, options.whole(&EVERY_LENGTH_TO)?),
            drawing: Drawing { least_iou: real(&ALPHA_1)?, negatives: options.whole(&NEGATIVES)? },
            least_iou: real(&ALPHA_2)?,
            focus: real(&ETA)?,
            regression_weight: options.real(&REGRESSION_WEIGHT)?,
            filter: real(&FILTER)?,
            soft_nms: SoftNms { decay: real(&NMS_DECAY)?, iou: real(&NMS_IOU)?, threshold: real(&NMS_THRESHOLD)? },
            word_shapes: options.flag(&WORD_SHAPE_FEATURES)?,
        })
    }
}

/// Each length up to `every_to`, then each second, no longer than `longest`.
fn lengths(longest: usize, every_to: usize) -> Vec<usize> {
    let dense = every_to.min(longest);
    (1..=dense).chain((dense + 2..=longest).step_by(2)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lengths_of_the_paper_can_be_set() {
        assert_eq!(lengths(15, 7), [1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 15]);
        assert_eq!(lengths(15, 5), [1, 2, 3, 4, 5, 7, 9, 11, 13, 15]);
        assert_eq!(lengths(10, 10), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        assert_eq!([lengths(3, 7), lengths(4, 1), lengths(1, 1)], [vec![1, 2, 3], vec![1, 3], vec![1]]);
    }
}
