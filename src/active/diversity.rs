//! Sentences that differ: groups by k-means, and near-duplicates.

use std::collections::HashSet;

/// Rounds of k-means at most: directions are rough, and later rounds move few sentences.
const ROUNDS: usize = 8;
/// From this share of common words on two sentences are nearly the same (Jaccard's index of their sets of words).
const NEARLY_THE_SAME: f64 = 0.8;

/// The group of each sentence, `count` groups at most, some of which may be empty.
///
/// Deterministic: the first centre is the first sentence, each other one the sentence farthest from all centres (Gonzalez
/// 1985), of equals the earlier. What the directions have in common is taken out before. Cost: sentences × count × size
/// of a direction, once for each round.
pub(super) fn groups(directions: &[&[i8]], count: usize) -> Vec<usize> {
    let vectors = centred(directions);
    let mut centres = farthest_first(&vectors, count);
    let mut groups = vec![0; vectors.len()];
    for _ in 0..ROUNDS {
        let nearest: Vec<usize> = vectors.iter().map(|v| nearest(v, &centres)).collect();
        if nearest == groups {
            break;
        }
        groups = nearest;
        move_centres(&mut centres, &vectors, &groups);
    }
    groups
}

/// Unit vectors of what the directions don't have in common.
fn centred(directions: &[&[i8]]) -> Vec<Vec<f32>> {
    let size = directions.iter().map(|d| d.len()).max().unwrap_or(0);
    let units = directions.iter().map(|direction| {
        let mut vector: Vec<f32> = direction.iter().map(|x| f32::from(*x)).collect();
        vector.resize(size, 0.0);
        unit(vector)
    });
    let mut vectors: Vec<Vec<f32>> = units.collect();
    let mut mean = vec![0.0; size];
    for vector in &vectors {
        mean.iter_mut().zip(vector).for_each(|(sum, x)| *sum += x / directions.len() as f32);
    }
    for vector in &mut vectors {
        vector.iter_mut().zip(&mean).for_each(|(x, m)| *x -= m);
        *vector = unit(std::mem::take(vector));
    }
    vectors
}

fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let norm = dot(&vector, &vector).sqrt();
    if norm > 0.0 {
        vector.iter_mut().for_each(|x| *x /= norm);
    }
    vector
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn farthest_first(vectors: &[Vec<f32>], count: usize) -> Vec<Vec<f32>> {
    let mut centres: Vec<Vec<f32>> = Vec::with_capacity(count.min(vectors.len()));
    let mut closest = vec![f32::NEG_INFINITY; vectors.len()];
    let mut next = 0;
    while centres.len() < count.min(vectors.len()) {
        let Some(centre) = vectors.get(next) else { break };
        for (most, vector) in closest.iter_mut().zip(vectors) {
            *most = most.max(dot(vector, centre));
        }
        centres.push(centre.clone());
        // The earliest of those that are least like their centre.
        next = closest.iter().enumerate().rev().min_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(i, _)| i);
    }
    centres
}

fn nearest(vector: &[f32], centres: &[Vec<f32>]) -> usize {
    let by_likeness = centres.iter().map(|centre| dot(vector, centre)).enumerate();
    by_likeness.rev().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(i, _)| i)
}

/// To the mean of their groups; those of empty groups stay.
fn move_centres(centres: &mut [Vec<f32>], vectors: &[Vec<f32>], groups: &[usize]) {
    let mut sums: Vec<Vec<f32>> = centres.iter().map(|centre| vec![0.0; centre.len()]).collect();
    for (vector, group) in vectors.iter().zip(groups) {
        if let Some(sum) = sums.get_mut(*group) {
            sum.iter_mut().zip(vector).for_each(|(s, x)| *s += x);
        }
    }
    for (centre, sum) in centres.iter_mut().zip(sums) {
        if sum.iter().any(|x| *x != 0.0) {
            *centre = unit(sum);
        }
    }
}

/// The set of a sentence's words, by which near-duplicates are known: case and the value of numbers don't count.
#[derive(Debug, Default)]
pub(super) struct WordSet(HashSet<String>);

impl WordSet {
    pub(super) fn of<'w>(words: impl IntoIterator<Item = &'w str>) -> Self {
        Self(words.into_iter().map(normal).collect())
    }

    pub(super) fn is_nearly(&self, other: &Self) -> bool {
        let (fewer, more) = (self.0.len().min(other.0.len()), self.0.len().max(other.0.len()));
        if (fewer as f64) < NEARLY_THE_SAME * more as f64 {
            return false; // whatever the words are
        }
        let common = self.0.intersection(&other.0).count();
        let all = self.0.len() + other.0.len() - common;
        all > 0 && common as f64 >= NEARLY_THE_SAME * all as f64
    }
}

/// Lower case, with one digit for all.
pub(super) fn normal(word: &str) -> String {
    word.chars().flat_map(char::to_lowercase).map(|c| if c.is_numeric() { '0' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_that_point_alike_are_of_one_group() {
        // Two bundles beside a large part that all have in common.
        let sentences: Vec<Vec<i8>> =
            [[100, 20, 1], [100, 22, 0], [100, 1, 20], [100, 0, 21], [100, 21, 1]].map(Vec::from).to_vec();
        let directions: Vec<&[i8]> = sentences.iter().map(Vec::as_slice).collect();
        assert_eq!(groups(&directions, 2), [0, 0, 1, 1, 0]);
        assert_eq!(groups(&directions, 1), [0; 5]);
        let mut all = groups(&directions, 9);
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4]);
        assert_eq!(groups(&[], 3), Vec::<usize>::new());
    }

    #[test]
    fn case_and_numbers_make_no_difference() {
        let set = |text: &str| WordSet::of(text.split(' '));
        assert!(set("The IL-2 gene of mice in 1994 .").is_nearly(&set("the il-4 gene of mice in 2001 .")));
        assert!(!set("The IL-2 gene of mice").is_nearly(&set("The IL-2 gene of men and rats")));
        assert!(!set("").is_nearly(&WordSet::default()));
        assert!(!WordSet::default().is_nearly(&WordSet::default()), "without words nothing is the same");
    }
}
