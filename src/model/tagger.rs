//! One linear layer gives each word scores of BIO tags, and a CRF or a softmax makes tags of them.

use super::candidates::spans_from;
use super::drawn_tags::DrawnTags;
use super::tags::BioTags;
use super::{
    Candidates, Class, FirstWordFilter, Found, ModelError, OptionDefault, OptionError, OptionSpec, OptionValues,
    Prediction,
};
use crate::annotation::Span;
use crate::nn::crf::{Crf, Lattice, Run, RunMarginals, Tag};
use crate::nn::{Linear, Operations, Scope, cross_entropy, softmax};
use crate::parameter::{Kind, Value};
use candle_core::Tensor;
use rayon::prelude::*;

/// See [`TagChoice`].
pub(super) const TAGS: OptionSpec = OptionSpec {
    name: "tags",
    takes: Kind::Choice(&["crf", "softmax"]),
    default: OptionDefault::Fixed(Value::Choice("crf")),
    shapes_weights: true,
    help: "how tags are chosen: together (crf) or word by word (softmax)",
};

/// How the tags of a sentence are chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum TagChoice {
    /// All together, by a conditional random field that knows which tags may follow each other.
    #[default]
    Crf,
    /// Each by itself.
    Softmax,
}

impl TagChoice {
    /// # Errors
    /// When [`TAGS`] is none of the options.
    pub(super) fn of(options: &OptionValues) -> Result<Self, OptionError> {
        Ok(if options.choice(&TAGS)? == "softmax" { Self::Softmax } else { Self::Crf })
    }
}

/// Labels of a CRF, at most: it has a transition between each two tags, so that its memory grows with their square.
const MOST_LABELS: usize = 1000;

#[derive(Debug)]
pub(super) struct Tagger {
    tags: BioTags,
    output: Linear,
    crf: Option<Crf>,
    operations: Operations,
}

/// What is said of one sentence.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct TagAnswer {
    /// Those of the most probable tags, in order; none overlap. Each has its own probability, which is that of all sequences of
    /// tags that hold it.
    pub mentions: Vec<Found>,
    /// Probability of each word to be the first of a mention.
    pub first_words: Vec<f32>,
    /// Those that were asked about.
    pub spans: Vec<Span>,
    /// C of each span: that it is no mention, and that it is one of each label.
    pub probabilities: Vec<f32>,
}

impl TagAnswer {
    /// As an architecture gives it, of C classes.
    pub(super) fn prediction(self, classes: usize) -> Result<Prediction, ModelError> {
        let candidates = Candidates::new(self.spans, classes, self.probabilities);
        Ok(Prediction {
            first_words: Some(self.first_words),
            candidates: candidates.ok_or(ModelError::Incomplete)?,
            decided: Some(self.mentions),
        })
    }
}

/// What [`Asked::starts`] is for models that are asked about the same spans: the words that an answer for each sentence says
/// are likely to begin a mention.
pub(super) fn likely_starts(
    answers: &[TagAnswer],
    filter: FirstWordFilter,
) -> impl Fn(usize, usize, f32) -> bool + Sync + '_ {
    move |sentence, word, _| {
        let p = answers.get(sentence).and_then(|answer| answer.first_words.get(word));
        p.is_some_and(|p| filter.passes(*p))
    }
}

/// Which spans are asked about: those of at most `longest` words that begin where `starts` says so, given the number of the
/// sentence, the word's, and its probability to be the first of a mention.
pub(super) struct Asked<'a> {
    pub longest: usize,
    pub starts: &'a (dyn Fn(usize, usize, f32) -> bool + Sync),
}

impl Tagger {
    /// Above words' vectors of `inputs` numbers, for C classes, "none" included.
    ///
    /// # Errors
    /// When there are too many labels for a CRF; see [`Scope::declare`].
    pub(super) fn new(
        scope: &mut Scope<'_>,
        inputs: usize,
        classes: usize,
        choice: TagChoice,
        operations: Operations,
    ) -> Result<Self, ModelError> {
        let tags = BioTags::new(classes);
        let crf = match choice {
            TagChoice::Crf if classes > MOST_LABELS + 1 => {
                return Err(ModelError::TooManyLabels { labels: classes - 1, most: MOST_LABELS });
            }
            TagChoice::Crf => Some(Crf::new(scope.scope("crf"), tags.allowed()?)?),
            TagChoice::Softmax => None,
        };
        Ok(Self { tags, output: Linear::uniform(scope.scope("tags"), inputs, tags.count())?, crf, operations })
    }

