//! One linear layer gives each word scores of BIO tags, and a CRF or a softmax makes tags of them.

use super::drawn_tags::DrawnTags;
use super::tags::BioTags;
use super::{Class, Found, ModelError, OptionDefault, OptionError, OptionSpec, OptionValues};
use crate::annotation::Span;
use crate::nn::crf::{Crf, Lattice, Run, RunMarginals, Tag};
use crate::nn::{Linear, NnError, Operations, Scope, cross_entropy, softmax};
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
    /// C of each span: "none", and of each label that the span is a mention of it.
    pub probabilities: Vec<f32>,
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
    /// See [`Scope::declare`].
    pub(super) fn new(
        scope: &mut Scope<'_>,
        inputs: usize,
        classes: usize,
        choice: TagChoice,
        operations: Operations,
    ) -> Result<Self, NnError> {
        let tags = BioTags::new(classes);
        let crf = match choice {
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
                let marginals = lattice.marginals();
                self.answer(number, &lattice.best(), &marginals.runs(&runs), asked)
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
        let runs = self.tags.runs();
        let probability = |span: Span, run: &Run| {
            said.stretches(span.start().get(), *run).nth(span.width_tokens() - 1).unwrap_or(0.0)
        };
        let mention = |(span, class): (Span, Class)| {
            let mut found = Found::decided(span, class, 0.0);
            for (label, p) in (1..).zip(runs.iter().map(|run| probability(span, run) as f32)) {
                if label == class {
                    found.score = p;
                } else if found.runner_up.is_none_or(|(_, best)| p > best) {
                    found.runner_up = Some((label, p));
                }
            }
            found
        };
        let mentions = self.tags.decode(best).into_iter().map(mention).collect();
        let begins = |word| runs.iter().map(|run| said.begins(word, *run)).sum::<f64>().min(1.0) as f32;
        let first_words: Vec<f32> = (0..best.len()).map(begins).collect();
        let mut answer = TagAnswer { mentions, first_words, ..TagAnswer::default() };
        for (start, p) in answer.first_words.iter().enumerate() {
            if !(asked.starts)(number, start, *p) {
                continue;
            }
            let (from, classes) = (answer.probabilities.len(), runs.len() + 1);
            answer
                .spans
                .extend((start + 1..=best.len()).take(asked.longest).filter_map(|end| Span::from_range(start..end)));
            answer.probabilities.resize(answer.spans.len() * classes, 0.0);
            for (class, run) in (1..).zip(&runs) {
                let rows = answer.probabilities[from..].chunks_exact_mut(classes);
                rows.zip(said.stretches(start, *run)).for_each(|(row, p)| row[class] = p as f32);
            }
            for row in answer.probabilities[from..].chunks_exact_mut(classes) {
                row[0] = (1.0 - row[1..].iter().sum::<f32>()).max(0.0);
            }
        }
        answer
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
