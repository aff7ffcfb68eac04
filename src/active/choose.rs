//! From scores to the sentences that come next.

use super::diversity::WordSet;
use super::random_order::first_at_random;
use super::ranking::by_score;
use super::{Choice, ChoiceRequest, Measure, Why};
use crate::annotation::SentenceId;
use std::collections::{HashSet, VecDeque};

/// The share of what a model's scores choose that is drawn at random instead: a model never asks for what it does not
/// know that it does not know, and a fair sample shows what the rest is like.
const RANDOM_SHARE: f64 = 0.1;
/// Near-duplicates that are passed over before one of them is taken: a text may hold hardly anything else.
const MOST_TWINS: usize = 200;

/// The sentences to annotate next, the first one first: as many as there are, at most as many as asked for.
///
/// Cost: linear in the open sentences, but for the order of what is drawn at random; the words of some thousands are looked
/// at. The words of each chosen sentence, and of two hundred that are passed over, are compared with those of all chosen
/// before of about its length. With diversity some ten products of directions for each pair of a chosen and a shortlisted
/// sentence.
pub fn choose(request: &ChoiceRequest<'_>) -> Vec<Choice> {
    let count = request.count.min(request.open.len());
    let request = &ChoiceRequest { count, ..*request };
    let ChoiceRequest { strategy, seed, open, .. } = *request;
    if strategy.measure == Measure::Order {
        return open.iter().take(count).map(|o| Choice { id: o.id, why: Why::Order, score: None }).collect();
    }
    let random = |id| Choice { id, why: Why::Random, score: None };
    if strategy.measure == Measure::Random {
        return first_at_random(open.iter().map(|open| open.id), seed, count).into_iter().map(random).collect();
    }
    let mut wanted = by_score(request);
    // Enough, whichever of them are chosen for their scores.
    let drawn = first_at_random(open.iter().map(|open| open.id), seed, 2 * count);
    let mut chosen =
        Chosen { words: request.words, choices: Vec::with_capacity(count), taken: HashSet::new(), sets: Vec::new() };
    let mut drawn = drawn.iter().copied().map(random);
    let mut twins = VecDeque::new();
    while chosen.choices.len() < count {
        let place = request.shown + chosen.choices.len();
        let next = if share_of(place + 1) > share_of(place) {
            chosen.next(&mut drawn).map(|next| (next, chosen.words_of(next)))
        } else {
            let unlike = chosen.next_unlike(&mut wanted, &mut twins);
            // Nothing else is left: what is nearly the same as another is still open.
            unlike.or_else(|| {
                let mut twins = std::iter::from_fn(|| twins.pop_front());
                twins.find(|(twin, _)| !chosen.taken.contains(&twin.id))
            })
        };
        let Some((next, words)) = next else { break };
        chosen.take(next, words);
    }
    chosen.choices
}

/// How many of the first `chosen` are drawn at random.
fn share_of(chosen: usize) -> usize {
    (chosen as f64 * RANDOM_SHARE).floor() as usize
}

/// What was chosen so far.
struct Chosen<'a> {
    words: &'a dyn Fn(SentenceId) -> Vec<&'a str>,
    choices: Vec<Choice>,
    taken: HashSet<SentenceId>,
    sets: Vec<WordSet>,
}

impl Chosen<'_> {
    /// The next one that was not chosen yet.
    fn next(&self, from: &mut impl Iterator<Item = Choice>) -> Option<Choice> {
        from.find(|next| !self.taken.contains(&next.id))
    }

    /// The same with its words, but one that is nearly the same as a chosen one goes to `twins` instead, up to
    /// [`MOST_TWINS`] of them.
    fn next_unlike(
        &self,
        from: &mut impl Iterator<Item = Choice>,
        twins: &mut VecDeque<(Choice, WordSet)>,
    ) -> Option<(Choice, WordSet)> {
        while twins.len() < MOST_TWINS {
            let next = self.next(from)?;
            let words = self.words_of(next);
            if !self.sets.iter().any(|other| other.is_nearly(&words)) {
                return Some((next, words));
            }
            twins.push_back((next, words));
        }
        None
    }

    fn words_of(&self, choice: Choice) -> WordSet {
        WordSet::of((self.words)(choice.id))
    }

    fn take(&mut self, choice: Choice, words: WordSet) {
        self.taken.insert(choice.id);
        self.sets.push(words);
        self.choices.push(choice);
    }
}

#[cfg(test)]
mod tests {
    use super::super::ranking::{by_lot, score};
    use super::super::{Open, Strategy};
    use super::*;
    use crate::annotation::Acquisition;
    use proptest::prelude::*;

    fn acquisition(score: f32, direction: [i8; 2]) -> Acquisition {
        Acquisition {
            least_confidence: score,
            entropy: score,
            head_entropy: score,
            mentions: score,
            disagreement: Some(score),
            direction: direction.to_vec(),
        }
    }

