//! Very long sentences in parts.

/// Of a stretch of a sentence.
const MOST_WORDS: usize = 512;
const MOST_BYTES: usize = 16 << 10;

/// A sentence, or where it is very long its parts: all of a batch is worked on together.
pub fn stretches(words: &[String]) -> Vec<&[String]> {
    let (mut stretches, mut rest) = (Vec::new(), words);
    while !rest.is_empty() {
        let mut bytes = 0;
        let fits = |word: &&String| {
            bytes += word.len();
            bytes <= MOST_BYTES
        };
        let count = rest.iter().take(MOST_WORDS).take_while(fits).count().max(1);
        let (stretch, after) = rest.split_at(count);
        stretches.push(stretch);
        rest = after;
    }
    stretches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn very_long_sentences_are_parted() {
        let words = |count: usize, bytes: usize| vec!["x".repeat(bytes); count];
        let lengths = |words: &[String]| stretches(words).iter().map(|part| part.len()).collect::<Vec<_>>();
        assert_eq!(lengths(&words(0, 1)), [0; 0]);
        assert_eq!(lengths(&words(512, 9)), [512]);
        assert_eq!(lengths(&words(1100, 9)), [512, 512, 76]);
        assert_eq!(lengths(&words(3, 1 << 20)), [1, 1, 1]);
        assert_eq!(lengths(&words(40, 1024)), [16, 16, 8]);
    }
}
