//! Subwords without a vocabulary: hashes of a word's parts.
//!
//! A word never seen in training still shares its beginning, its end and its form with words that were. Case is left
//! out here and comes back as the word-shape feature of the task head.

/// Takes a word to numbers, one for each of [`HashedWords::PIECES`] parts: the whole word, its first and last letters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HashedWords {
    buckets: usize,
}

impl HashedWords {
    pub const PIECES: usize = 5;
    /// The numbers of the marks at the beginning and the end of a sentence.
    pub(super) const MARKS: [[u32; Self::PIECES]; 2] = [[0; Self::PIECES], [1; Self::PIECES]];
    const RESERVED: usize = 2;

    pub(super) fn new(buckets: usize) -> Self {
        Self { buckets: buckets.max(1) }
    }

    /// How many numbers there are.
    pub(super) fn vocabulary(buckets: usize) -> usize {
        Self::RESERVED + Self::PIECES * buckets
    }

    pub(super) fn ids(self, word: &str) -> Vec<u32> {
        let word = word.to_lowercase();
        let chars: Vec<char> = word.chars().collect();
        let first = |n: usize| chars.iter().take(n).collect::<String>();
        let last = |n: usize| chars.iter().skip(chars.len().saturating_sub(n)).collect::<String>();
        let parts = [word.clone(), first(1), first(3), last(2), last(3)];
        let bucket = |(kind, part): (usize, &String)| {
            let hash = part
                .bytes()
                .fold(0xcbf2_9ce4_8422_2325u64, |hash, b| (hash ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3));
            // The low bits of FNV mix little of the last byte: fold the high ones in.
            let bucket = ((hash ^ (hash >> 32)) % self.buckets as u64) as usize;
            (Self::RESERVED + kind * self.buckets + bucket) as u32
        };
        parts.iter().enumerate().map(bucket).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::EncoderConfig;
    use super::*;

    #[test]
    fn parts_are_shared_and_case_is_not_seen() {
        let hashed = HashedWords::new(4096);
        let [walked, talked, upper] = ["walked", "talked", "WALKED"].map(|w| hashed.ids(w));
        assert_eq!(walked, upper);
        assert_ne!(walked[0], talked[0]);
        assert_eq!(walked[3..], talked[3..]);
        let config = EncoderConfig::small();
        for word in ["a", "", "Ünï", "北京"] {
            let ids = HashedWords::new(4096).ids(word);
            assert_eq!(ids.len(), HashedWords::PIECES);
            assert!(ids.iter().all(|id| (*id as usize) < config.vocabulary));
        }
    }
}
