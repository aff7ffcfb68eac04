//! Packed columns: tokens of a sentence and what a model says of it.
//!
//! Tokens are LEB128 numbers and not JSON because there are millions of them and each open reads them all: about 2
//! bytes a token instead of 10, and nothing to parse. Mentions, which people want to query, are plain columns.
//!
//! ```text
//! tokens   (gap since the last token's end, length)*          LEB128
//! heads    probability*                                       f32, little-endian
//! scores   least confidence, entropy, head entropy, mentions, disagreement or NaN as f32, direction as i8
//! spans    (start, width, label, score, runner-up + 1 or 0, its score if any)*
//! ```

use crate::annotation::limits::LABEL_IDS;
use crate::annotation::{Acquisition, HeadProbability, LabelId, Span, Suggestion};
use crate::text::{ByteIdx, TextRange};

/// A value in the file that breaks its rules.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Malformed(pub(super) &'static str);

pub(super) fn pack_tokens(tokens: &[TextRange]) -> Vec<u8> {
    let mut out = Vec::with_capacity(tokens.len() * 2 + 4);
    let mut at = 0;
    for token in tokens {
        let (start, end) = (token.start().get(), token.end().get());
        push_number(&mut out, start - at);
        push_number(&mut out, end - start);
        at = end;
    }
    out
}

pub(super) fn unpack_tokens(bytes: &[u8]) -> Result<Vec<TextRange>, Malformed> {
    const BAD: Malformed = Malformed("the tokens of a sentence can't be read");
    let mut rest = Reader(bytes);
    let mut tokens = Vec::with_capacity(bytes.len() / 2);
    let mut at = 0_usize;
    while !rest.0.is_empty() {
        let start = at.checked_add(rest.number().ok_or(BAD)?).ok_or(BAD)?;
        at = start.checked_add(rest.number().ok_or(BAD)?).ok_or(BAD)?;
        tokens.push(TextRange::new(ByteIdx::new(start), ByteIdx::new(at)).ok_or(BAD)?);
    }
    Ok(tokens)
}

pub(super) fn pack_heads(heads: &[HeadProbability]) -> Vec<u8> {
    heads.iter().flat_map(|p| p.to_le_bytes()).collect()
}

pub(super) fn unpack_heads(bytes: &[u8]) -> Result<Vec<HeadProbability>, Malformed> {
    let (numbers, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(Malformed("the head probabilities of a sentence can't be read"));
    }
    Ok(numbers.iter().map(|n| f32::from_le_bytes(*n)).collect())
}

pub(super) fn pack_acquisition(scores: &Acquisition) -> Vec<u8> {
    let Acquisition { least_confidence, entropy, head_entropy, mentions, disagreement, direction } = scores;
    let numbers = [*least_confidence, *entropy, *head_entropy, *mentions, disagreement.unwrap_or(f32::NAN)];
    let direction = direction.iter().map(|x| x.to_le_bytes()[0]);
    numbers.iter().flat_map(|x| x.to_le_bytes()).chain(direction).collect()
}

pub(super) fn unpack_acquisition(bytes: &[u8]) -> Result<Acquisition, Malformed> {
    const BAD: Malformed = Malformed("the acquisition scores of a sentence can't be read");
    let mut rest = Reader(bytes);
    let mut number = || rest.float().ok_or(BAD);
    let (least_confidence, entropy, head_entropy, mentions) = (number()?, number()?, number()?, number()?);
    let disagreement = Some(number()?).filter(|x| !x.is_nan());
    let direction = rest.0.iter().map(|byte| i8::from_le_bytes([*byte])).collect();
    Ok(Acquisition { least_confidence, entropy, head_entropy, mentions, disagreement, direction })
}

pub(super) fn pack_suggestions(spans: &[Suggestion]) -> Vec<u8> {
    let mut out = Vec::with_capacity(spans.len() * 14);
    for suggestion in spans {
        push_number(&mut out, suggestion.span.start().get());
        push_number(&mut out, suggestion.span.width_tokens());
        push_number(&mut out, suggestion.label.0 as usize);
        out.extend(suggestion.score.to_le_bytes());
        match suggestion.runner_up {
            Some((label, score)) => {
                push_number(&mut out, label.0 as usize + 1);
                out.extend(score.to_le_bytes());
            }
            None => push_number(&mut out, 0),
        }
    }
    out
}

