//! All open sentences, in the order of what each would teach.

use super::diversity::groups;
use super::random_order::{first_at_random, in_random_order, part_first};
use super::typical::typical_sentences;
use super::{Besides, Choice, ChoiceRequest, Measure, Open, Why};
use crate::annotation::{Acquisition, SentenceId};
use crate::nn::splitmix64;
use std::collections::{HashMap, HashSet};

/// With diversity, so many times more sentences are looked at than are chosen.
const SHORTLIST: usize = 3;
/// Sentences that words choose from, and whose words count as known, at most: drawn at random from more.
const LOOKED_AT: usize = 2000;

/// All open sentences, those that teach most first. What hardly ever comes to be asked for is made when it is.
pub(super) fn by_score<'a>(request: &ChoiceRequest<'a>) -> Box<dyn Iterator<Item = Choice> + 'a> {
    let ChoiceRequest { strategy, count, open, seed, .. } = *request;
    let scored = move |open: &Open<'a>| Some((score(strategy.measure, open.said?)?, open.said?));
    if open.iter().all(|open| scored(open).is_none()) {
        return Box::new(by_words(request, &HashMap::new()));
    }
    let mut ranked: Vec<(Choice, &Acquisition)> = open
        .iter()
        .filter_map(|open| {
            let (score, said) = scored(open)?;
            Some((Choice { id: open.id, why: Why::Score, score: Some(score) }, said))
        })
        .collect();
    if strategy.besides == Besides::Typical {
        let scores = ranked.iter().filter_map(|(choice, _)| Some((choice.id, choice.score?))).collect();
        return Box::new(by_words(request, &scores));
    }
    let order = |(a, _): &(Choice, &Acquisition), (b, _): &(Choice, &Acquisition)| {
        // A total order, whatever a model says; adding zero makes both zeros one.
        let score = |choice: &Choice| choice.score.unwrap_or_default() + 0.0;
        score(b).total_cmp(&score(a)).then(a.id.cmp(&b.id))
    };
    // What no model has scored comes last.
    let is_unseen = move |open: &&Open<'a>| scored(open).is_none();
    let unseen = std::iter::once_with(move || in_random_order(open.iter().filter(is_unseen).map(|open| open.id), seed));
    let unseen = unseen.flatten().map(|id| Choice { id, why: Why::Random, score: None });
    if strategy.besides == Besides::Stochastic {
        ranked.sort_unstable_by(order);
        let lots = by_lot(ranked.into_iter().map(|(choice, _)| choice), seed);
        return Box::new(lots.into_iter().chain(unseen));
    }
    // Of many only those that can be chosen are put in order, and the others when it comes to them.
    let best = part_first(&mut ranked, count.saturating_mul(SHORTLIST), order);
    let mut rest = ranked.split_off(best);
    ranked.sort_unstable_by(order);
    if strategy.besides == Besides::Diverse {
        spread(&mut ranked, count);
    }
    let rest = std::iter::once_with(move || {
        rest.sort_unstable_by(order);
        rest
    });
    Box::new(ranked.into_iter().chain(rest.flatten()).map(|(choice, _)| choice).chain(unseen))
}

/// Puts the best one of each of `count` groups of the best sentences first.
pub(super) fn spread(ranked: &mut Vec<(Choice, &Acquisition)>, count: usize) {
    let shortlist = ranked.len().min(count.saturating_mul(SHORTLIST));
    let directions: Vec<&[i8]> = ranked.iter().take(shortlist).map(|(_, said)| said.direction.as_slice()).collect();
    let groups = groups(&directions, count);
    let mut seen = vec![false; count];
    let is_first = groups.iter().map(|&group| seen.get_mut(group).is_some_and(|seen| !std::mem::replace(seen, true)));
    let mut is_first: Vec<bool> = is_first.collect();
    is_first.resize(ranked.len(), false);
    let (first, rest): (Vec<_>, Vec<_>) = ranked.drain(..).zip(is_first).partition(|(_, is_first)| *is_first);
    ranked.extend(first.into_iter().chain(rest).map(|(ranked, _)| ranked));
}

/// Drawn one after the other, the r-th best with a weight of 1/r, so that each doubling of the ranks is as likely: softrank
/// acquisition (Kirsch et al. 2023), by adding Gumbel noise to the logarithm of the weights. A sentence keeps its luck as
/// long as its score.
pub(super) fn by_lot(ranked: impl Iterator<Item = Choice>, seed: u64) -> Vec<Choice> {
    let key = |(rank, choice): (u32, Choice)| {
        let score = choice.score.unwrap_or(0.0).to_bits();
        let bits = splitmix64(splitmix64(splitmix64(seed) ^ u64::from(choice.id.0)) ^ u64::from(score));
        // In (0, 1), of 53 bits.
        let uniform = ((bits >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        (-f64::from(rank).ln() - (-uniform.ln()).ln(), choice)
    };
    let mut keyed: Vec<(f64, Choice)> = (1..).zip(ranked).map(key).collect();
    keyed.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.id.cmp(&b.1.id)));
    keyed.into_iter().map(|(_, choice)| choice).collect()
}

/// By what they add to the words that are known; where there are scores, these count as often.
pub(super) fn by_words<'a>(
    request: &ChoiceRequest<'a>,
    scores: &HashMap<SentenceId, f32>,
) -> impl Iterator<Item = Choice> + 'a + use<'a> {
    let ChoiceRequest { open, seed, count, .. } = *request;
    let looked_at = first_at_random(open.iter().map(|open| open.id), seed, LOOKED_AT);
    let words: Vec<Vec<&str>> = looked_at.iter().map(|id| (request.words)(*id)).collect();
    let done = first_at_random((request.done)(), seed, LOOKED_AT);
    let done: Vec<Vec<&str>> = done.iter().map(|id| (request.words)(*id)).collect();
    let unseen = if scores.is_empty() { 1.0 } else { 0.0 };
    let weights: Vec<f32> = looked_at.iter().map(|id| scores.get(id).map_or(unseen, |score| score.max(0.0))).collect();
    let first = typical_sentences(&words, &weights, &done, looked_at.len().min(2 * count)).into_iter();
    let first = first.filter_map(|(i, worth)| {
        let id = *looked_at.get(i)?;
        let score = scores.get(&id).copied();
        let why = if score.is_some() { Why::Score } else { Why::Words };
        Some(Choice { id, why, score: score.or(Some(worth)) })
    });
    let first: Vec<Choice> = first.collect();
    let known: HashSet<SentenceId> = first.iter().map(|choice| choice.id).collect();
    let others = std::iter::once_with(move || {
        let others = in_random_order(open.iter().map(|open| open.id), seed).into_iter();
        others.filter(move |id| !known.contains(id))
    });
    first.into_iter().chain(others.flatten().map(|id| Choice { id, why: Why::Random, score: None }))
}

/// `None` where the model was not asked for it, and for what looks at no model.
pub(super) fn score(measure: Measure, said: &Acquisition) -> Option<f32> {
    match measure {
        Measure::LeastConfidence => Some(said.least_confidence),
        Measure::Entropy => Some(said.entropy),
        Measure::Neh => Some(said.head_entropy),
        Measure::MentionCount => Some(said.mentions),
        Measure::Bald => said.disagreement,
        Measure::Random | Measure::Order | Measure::Words => None,
    }
}