    fn chosen(
        strategy: &str,
        count: usize,
        said: &[Option<Acquisition>],
        words: &dyn Fn(usize) -> String,
    ) -> Vec<Choice> {
        chosen_with(7, strategy, count, said, words)
    }

    fn chosen_with(
        seed: u64,
        strategy: &str,
        count: usize,
        said: &[Option<Acquisition>],
        words: &dyn Fn(usize) -> String,
    ) -> Vec<Choice> {
        let texts: Vec<String> = (0..said.len()).map(words).collect();
        let open: Vec<Open<'_>> =
            said.iter().zip(0..).map(|(said, id)| Open { id: SentenceId(id), said: said.as_ref() }).collect();
        let words = |id: SentenceId| texts[id.0 as usize].split(' ').collect();
        choose(&ChoiceRequest {
            strategy: strategy.parse().unwrap(),
            count,
            shown: 0,
            seed,
            open: &open,
            done: &Vec::new,
            words: &words,
        })
    }

    fn unlike(n: usize) -> String {
        format!("a{0} b{0} c{0} d{0} e{0}", char::from(b'a' + (n % 26) as u8).to_string().repeat(1 + n / 26))
    }

    #[test]
    fn a_text_of_near_duplicates_is_not_gone_through_to_its_end() {
        let said: Vec<Acquisition> = (0..20_000_u16).map(|n| acquisition(f32::from(n), [1, 0])).collect();
        let open: Vec<Open<'_>> =
            said.iter().zip(0..).map(|(said, id)| Open { id: SentenceId(id), said: Some(said) }).collect();
        let looked_at = std::cell::Cell::new(0);
        let words = |_: SentenceId| {
            looked_at.set(looked_at.get() + 1);
            vec!["all", "the", "same"]
        };
        let strategy = "entropy".parse().unwrap();
        let request =
            ChoiceRequest { strategy, count: 10, shown: 0, seed: 7, open: &open, done: &Vec::new, words: &words };
        let chosen = choose(&request);
        let ids: HashSet<SentenceId> = chosen.iter().map(|choice| choice.id).collect();
        assert_eq!((chosen.len(), ids.len(), chosen[0].id), (10, 10, SentenceId(19_999)));
        assert!(looked_at.get() < 20 * MOST_TWINS, "{}", looked_at.get());
    }

    #[test]
    fn the_highest_scores_come_first_and_near_duplicates_last() {
        let said: Vec<_> = [0.1, 0.9, 0.8, 0.7].map(|s| Some(acquisition(s, [1, 0]))).to_vec();
        let ids = |choices: Vec<Choice>| choices.iter().map(|c| c.id.0).collect::<Vec<_>>();
        assert_eq!(ids(chosen("entropy", 4, &said, &unlike)), [1, 2, 3, 0]);
        let twins = |n: usize| if n == 2 { unlike(1).to_uppercase() } else { unlike(n) };
        assert_eq!(ids(chosen("neh", 4, &said, &twins)), [1, 3, 0, 2]);
    }

    #[test]
    fn diverse_sentences_are_of_different_groups() {
        let said: Vec<_> = [(0.9, [100, 0]), (0.8, [99, 1]), (0.7, [0, 100]), (0.1, [1, 99])]
            .map(|(score, direction)| Some(acquisition(score, direction)))
            .to_vec();
        let ids = |strategy| chosen(strategy, 2, &said, &unlike).iter().map(|c| c.id.0).collect::<Vec<_>>();
        assert_eq!(ids("bald"), [0, 1]);
        assert_eq!(ids("bald+diverse"), [0, 2]);
    }

    #[test]
    fn typical_sentences_count_for_more_and_certain_ones_for_less() {
        let said = |scores: [f32; 3]| scores.map(|score| Some(acquisition(score, [1, 0]))).to_vec();
        // Two speak of the same people; the third has words that come nowhere else.
        let words =
            |n: usize| if n < 2 { format!("{} Ada wrote to Bo in Hull", ["soon", "then"][n]) } else { unlike(n) };
        let first = |strategy, scores| chosen(strategy, 1, &said(scores), &words)[0].id.0;
        assert_eq!(first("entropy", [0.5, 0.4, 0.6]), 2);
        assert_eq!(first("entropy+typical", [0.5, 0.4, 0.6]), 0);
        assert_eq!(first("entropy+typical", [0.4, 0.5, 0.6]), 1);
        assert_eq!(first("words", [0.0, 0.0, 0.6]), first("words", [0.6, 0.6, 0.0]), "whatever a model says");
    }

