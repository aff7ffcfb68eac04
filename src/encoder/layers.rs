//! Which of an encoder's vectors are asked for.

use super::Network;

/// Vectors of a batch that somebody above the encoder works with. The forward pass keeps these and no others.
///
/// Hidden states are numbered: 0 are the embeddings after their norm, `k` is what block `k` of L gives, counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Layers {
    /// Subwords as they stand in the table of word embeddings, `[N, E]`: without positions, norm or any block. They have no
    /// gradient, and the blocks are not run at all.
    Static,
    /// What the last block gives, `[N, H]`.
    #[default]
    Last,
    /// The same of so many of the last blocks, at least one; of a shallow encoder all and the embeddings, but no more.
    LastN(usize),
    /// All from the hidden states of this number up to the last ones; from the last ones where there are fewer blocks.
    From(usize),
}

impl Layers {
    /// The number of the lowest hidden states, for an encoder of `blocks` blocks; `None` where none are needed.
    pub fn lowest(self, blocks: usize) -> Option<usize> {
        match self {
            Self::Static => None,
            Self::Last => Some(blocks),
            Self::LastN(count) => Some((blocks + 1).saturating_sub(count.max(1))),
            Self::From(number) => Some(number.min(blocks)),
        }
    }

    /// Numbers of a row: H, or E of static vectors.
    pub fn width(self, network: &Network) -> usize {
        match self {
            Self::Static => network.embedding(),
            Self::Last | Self::LastN(_) | Self::From(_) => network.hidden(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_layers_are_asked_for_than_there_are() {
        use Layers::{From, Last, LastN, Static};
        let asked = [Static, Last, LastN(0), LastN(1), LastN(4), LastN(9), From(0), From(5), From(7)];
        let lowest = [None, Some(6), Some(6), Some(6), Some(3), Some(0), Some(0), Some(5), Some(6)];
        assert_eq!(asked.map(|layers| layers.lowest(6)), lowest);
    }
}