    pub(super) fn tags(&self) -> BioTags {
        self.tags
    }

    /// Mean over words: of the cross-entropy of their tags, or −ln of the probability of their sentences' tags, divided by the
    /// words. `words` `[W, D]` of sentences of `lens` words, `gold` W tags.
    ///
    /// # Errors
    /// On shapes that don't fit; when gold is forbidden.
    pub(super) fn loss(&self, words: &Tensor, lens: &[usize], gold: &[Tag]) -> Result<Tensor, ModelError> {
        let scores = self.output.forward(words, self.operations)?;
        Ok(match &self.crf {
            Some(crf) => crf.loss(&scores, lens, gold)?,
            None => cross_entropy(&scores, gold)?,
        })
    }

    /// One answer for each sentence; `words` `[W, D]` of sentences of `lens` words.
    ///
    /// # Errors
    /// On shapes that don't fit.
    pub(super) fn answers(
        &self,
        words: &Tensor,
        lens: &[usize],
        asked: &Asked<'_>,
    ) -> Result<Vec<TagAnswer>, ModelError> {
        let scores = self.output.forward(words, self.operations)?;
        if let Some(crf) = &self.crf {
            let lattices = crf.lattices(&scores, lens)?;
            let runs = self.tags.runs();
            let answer = |(number, lattice): (usize, Lattice<'_>)| {
                self.answer(number, &lattice.best(), &lattice.marginals().runs(&runs), asked)
            };
            return Ok(lattices.sentences().into_par_iter().enumerate().map(answer).collect());
        }
        let probabilities = softmax(&scores)?.flatten_all()?.to_vec1::<f32>()?;
        let mut rest = probabilities.as_slice();
        let answer = |(number, len): (usize, &usize)| {
            let (own, after) = rest.split_at(len * self.tags.count());
            rest = after;
            let drawn = DrawnTags::new(self.tags, own);
            self.answer(number, &drawn.best(), &drawn, asked)
        };
        Ok(lens.iter().enumerate().map(answer).collect())
    }

    fn answer(&self, number: usize, best: &[Tag], said: &impl Mentions, asked: &Asked<'_>) -> TagAnswer {
        let (runs, words) = (self.tags.runs(), best.len());
        // What is no number stays none.
        let begins = |word| runs.iter().map(|run| said.begins(word, *run)).sum::<f64>().clamp(0.0, 1.0) as f32;
        let first_words: Vec<f32> = (0..words).map(begins).collect();
        let (mut spans, mut probabilities, classes) = (Vec::new(), Vec::new(), runs.len() + 1);
        for (start, _) in first_words.iter().enumerate().filter(|(word, p)| (asked.starts)(number, *word, **p)) {
            let from = probabilities.len();
            spans.extend(spans_from(start, words, asked.longest));
            probabilities.resize(spans.len() * classes, 0.0);
            let of_start = &mut probabilities[from..];
            for (class, run) in (1..).zip(&runs) {
                let rows = of_start.chunks_exact_mut(classes);
                rows.zip(said.stretches(start, *run)).for_each(|(row, p)| row[class] = p as f32);
            }
            for row in of_start.chunks_exact_mut(classes) {
                row[0] = (1.0 - row[1..].iter().sum::<f32>()).clamp(0.0, 1.0);
            }
        }
        TagAnswer { mentions: self.mentions(best, said), first_words, spans, probabilities }
    }

    /// The mentions of the most probable tags, each with the probabilities of its label and of the next one on its words.
    fn mentions(&self, best: &[Tag], said: &impl Mentions) -> Vec<Found> {
        let runs = self.tags.runs();
        let mention = |(span, class): (Span, Class)| {
            let (start, others) = (span.start().get(), span.width_tokens() - 1);
            let mut found = Found::decided(span, class, 0.0);
            for (label, run) in (1..).zip(&runs) {
                let p = said.stretches(start, *run).nth(others).unwrap_or(0.0) as f32;
                if label == class {
                    found.score = p;
                } else if found.runner_up.is_none_or(|(_, best)| p > best) {
                    found.runner_up = Some((label, p));
                }
            }
            found
        };
        self.tags.decode(best).into_iter().map(mention).collect()
    }
}

