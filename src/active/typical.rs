//! Sentences by their words alone, or by these and what a model says of each.
//!
//! Before there is a model nothing else is known. A model of few sentences learns most from what is typical (Hacohen et al. 2022),
//! so a first batch should hold many different words that come often, but not everywhere, names before others, and little
//! else: each sentence is scored by what it adds to those chosen before it, a word (coverage with diminishing returns;
//! Nemhauser et al. 1978: greedy choice reaches 63 % of the best).

use super::diversity::normal;
use std::collections::{BinaryHeap, HashMap};

/// Sentences with fewer words hardly ever show a mention in context.
const FEW_WORDS: usize = 4;

/// The numbers of `count` sentences, the best first, with the scores by which each was chosen. The words of `known` ones
/// count as seen; what a sentence adds is multiplied by its weight.
///
/// Cost: linear in the words, and some ten more looks at each chosen sentence.
pub(super) fn typical_sentences(
    sentences: &[Vec<&str>],
    weights: &[f32],
    known: &[Vec<&str>],
    count: usize,
) -> Vec<(usize, f32)> {
    let normals_of = |sentences: &[Vec<&str>]| -> Vec<Vec<String>> {
        sentences.iter().map(|words| words.iter().map(|word| normal(word)).collect()).collect()
    };
    let (normals, known) = (normals_of(sentences), normals_of(known));
    let seen = found_in(&known);
    let mut found_in = found_in(&normals);
    seen.iter().for_each(|(word, times)| *found_in.entry(word).or_default() += times);
    let all = sentences.len() + known.len();
    let worth: Vec<HashMap<&str, f32>> = sentences
        .iter()
        .zip(&normals)
        .zip(weights)
        .map(|((words, normals), weight)| {
            let mut worth = HashMap::new();
            for (place, (word, normal)) in words.iter().zip(normals).enumerate() {
                let value = worth_of(word, place, found_in.get(normal.as_str()).copied().unwrap_or(0), all);
                worth.insert(normal.as_str(), weight * value);
            }
            worth
        })
        .collect();
    greedy(&worth, sentences, seen, count)
}

/// In how many sentences each word is.
fn found_in(sentences: &[Vec<String>]) -> HashMap<&str, usize> {
    let mut found_in = HashMap::new();
    for words in sentences {
        let mut own: Vec<&str> = words.iter().map(String::as_str).collect();
        own.sort_unstable();
        own.dedup();
        own.into_iter().for_each(|word| *found_in.entry(word).or_default() += 1);
    }
    found_in
}

/// What a word is worth that no chosen sentence holds yet: `√n · ln(N/n)` when n of N sentences hold it, nothing when it
/// never comes again, and twice as much when it looks like a part of a name.
fn worth_of(word: &str, place: usize, found_in: usize, sentences: usize) -> f32 {
    if !word.chars().any(char::is_alphanumeric) || found_in < 2 {
        return 0.0;
    }
    let often = (found_in as f32).sqrt();
    let telling = (sentences as f32 / found_in as f32).ln().max(0.0);
    let capital = |c: char| c.is_uppercase();
    let inner_capital = word.chars().skip(1).any(capital);
    let first_capital = place > 0 && word.chars().next().is_some_and(capital);
    let mixed = word.chars().any(char::is_numeric) && word.chars().any(char::is_alphabetic);
    let name = if inner_capital || first_capital || mixed { 2.0 } else { 1.0 };
    often * telling * name
}

/// Lazily: what a sentence adds only ever shrinks, so that the best of stale values that is still best when looked at
/// again is the best of all (Minoux 1978).
fn greedy<'w>(
    worth: &[HashMap<&'w str, f32>],
    sentences: &[Vec<&str>],
    mut seen: HashMap<&'w str, usize>,
    count: usize,
) -> Vec<(usize, f32)> {
    let gain = |sentence: usize, seen: &HashMap<&str, usize>| -> f32 {
        let Some(words) = worth.get(sentence) else { return 0.0 };
        let mut values: Vec<(&str, f32)> = words.iter().map(|(word, value)| (*word, *value)).collect();
        values.sort_by(|a, b| a.0.cmp(b.0)); // sums don't depend on the order of a map
        // A word that was seen n times is worth a third as often.
        let sum: f32 = values.iter().map(|(w, v)| v * 3_f32.powf(-(seen.get(w).copied().unwrap_or(0) as f32))).sum();
        let length = sentences.get(sentence).map_or(0, Vec::len);
        if length < FEW_WORDS { 0.0 } else { sum / (length as f32 + 10.0) }
    };
    let mut heap: BinaryHeap<Entry> =
        (0..worth.len()).map(|sentence| Entry { gain: gain(sentence, &seen), sentence }).collect();
    let mut chosen = Vec::with_capacity(count);
    while let Some(Entry { gain: stale, sentence }) = heap.pop() {
        if chosen.len() == count {
            break;
        }
        let fresh = gain(sentence, &seen);
        if fresh < stale {
            heap.push(Entry { gain: fresh, sentence });
            continue;
        }
        worth.get(sentence).into_iter().flat_map(HashMap::keys).for_each(|word| *seen.entry(word).or_default() += 1);
        chosen.push((sentence, fresh));
    }
    chosen
}

/// The greater gain first, of equals the earlier sentence.
#[derive(PartialEq, Debug)]
struct Entry {
    gain: f32,
    sentence: usize,
}

impl Eq for Entry {}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.gain.total_cmp(&other.gain).then(other.sentence.cmp(&self.sentence))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(sentences: &[&str], count: usize) -> Vec<usize> {
        let words: Vec<Vec<&str>> = sentences.iter().map(|s| s.split(' ').collect()).collect();
        typical_sentences(&words, &vec![1.0; words.len()], &[], count)
            .into_iter()
            .map(|(sentence, _)| sentence)
            .collect()
    }

    #[test]
    fn names_come_first_and_the_same_ones_last() {
        let sentences = [
            "it was the end of it all .",
            "then Ada Lovelace met Charles Babbage in London .",
            "then Ada Lovelace met Charles Babbage in London .",
            "in the end it was all that it was .",
            "the Kestrel left Bergen for Hull .",
            "Kestrel and Bergen .",
        ];
        let order = first(&sentences, 6);
        assert_eq!(order[..3], [1, 4, 0], "names, and then what has none: {order:?}");
        let mut same = order[3..].to_vec();
        same.sort_unstable();
        assert_eq!(same, [2, 3, 5], "what another has said already");
    }

    #[test]
    fn what_is_known_comes_last() {
        let words = |sentences: &[&'static str]| -> Vec<Vec<&str>> {
            sentences.iter().map(|s| s.split(' ').collect()).collect()
        };
        let people = ["then Ada met Babbage in London .", "soon Ada wrote to Babbage in London ."];
        let ships = ["the Kestrel left Bergen for Hull .", "a Kestrel from Bergen sailed to Hull ."];
        let open = words(&[people, ships].concat());
        let first = |known: &[&'static str]| typical_sentences(&open, &[1.0; 4], &words(known), 1)[0].0;
        assert!(first(&people) >= 2, "those of people are known");
        assert!(first(&ships) < 2, "those of ships are known");
    }

    #[test]
    fn no_more_than_there_are_and_each_once() {
        let mut all = first(&["a b c d", "", "e f g h i"], 9);
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2]);
        assert!(first(&[], 3).is_empty());
    }
}
