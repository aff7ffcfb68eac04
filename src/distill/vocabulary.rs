//! Which subwords a student keeps of its teacher's.

use crate::encoder::Subwords;
use std::cmp::Reverse;
use std::collections::HashMap;

/// How often each subword is in the text of one language.
pub(super) type Counts = HashMap<u32, usize>;

/// A text of as many subwords tells half of what a long one does about how frequent each is.
const SUBWORDS_FOR_HALF: f64 = 10_000.0;

/// What is asked of a smaller vocabulary.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct VocabularyLimits {
    /// Subwords to keep.
    pub count: usize,
    /// Of a Unigram vocabulary: single ideographs and syllables of Hangul to keep.
    pub ideographs: usize,
    /// Of a Unigram vocabulary: how much the text counts against how likely the teacher holds a piece, from 0 to 1.
    pub text_weight: f64,
    /// The first numbers, which must stay.
    pub fixed: usize,
}

/// The numbers of the subwords to keep, ascending; one count for the text of each language.
pub(super) fn subwords_to_keep(subwords: &Subwords, texts: &[Counts], limits: VocabularyLimits) -> Vec<u32> {
    let list = subwords.list();
    let mut kept = match subwords.scores() {
        Some(scores) => most_likely(&list, &scores, texts, limits),
        None => most_used(&list, texts, limits.count),
    };
    kept.sort_unstable();
    kept
}

/// Marks and single characters, then what is in the text, the most frequent first, then the rest in the teacher's order.
fn most_used(list: &[String], texts: &[Counts], count: usize) -> Vec<u32> {
    let is_mark = |subword: &str| ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"].contains(&subword);
    let is_reserved = |subword: &str| subword.is_empty() || subword.starts_with("[unused");
    let is_character = |subword: &str| is_single(subword.trim_start_matches("##"));
    let rank = |(number, subword): (usize, &String)| {
        let number = number as u32;
        let used: usize = texts.iter().filter_map(|counts| counts.get(&number)).sum();
        (!is_mark(subword), !is_character(subword), Reverse(used), number)
    };
    let mut order: Vec<_> = list.iter().enumerate().filter(|(_, subword)| !is_reserved(subword)).map(rank).collect();
    order.sort_unstable();
    order.into_iter().take(count).map(|(.., number)| number).collect()
}

/// What comes first of a Unigram vocabulary.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Rank {
    Mark,
    /// What is left of a word that is taken apart as far as can be.
    Character,
    Piece,
    /// Scripts with thousands of characters would leave no room for pieces.
    RareIdeograph,
}

/// Marks, single characters and the likeliest ideographs, then the likeliest pieces, then the other ideographs.
///
/// How likely a piece is: the mean, weighted by `text_weight`, of what the teacher's model says, which has seen text in all of its
/// languages, and of its share of the text. Of the latter each language counts alike, but for short texts, whose shares are
/// chance.
fn most_likely(list: &[String], scores: &[f64], texts: &[Counts], limits: VocabularyLimits) -> Vec<u32> {
    // Marks have the score 0, which would be certainty.
    let likely = |number: usize| scores.get(number).filter(|score| **score < 0.0).map_or(0.0, |score| score.exp());
    let certain: f64 = (0..list.len()).map(likely).sum();
    let shares = shares(list.len(), texts);
    let worth = |number: usize| {
        (1.0 - limits.text_weight) * likely(number) / certain.max(f64::MIN_POSITIVE)
            + limits.text_weight * shares[number]
    };
    let is_mark =
        |subword: &str| ["<s>", "<pad>", "</s>", "<unk>", "[PAD]", "[UNK]", "[CLS]", "[SEP]"].contains(&subword);
    let rank = |number: usize, subword: &str| match subword {
        _ if number < limits.fixed || is_mark(subword) => Rank::Mark,
        _ if is_single(subword) && subword.chars().all(is_ideograph) => Rank::RareIdeograph,
        _ if is_single(subword) => Rank::Character,
        _ => Rank::Piece,
    };
    let is_left_out = |subword: &str| ["", "<mask>", "[MASK]"].contains(&subword);
    let mut order: Vec<(Rank, f64, u32)> = list
        .iter()
        .enumerate()
        .filter(|(number, subword)| *number < limits.fixed || !is_left_out(subword))
        .map(|(number, subword)| (rank(number, subword), worth(number), number as u32))
        .collect();
    order.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)));
    let ideographs = order.iter_mut().filter(|(rank, ..)| *rank == Rank::RareIdeograph);
    ideographs.take(limits.ideographs).for_each(|(rank, ..)| *rank = Rank::Character);
    order.sort_by_key(|(rank, ..)| *rank);
    order.into_iter().take(limits.count).map(|(.., number)| number).collect()
}