    #[test]
    fn what_was_not_asked_of_a_model_is_no_score() {
        let without = |score| Acquisition { disagreement: None, ..acquisition(score, [1, 0]) };
        let said = vec![Some(without(0.9)), Some(acquisition(0.1, [1, 0])), None, Some(acquisition(0.2, [1, 0]))];
        let choices = chosen("bald", 4, &said, &unlike);
        assert_eq!(choices.iter().take(2).map(|c| c.id.0).collect::<Vec<_>>(), [3, 1]);
        assert!(choices.iter().skip(2).all(|c| c.why == Why::Random && c.score.is_none()), "{choices:?}");
        let choices = chosen("bald", 2, &[Some(without(0.9)), Some(without(0.1))], &unlike);
        assert!(choices.iter().all(|c| c.why == Why::Words), "{choices:?}");
    }

    #[test]
    fn by_lot_the_best_come_sooner_but_not_always() {
        let said: Vec<_> = (0..64_u8).map(|n| Some(acquisition(1.0 - f32::from(n) / 100.0, [1, 0]))).collect();
        let lots = |seed| {
            let ranked = said.iter().zip(0..).map(|(said, id)| Choice {
                id: SentenceId(id),
                why: Why::Score,
                score: said.as_ref().and_then(|said| score(Measure::Bald, said)),
            });
            by_lot(ranked, seed)
        };
        // Of ten of 64, how many are the best ten: all by score, about 4.9 with weights of 1/r, 1.6 by chance.
        let firsts = |seed| lots(seed).iter().take(10).filter(|choice| choice.id.0 < 10).count();
        let mean = (0..200).map(firsts).sum::<usize>() as f64 / 200.0;
        assert!((4.5..5.4).contains(&mean), "{mean}");
        // The tenth is drawn at random.
        let best = chosen("bald", 9, &said, &unlike);
        for seed in 0..5 {
            assert_eq!(chosen_with(seed, "bald", 9, &said, &unlike), best);
            let by_lot = chosen_with(seed, "bald+stochastic", 9, &said, &unlike);
            assert_eq!(by_lot, lots(seed)[..9]);
            assert_ne!(by_lot, best);
        }
    }

    #[test]
    fn before_there_is_a_model_words_choose_and_the_order_of_the_text_needs_none() {
        let none = vec![None; 12];
        let first = chosen("default", 3, &none, &unlike);
        assert!(first.iter().all(|choice| choice.why == Why::Words), "{first:?}");
        let order = chosen("order", 3, &none, &unlike);
        assert_eq!(order.iter().map(|c| c.id.0).collect::<Vec<_>>(), [0, 1, 2]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn what_is_chosen_was_offered_each_once_and_the_random_share_does_not_starve(
            said in prop::collection::vec(prop::option::of((0_f32..1.0, any::<i8>(), any::<i8>())), 0..60),
            alike in 1_usize..40,
            count in 0_usize..70,
        ) {
            let said: Vec<_> = said.into_iter().map(|s| s.map(|(s, x, y)| acquisition(s, [x, y]))).collect();
            let words = |n: usize| unlike(n % alike);
            for strategy in Strategy::ids() {
                let choices = chosen(&strategy, count, &said, &words);
                prop_assert_eq!(choices.len(), count.min(said.len()), "{}", strategy);
                let different: HashSet<_> = choices.iter().map(|c| c.id).collect();
                prop_assert_eq!(different.len(), choices.len());
                prop_assert!(choices.iter().all(|c| (c.id.0 as usize) < said.len()));
                if strategy != "order" {
                    for n in 0..=choices.len() {
                        let random = choices[..n].iter().filter(|c| c.why == Why::Random).count();
                        prop_assert!(random >= share_of(n), "{strategy}: {random} of {n}");
                    }
                }
                prop_assert_eq!(&chosen(&strategy, count, &said, &words), &choices);
            }
        }

        #[test]
        fn the_random_share_is_of_all_that_is_shown_however_often_the_rest_is_chosen_anew(
            batches in prop::collection::vec(1_usize..10, 1..30),
        ) {
            let said: Vec<_> = (0..300_u16).map(|n| Some(acquisition(f32::from(n), [1, 0]))).collect();
            let mut left: Vec<Open<'_>> =
                said.iter().zip(0..).map(|(said, id)| Open { id: SentenceId(id), said: said.as_ref() }).collect();
            let (mut shown, mut random) = (0, 0);
            for batch in batches {
                let strategy = "entropy+diverse".parse().unwrap();
                let words = |_| Vec::new();
                let request =
                    ChoiceRequest { strategy, count: 10, shown, seed: 7, open: &left, done: &Vec::new, words: &words };
                // Of ten chosen some are shown, and then there is a new model.
                let next: Vec<Choice> = choose(&request).into_iter().take(batch).collect();
                shown += next.len();
                random += next.iter().filter(|c| c.why == Why::Random).count();
                left.retain(|open| next.iter().all(|c| c.id != open.id));
            }
            prop_assert_eq!(random, share_of(shown));
        }
    }
}