/// Probabilities of the mentions of a sentence.
trait Mentions {
    /// That one begins at a word.
    fn begins(&self, word: usize, run: Run) -> f64;

    /// Of those that begin at a word, the shortest first.
    fn stretches(&self, word: usize, run: Run) -> impl Iterator<Item = f64>;
}

impl Mentions for RunMarginals<'_> {
    fn begins(&self, word: usize, run: Run) -> f64 {
        self.begins(word, run)
    }

    fn stretches(&self, word: usize, run: Run) -> impl Iterator<Item = f64> {
        self.stretches(word, run)
    }
}

impl Mentions for DrawnTags<'_> {
    fn begins(&self, word: usize, run: Run) -> f64 {
        self.begins(word, run)
    }

    fn stretches(&self, word: usize, run: Run) -> impl Iterator<Item = f64> {
        self.stretches(word, run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::{ParameterGroup, Rng, Vars};
    use candle_core::Device;

    fn tagger(vars: &mut Vars, classes: usize, choice: TagChoice) -> Result<Tagger, ModelError> {
        Tagger::new(&mut vars.scope("head", ParameterGroup::TaskHead), 6, classes, choice, Operations::ByHand)
    }

    #[test]
    fn what_is_said_of_a_sentence_adds_up() {
        for choice in [TagChoice::Crf, TagChoice::Softmax] {
            let mut rng = Rng::new(1, "words");
            let mut vars = Vars::trainable(4, &Device::Cpu);
            let transitions: Vec<f32> = (0..25).map(|_| rng.normal()).collect();
            vars.stock([(
                "head.crf.transitions".to_owned(),
                Tensor::from_vec(transitions, (5, 5), &Device::Cpu).unwrap(),
            )]);
            let tagger = tagger(&mut vars, 3, choice).unwrap();
            let lens = [4, 0, 5];
            let words: Vec<f32> = (0..9 * 6).map(|_| 3.0 * rng.normal()).collect();
            let words = Tensor::from_vec(words, (9, 6), &Device::Cpu).unwrap();
            let all = tagger.answers(&words, &lens, &Asked { longest: 9, starts: &|_, _, _| true }).unwrap();
            let odd = |sentence: usize, word: usize, _: f32| sentence == 2 && word % 2 == 1;
            let some = tagger.answers(&words, &lens, &Asked { longest: 2, starts: &odd }).unwrap();
            assert_eq!(all.iter().map(|answer| answer.spans.len()).collect::<Vec<_>>(), [10, 0, 15]);
            assert_eq!(format!("{:?}", some[2].spans), "[1..2, 1..3, 3..4, 3..5]");
            assert!(some[0].spans.is_empty() && all.iter().any(|answer| !answer.mentions.is_empty()));
            for (answer, some) in all.iter().zip(&some) {
                let rows = || answer.spans.iter().zip(answer.probabilities.chunks_exact(3));
                let row = |span: Span| rows().find(|(other, _)| **other == span).unwrap().1;
                assert!(rows().all(|(_, row)| (row.iter().sum::<f32>() - 1.0).abs() < 1e-5));
                for (word, p) in answer.first_words.iter().enumerate() {
                    let of_word = rows().filter(|(span, _)| span.start().get() == word);
                    let sum: f32 = of_word.map(|(_, row)| row[1] + row[2]).sum();
                    assert!((sum - p).abs() < 1e-5, "{choice:?}: {sum} {p}");
                }
                for found in &answer.mentions {
                    let other = 3 - found.class;
                    assert_eq!(found.score, row(found.span)[found.class as usize]);
                    assert_eq!(found.runner_up, Some((other, row(found.span)[other as usize])));
                }
                // What is asked about changes nothing of what is said.
                assert_eq!((&some.mentions, &some.first_words), (&answer.mentions, &answer.first_words));
                assert!(
                    some.spans.iter().zip(some.probabilities.chunks_exact(3)).all(|(span, said)| said == row(*span))
                );
            }
        }
    }

    #[test]
    fn more_labels_than_a_crf_takes_are_refused() {
        let refused = tagger(&mut Vars::trainable(4, &Device::Cpu), MOST_LABELS + 2, TagChoice::Crf).unwrap_err();
        assert!(refused.to_string().contains("at most 1000 labels, and there are 1001"), "{refused}");
        assert!(tagger(&mut Vars::trainable(4, &Device::Cpu), MOST_LABELS + 2, TagChoice::Softmax).is_ok());
    }
}