pub(super) fn unpack_suggestions(bytes: &[u8]) -> Result<Vec<Suggestion>, Malformed> {
    const BAD: Malformed = Malformed("the suggestions of a sentence can't be read");
    let mut rest = Reader(bytes);
    let mut spans = Vec::new();
    while !rest.0.is_empty() {
        let start = rest.number().ok_or(BAD)?;
        let end = start.checked_add(rest.number().ok_or(BAD)?).ok_or(BAD)?;
        let span = Span::from_range(start..end).ok_or(BAD)?;
        let label = rest.label(0).ok_or(BAD)?;
        let score = rest.float().ok_or(BAD)?;
        let runner_up = match rest.0.first() {
            Some(0) => rest.number().and(None),
            _ => Some((rest.label(1).ok_or(BAD)?, rest.float().ok_or(BAD)?)),
        };
        spans.push(Suggestion { span, label, score, runner_up });
    }
    Ok(spans)
}

/// LEB128: seven bits a byte, low bits first, the high bit set on all bytes but the last.
fn push_number(out: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// What is left to read.
struct Reader<'b>(&'b [u8]);

impl Reader<'_> {
    fn number(&mut self) -> Option<usize> {
        let mut number = 0_u64;
        for shift in (0..63).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return usize::try_from(number).ok();
            }
        }
        None
    }

    fn label(&mut self, offset: usize) -> Option<LabelId> {
        let id = self.number()?.checked_sub(offset).and_then(|id| u32::try_from(id).ok())?;
        (id < LABEL_IDS).then_some(LabelId(id))
    }

    fn float(&mut self) -> Option<f32> {
        let (bytes, rest) = self.0.split_first_chunk::<4>()?;
        self.0 = rest;
        Some(f32::from_le_bytes(*bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn tokens_come_back(gaps in prop::collection::vec((0_usize..1 << 20, 1_usize..1 << 20), 0..50)) {
            let mut at = 0;
            let tokens: Vec<_> = gaps.iter().map(|&(gap, len)| {
                let start = at + gap;
                at = start + len;
                TextRange::new(ByteIdx::new(start), ByteIdx::new(at)).unwrap()
            }).collect();
            prop_assert_eq!(unpack_tokens(&pack_tokens(&tokens)).unwrap(), tokens);
        }

        #[test]
        fn suggestions_come_back(
            raw in prop::collection::vec(
                (0_usize..5000, 1_usize..300, 0_u32..LABEL_IDS, 0_f32..=1.0, prop::option::of((0_u32..LABEL_IDS, 0_f32..=1.0))),
                0..20,
            ),
        ) {
            let spans: Vec<_> = raw.into_iter().map(|(start, width, label, score, runner_up)| Suggestion {
                span: Span::from_range(start..start + width).unwrap(),
                label: LabelId(label),
                score,
                runner_up: runner_up.map(|(label, score)| (LabelId(label), score)),
            }).collect();
            prop_assert_eq!(unpack_suggestions(&pack_suggestions(&spans)).unwrap(), spans);
        }

        #[test]
        fn acquisition_scores_come_back(
            numbers in any::<[f32; 4]>().prop_filter("NaN is no score", |n| n.iter().all(|x| !x.is_nan())),
            disagreement in prop::option::of(0_f32..9.0),
            direction in prop::collection::vec(any::<i8>(), 0..70),
        ) {
            let [least_confidence, entropy, head_entropy, mentions] = numbers;
            let scores = Acquisition { least_confidence, entropy, head_entropy, mentions, disagreement, direction };
            prop_assert_eq!(unpack_acquisition(&pack_acquisition(&scores)).unwrap(), scores);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = (unpack_tokens(&bytes), unpack_heads(&bytes), unpack_suggestions(&bytes), unpack_acquisition(&bytes));
        }
    }
}
