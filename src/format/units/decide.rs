//! From evidence to a way of counting.
//!
//! | the places of the file | what is done |
//! |---|---|
//! | are whole words as code points, ends exclusive | taken so, as most programs write it |
//! | are whole words in another way, and clearly fewer as code points | taken in that way, and told on what evidence |
//! | fit two ways alike that give other words, or hardly any way | the person has to say |
//! | of which but a few look wrong | taken as code points; each of them is reported, as its reader finds it |
//! | quote words | each document in the way in which its own quotes are there |

use super::evidence::{Evidence, Said, Tally, quotes_found};
use super::{Counting, Ends, Forced, Unit};
use crate::wording::{counted, listed};
use std::cmp::Reverse;

/// Places that look wrong in any way, and are reported one by one; more of them stop the reader, unless they are a small
/// part of the file.
const FEW: usize = 3;

/// What the offsets of a file count.
#[derive(Clone, Debug)]
pub(in crate::format) struct Decision {
    pub(in crate::format) counting: Counting,
    /// On what evidence, where it is not the usual way.
    pub(in crate::format) why: Option<String>,
    /// Another unit fits as well and gives other words.
    pub(in crate::format) rival: Option<Counting>,
    pub(in crate::format) forced: Forced,
}

/// It can't be told.
#[derive(Clone, Debug)]
pub(in crate::format) struct Doubt {
    pub(in crate::format) why: String,
}

impl Evidence {
    /// # Errors
    /// The person has to say what the offsets count.
    pub(in crate::format) fn decide(&self) -> Result<Decision, Doubt> {
        let Some((usual, tally)) = self.ways.first() else { return Ok(Decision::forced(self.forced)) };
        let decision = |counting| Decision { counting, why: None, rival: None, forced: self.forced };
        if tally.whole == self.places {
            let rival = self.ways.iter().find(|(way, other)| {
                way.ends == usual.ends && other.whole == tally.whole && other.words != tally.words
            });
            return Ok(Decision { rival: rival.map(|(way, _)| *way), ..decision(*usual) });
        }
        let better = self.ways.iter().skip(1).filter(|(way, other)| {
            let is_clear = if way.ends == usual.ends { is_clear(other) } else { ends_are_clear(other, self.places) };
            other.whole > tally.whole && is_clear
        });
        let rank = |tally: &Tally| (tally.whole, Reverse(tally.open));
        // The first of the best ones, so that exclusive ends win over inclusive ones.
        let best = better.clone().reduce(|best, next| if rank(&next.1) > rank(&best.1) { next } else { best });
        if let Some((way, best)) = best {
            let rival = better.clone().find(|(other, tally)| {
                other.ends == way.ends && rank(tally) == rank(best) && tally.words != best.words
            });
            return match rival {
                Some(_) if self.forced.unit.is_none() => Err(self.doubt()),
                _ => Ok(Decision { why: Some(self.why(best, tally, *usual)), ..decision(*way) }),
            };
        }
        let is_doubtful = tally.astride > FEW && tally.astride * 20 > self.places;
        if is_doubtful && self.forced.unit.is_none() { Err(self.doubt()) } else { Ok(decision(*usual)) }
    }

    fn why(&self, best: &Tally, usual: &Tally, counting: Counting) -> String {
        format!(
            "then {} of {} are whole words or what is quoted there, and as {counting} with {} ends {}",
            best.whole,
            counted(self.places, "place", "places"),
            counting.ends.name(),
            usual.whole
        )
    }

    fn doubt(&self) -> Doubt {
        let plain = |unit| self.ways.iter().find(|(way, _)| *way == Counting { unit, ..Counting::USUAL });
        let units = [Unit::Chars, Unit::Utf16, Unit::Bytes, Unit::Graphemes];
        let counts = units.into_iter().filter_map(plain).map(|(way, tally)| format!("{} in {way}", tally.whole));
        let counts: Vec<String> = counts.collect();
        let counts = listed(&counts.iter().map(String::as_str).collect::<Vec<_>>());
        let first = self.first.as_ref().map(|first| format!("; the first that is none: {first}")).unwrap_or_default();
        Doubt {
            why: format!(
                "it is unclear what the offsets count: of {} those that are whole words are {counts}{first}",
                counted(self.places, "place", "places")
            ),
        }
    }
}

/// Another unit: a place that nobody would mark so, or two that are parts of words, and hardly one that speaks against it.
fn is_clear(tally: &Tally) -> bool {
    (tally.strong_wins > 0 || tally.wins > 1) && tally.wins >= 4 * tally.losses && tally.wins >= tally.open
}

/// Inclusive ends: few programs write them, and people mark words without their endings.
fn ends_are_clear(tally: &Tally, places: usize) -> bool {
    let ends = &tally.ends;
    let is_proved = ends.quoted_wins > 0 || (ends.wins > 1 && ends.letters_differ);
    is_proved && ends.wins >= 9 * ends.losses && tally.whole * 5 >= places * 4
}

impl Decision {
    /// What the person has said, with the usual way for the rest.
    pub(in crate::format) fn forced(forced: Forced) -> Self {
        let (unit, ends) = (forced.unit.unwrap_or(Unit::Chars), forced.ends.unwrap_or(Ends::Exclusive));
        Self { counting: Counting { unit, ends, ..Counting::USUAL }, why: None, rival: None, forced }
    }

    /// How a document counts: as the file does, unless more of what the document quotes is there in another way. With the
    /// number of quotes that are there.
    pub(in crate::format) fn of_document(&self, text: &str, said: &[Said<'_>]) -> (Counting, usize) {
        let quoting = said.iter().filter(|said| said.quoted.is_some()).count();
        let own = || std::iter::once(self.counting);
        let found = quotes_found(text, said, own()).first().map_or(0, |(_, found)| *found);
        if found == quoting {
            return (self.counting, found);
        }
        let all = quotes_found(text, said, own().chain(Counting::all(self.forced)));
        // The first of the best ones.
        let best = all.into_iter().reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.filter(|(_, most)| *most > found).unwrap_or((self.counting, found))
    }
}
