//! A made-up corpus of any size: the same bytes for the same number of sentences, on every machine.
//!
//! Sentences of 10 to 30 words, the frequent ones far more frequent (as in real text), in one script a document; three
//! mentions a sentence, one of them inside another.

use crate::nn::Rng;
use serde::Serialize;
use std::io::Write;

const SENTENCES_A_DOCUMENT: usize = 100;
/// Different words of one script.
const WORDS: usize = 20_000;
const LABELS: [&str; 8] = ["PER", "ORG", "LOC", "GPE", "FAC", "DATE", "PRODUCT", "EVENT"];

/// Syllables to make words from, and how many documents in ten are of this script.
const SCRIPTS: [(&str, usize); 7] = [
    ("ber gen hav mar lin sto dal ken ro ti va so el ing ter ne lo ka ri as un de mo li san pre con for ver al is", 4),
    ("grün stück für schö mäd tag wal fluß berg hei zeit ung lich keit ge be ver ent auf ab ein haus hof land", 1),
    ("мо ско ва го род ре ка не бо сто ро на пе тер бург ли за ни ка мень ве тер но вый", 1),
    ("θα λα σσα νη σί πό λη δρό μος ου ρα νός κα λη μέ ρα φω τιά α θή να", 1),
    ("مد ينة با ب نه ر كت اب قل م سو ق بح ر شا رع جب ل", 1),
    ("서울 부산 바다 나라 사람 학교 도시 강 산 마을 시장 에서 으로 까지", 1),
    ("北 京 大 学 海 上 山 人 国 中 河 城 市 东 西 南 风 雨 水 火 木 金 土 日 月", 1),
];

#[derive(Serialize)]
struct Line<'a> {
    doc: String,
    tokens: Vec<&'a str>,
    entities: Vec<Entity>,
}

#[derive(Serialize)]
struct Entity {
    start: usize,
    end: usize,
    label: &'static str,
}

/// Writes a corpus as JSONL, with exclusive ends, one sentence at a time; `go_on` is asked after each document.
/// Returns whether it was written to its end.
pub(super) fn write(
    sentences: usize,
    out: &mut dyn Write,
    mut go_on: impl FnMut(usize) -> bool,
) -> std::io::Result<bool> {
    let mut rng = Rng::new(1, "bench");
    let vocabularies: Vec<Vec<String>> = SCRIPTS.iter().map(|(syllables, _)| vocabulary(syllables, &mut rng)).collect();
    // One entry for each document in ten.
    let turns: Vec<&Vec<String>> =
        vocabularies.iter().zip(SCRIPTS).flat_map(|(words, (_, share))| std::iter::repeat_n(words, share)).collect();
    for number in 0..sentences {
        let document = number / SENTENCES_A_DOCUMENT;
        let Some(words) = turns.get(document % turns.len()) else { continue };
        let line = sentence(words, format!("document {document}"), &mut rng);
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")?;
        if (number + 1) % SENTENCES_A_DOCUMENT == 0 && !go_on(number + 1) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn vocabulary(syllables: &str, rng: &mut Rng) -> Vec<String> {
    let syllables: Vec<&str> = syllables.split(' ').collect();
    let word = |_| {
        let length = 1 + rng.below(3);
        (0..length).filter_map(|_| syllables.get(rng.below(syllables.len()))).copied().collect()
    };
    (0..WORDS).map(word).collect()
}

fn sentence<'a>(words: &'a [String], doc: String, rng: &mut Rng) -> Line<'a> {
    let length = 10 + rng.below(21);
    // The logarithm of the rank is uniform: Zipf's law.
    let rank = |rng: &mut Rng| (words.len() as f32).powf(rng.unit()) as usize - 1;
    let mut tokens: Vec<&str> = (0..length - 1).filter_map(|_| words.get(rank(rng))).map(String::as_str).collect();
    tokens.push(".");
    let label = |rng: &mut Rng| LABELS.get(rng.below(LABELS.len())).copied().unwrap_or("PER");
    let (start, width) = (rng.below(length / 2), 2 + rng.below(4));
    let inner = start + rng.below(width - 1);
    let entities = vec![
        Entity { start, end: start + width, label: label(rng) },
        Entity { start: inner, end: inner + 1, label: label(rng) },
        Entity { start: length - 2, end: length - 1, label: label(rng) },
    ];
    Line { doc, tokens, entities }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corpus_is_always_the_same_and_as_long_as_wanted() {
        let make = || {
            let mut out = Vec::new();
            assert!(write(250, &mut out, |_| true).unwrap());
            String::from_utf8(out).unwrap()
        };
        let text = make();
        assert_eq!(text, make());
        let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((lines.len(), &lines[249]["doc"]), (250, &"document 2".into()));
        for line in &lines {
            let (tokens, entities) = (line["tokens"].as_array().unwrap(), line["entities"].as_array().unwrap());
            assert!((10..=30).contains(&tokens.len()) && entities.len() == 3);
            assert!(entities.iter().all(|e| e["end"].as_u64().unwrap() as usize <= tokens.len()));
        }
    }

    #[test]
    fn it_stops_when_told() {
        assert!(!write(300, &mut Vec::new(), |written| written < 100).unwrap());
    }
}