/// The mean share of each subword in the languages' texts.
fn shares(subwords: usize, texts: &[Counts]) -> Vec<f64> {
    let mut shares = vec![0.0; subwords];
    let mut weights = 0.0;
    for counts in texts {
        let all = counts.values().sum::<usize>() as f64;
        let weight = all / (all + SUBWORDS_FOR_HALF);
        weights += weight;
        for (number, count) in counts {
            if let Some(share) = shares.get_mut(*number as usize) {
                *share += weight * *count as f64 / all;
            }
        }
    }
    shares.iter_mut().for_each(|share| *share /= f64::max(weights, f64::MIN_POSITIVE));
    shares
}

fn is_single(subword: &str) -> bool {
    subword.chars().count() == 1
}

/// Han and syllables of Hangul.
fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list<const N: usize>(subwords: [&str; N]) -> Vec<String> {
        subwords.map(str::to_owned).into()
    }

    fn sorted(mut numbers: Vec<u32>) -> Vec<u32> {
        numbers.sort_unstable();
        numbers
    }

    #[test]
    fn marks_characters_and_frequent_subwords_are_kept() {
        let list = list(["[PAD]", "[unused0]", "[UNK]", "the", "cell", "##s", "##ing", "rare", "z"]);
        let texts = [HashMap::from([(6, 2), (4, 2)]), HashMap::from([(6, 3)])];
        assert_eq!(sorted(most_used(&list, &texts, 6)), [0, 2, 4, 5, 6, 8]);
        assert_eq!(sorted(most_used(&list, &texts, 7)), [0, 2, 3, 4, 5, 6, 8], "then in the teacher's order");
        assert_eq!(most_used(&list, &texts, 100).len(), 8, "reserved numbers are never kept");
    }

    fn limits(count: usize, ideographs: usize, text_weight: f64) -> VocabularyLimits {
        VocabularyLimits { count, ideographs, text_weight, fixed: 0 }
    }

    #[test]
    fn marks_characters_and_likely_pieces_are_kept() {
        let list = list([
            "<s>",
            "</s>",
            "<unk>",
            "\u{2581}the",
            "\u{2581}og",
            "a",
            "\u{65e5}",
            "\u{672c}",
            "\u{d55c}",
            "<mask>",
        ]);
        let scores = [0.0, 0.0, 0.0, -2.0, -6.0, -9.0, -5.0, -4.0, -7.0, 0.0];
        let kept = |texts: &[Counts], limits| sorted(most_likely(&list, &scores, texts, limits));
        // Without text the teacher's own order.
        assert_eq!(kept(&[], limits(5, 1, 0.5)), [0, 1, 2, 5, 7], "the likeliest ideograph");
        assert_eq!(kept(&[], limits(6, 1, 0.5)), [0, 1, 2, 3, 5, 7]);
        assert_eq!(kept(&[], limits(8, 1, 0.5)), [0, 1, 2, 3, 4, 5, 6, 7], "other ideographs where there is room");
        assert_eq!(kept(&[], limits(100, 0, 0.5)).len(), 9, "what is left out in pretraining is not kept");
        // The text has its say, as far as it is asked.
        let danish = || HashMap::from([(4, 9000), (8, 1000)]);
        assert_eq!(kept(&[danish()], limits(6, 1, 1.0)), [0, 1, 2, 4, 5, 8]);
        assert_eq!(kept(&[danish()], limits(6, 1, 0.0)), [0, 1, 2, 3, 5, 7]);
    }

    #[test]
    fn each_language_counts_alike() {
        let list = list(["<s>", "one", "two", "three"]);
        let scores = [0.0, -1.0, -1.0, -1.0];
        // A hundred times as much English as Danish: each has its most frequent piece kept.
        let english = HashMap::from([(1, 700_000), (2, 300_000)]);
        let danish = HashMap::from([(3, 9_000), (2, 1_000)]);
        assert_eq!(sorted(most_likely(&list, &scores, &[english.clone(), danish], limits(3, 0, 1.0))), [0, 1, 3]);
        // A dozen words say little.
        let short = HashMap::from([(3, 12)]);
        assert_eq!(sorted(most_likely(&list, &scores, &[english, short], limits(3, 0, 1.0))), [0, 1, 2]);
    }

    #[test]
    fn fixed_numbers_stay() {
        let list = list(["<s>NOTUSED", "<pad>", "x", "\u{2581}a", "\u{2581}b"]);
        let scores = [0.0, 0.0, -1.0, -1.0, -0.5];
        let limits = VocabularyLimits { fixed: 2, ..limits(4, 0, 0.0) };
        assert_eq!(sorted(most_likely(&list, &scores, &[], limits)), [0, 1, 2, 4]);
    }
}
