//! The file of a Unigram tokenizer (SentencePiece's kind) with fewer pieces.

use super::EncoderError;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// `tokenizer.json` with the pieces whose numbers are in `kept`, in that order and with their scores, to four decimals. Marks are
/// renumbered where the file names them by number; all else stays.
///
/// # Errors
/// When it is not the file of a Unigram model, a number is none of its own, or a mark would be gone that it needs.
pub(super) fn with_pieces(json: &[u8], kept: &[u32]) -> Result<Vec<u8>, EncoderError> {
    let other = || EncoderError::Cut("its tokenizer.json is not that of a Unigram model");
    let mut file: Map<String, Value> = serde_json::from_slice(json).map_err(|_| other())?;
    let new_of: HashMap<u64, usize> = kept.iter().enumerate().map(|(new, old)| (u64::from(*old), new)).collect();
    let new_number = |old: &Value| old.as_u64().and_then(|old| new_of.get(&old)).map(|new| Value::from(*new));

    let model = file.get_mut("model").and_then(Value::as_object_mut).ok_or_else(other)?;
    let Some(Value::Array(pieces)) = model.remove("vocab") else { return Err(other()) };
    let piece = |number: &u32| {
        let piece = pieces.get(*number as usize).and_then(Value::as_array);
        piece.and_then(|piece| Some(Value::from(vec![piece.first()?.clone(), short(piece.get(1)?)])))
    };
    let pieces: Option<Vec<Value>> = kept.iter().map(piece).collect();
    model.insert("vocab".to_owned(), pieces.ok_or(EncoderError::Cut("a subword to keep is none of its own"))?.into());
    if let Some(unknown) = model.get_mut("unk_id").filter(|unknown| !unknown.is_null()) {
        *unknown = new_number(unknown).ok_or(EncoderError::Cut("the subword for what is unknown must stay"))?;
    }

    if let Some(Value::Array(added)) = file.get_mut("added_tokens") {
        added.retain_mut(|token| {
            let new = token.get("id").and_then(new_number);
            token.as_object_mut().zip(new).map(|(token, new)| token.insert("id".to_owned(), new)).is_some()
        });
    }
    if let Some(padding) = file.get_mut("padding").and_then(Value::as_object_mut)
        && let Some(number) = padding.get("pad_id").and_then(new_number)
    {
        padding.insert("pad_id".to_owned(), number);
    }
    if let Some(marks) = file.get_mut("post_processor") {
        let renumbered = renumber_marks(marks, &new_number);
        renumbered.ok_or(EncoderError::Cut("the subwords that begin and end sentences must stay"))?;
    }
    serde_json::to_vec(&file).map_err(|_| other())
}

/// A score with four decimals: of the logarithm of a frequency the rest is noise, and a third of the file.
fn short(score: &Value) -> Value {
    score.as_f64().map_or_else(|| score.clone(), |score| Value::from((score * 1e4).round() / 1e4))
}

/// The marks in a post-processor, in all forms that it has: `{"special_tokens": {MARK: {"ids": [N]}}}`, `"sep": [MARK, N]`,
/// or several in `processors`. `None` where one is gone.
fn renumber_marks(step: &mut Value, new_number: &impl Fn(&Value) -> Option<Value>) -> Option<()> {
    let renumber = |number: &mut Value| {
        *number = new_number(number)?;
        Some(())
    };
    if let Some(steps) = step.get_mut("processors").and_then(Value::as_array_mut) {
        steps.iter_mut().try_for_each(|step| renumber_marks(step, new_number))?;
    }
    if let Some(marks) = step.get_mut("special_tokens").and_then(Value::as_object_mut) {
        let numbers = marks.values_mut().filter_map(|mark| mark.get_mut("ids")?.as_array_mut()).flatten();
        numbers.into_iter().try_for_each(renumber)?;
    }
    for key in ["cls", "sep"] {
        if let Some(number) = step.get_mut(key).and_then(|mark| mark.get_mut(1)) {
            renumber(number)?;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn file() -> Value {
        json!({
            "version": "1.0",
            "padding": {"pad_id": 1, "pad_token": "<pad>"},
            "added_tokens": [{"id": 0, "content": "<s>"}, {"id": 2, "content": "</s>"}, {"id": 7, "content": "<mask>"}],
            "normalizer": {"type": "NFKC"},
            "post_processor": {"type": "TemplateProcessing", "single": [],
                "special_tokens": {"<s>": {"id": "<s>", "ids": [0]}, "</s>": {"id": "</s>", "ids": [2]}}},
            "model": {"type": "Unigram", "unk_id": 3, "vocab": [["<s>", 0.0], ["<pad>", 0.0], ["</s>", 0.0], ["<unk>", 0.0],
                ["a", -3.4635426998138428], ["b", -4.00001], ["ab", -5.5], ["<mask>", 0.0]]},
        })
    }

    fn cut(file: &Value, kept: &[u32]) -> Result<Value, String> {
        let made = with_pieces(&serde_json::to_vec(file).unwrap(), kept).map_err(|e| e.to_string())?;
        Ok(serde_json::from_slice(&made).unwrap())
    }

    #[test]
    fn pieces_keep_their_scores_and_marks_their_meaning() {
        let made = cut(&file(), &[6, 2, 1, 3, 0, 4]).unwrap();
        let vocab = json!([["ab", -5.5], ["</s>", 0.0], ["<pad>", 0.0], ["<unk>", 0.0], ["<s>", 0.0], ["a", -3.4635]]);
        assert_eq!(made["model"], json!({"type": "Unigram", "unk_id": 3, "vocab": vocab}));
        assert_eq!(made["added_tokens"], json!([{"id": 4, "content": "<s>"}, {"id": 1, "content": "</s>"}]));
        assert_eq!(made["padding"], json!({"pad_id": 2, "pad_token": "<pad>"}));
        let marks = &made["post_processor"]["special_tokens"];
        assert_eq!((&marks["<s>"]["ids"], &marks["</s>"]["ids"]), (&json!([4]), &json!([1])));
        assert_eq!((&made["normalizer"], &made["version"]), (&json!({"type": "NFKC"}), &json!("1.0")));

        let mut other = file();
        other["post_processor"] = json!({"type": "Sequence", "processors": [
            {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0], "trim_offsets": true}]});
        let made = cut(&other, &[2, 0, 3]).unwrap();
        let of_roberta = &made["post_processor"]["processors"][0];
        assert_eq!((&of_roberta["sep"], &of_roberta["cls"]), (&json!(["</s>", 0]), &json!(["<s>", 1])));
    }

    #[test]
    fn what_a_tokenizer_needs_can_t_go() {
        let refused = |file: &Value, kept: &[u32], expected: &str| {
            let message = cut(file, kept).unwrap_err();
            assert!(message.contains(expected), "{message}");
        };
        refused(&file(), &[0, 2, 4], "unknown must stay");
        refused(&file(), &[0, 3, 4], "begin and end sentences must stay");
        refused(&file(), &[0, 2, 3, 8], "none of its own");
        refused(&json!({"model": {"type": "BPE", "vocab": {"a": 0}}}), &[0], "not that of a Unigram model");
        refused(&json!([]), &[0], "not that of a Unigram model");
    }
}
