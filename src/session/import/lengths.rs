//! Sentences and words far longer than anybody writes: a whole text without line ends, a file of data. They are taken in and
//! predicted, but the person should know of them.

use crate::format::ImportedDocument;
use crate::wording::{counted, grouped};

/// Words of a sentence, and characters of a word, that are no cause for a remark.
const MOST_WORDS: usize = 500;
const MOST_CHARS: usize = 2000;

/// How many there are, and the longest.
#[derive(Debug, Default)]
struct Long {
    count: usize,
    longest: usize,
    longest_in: String,
}

impl Long {
    fn add(&mut self, length: usize, document: &str) {
        self.count += 1;
        if length > self.longest {
            (self.longest, self.longest_in) = (length, document.to_owned());
        }
    }
}

#[derive(Debug, Default)]
pub(in crate::session) struct Lengths {
    sentences: Long,
    words: Long,
}

impl Lengths {
    pub(in crate::session) fn add(&mut self, document: &ImportedDocument) {
        for sentence in &document.sentences {
            if sentence.tokens.len() > MOST_WORDS {
                self.sentences.add(sentence.tokens.len(), &document.name);
            }
            for token in &sentence.tokens {
                let text = token.of(&document.text);
                // A character has one byte or more.
                if text.len() > MOST_CHARS {
                    let chars = text.chars().count();
                    if chars > MOST_CHARS {
                        self.words.add(chars, &document.name);
                    }
                }
            }
        }
    }

    /// What to say of all together, and what can be done.
    pub(in crate::session) fn note(&self) -> Option<String> {
        let of = |long: &Long, one: &str, many: &str, unit: &str, most: usize| {
            let (longest, most) = (grouped(long.longest), grouped(most));
            let (have, longest) = match long.count {
                1 => ("has", longest),
                _ => ("have", format!("the longest {longest}")),
            };
            let what = counted(long.count, one, many);
            (long.count > 0)
                .then(|| format!("{what} {have} more than {most} {unit} ({longest}, in {})", long.longest_in))
        };
        let sentences = of(&self.sentences, "sentence", "sentences", "words", MOST_WORDS);
        let words = of(&self.words, "word", "words", "characters", MOST_CHARS);
        let what = [sentences, words].into_iter().flatten().collect::<Vec<_>>().join(", and ");
        let then = "such text is slow to annotate and to predict, and of a long word models see only the beginning; if its \
                    sentences were not found, import plain text with unit=prose, or put each on a line of its own";
        (!what.is_empty()).then(|| format!("{what}: {then}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotation::Kept;
    use crate::format::ImportedSentence;
    use crate::text::TextRange;
    use expect_test::expect;

    fn document(name: &str, words: &[usize]) -> ImportedDocument {
        let (mut text, mut tokens) = (String::new(), Vec::new());
        for length in words {
            let start = text.len();
            text.extend(std::iter::repeat_n('\u{e4}', *length));
            tokens.push(TextRange::in_text(&text, start..text.len()).unwrap());
            text.push(' ');
        }
        let sentence = ImportedSentence { tokens, ..ImportedSentence::default() };
        ImportedDocument { name: name.to_owned(), text: text.into(), kept: Kept::new(), sentences: vec![sentence] }
    }

    #[test]
    fn long_sentences_and_words_are_counted_in_one_remark() {
        let note = |documents: &[ImportedDocument]| {
            let mut lengths = Lengths::default();
            documents.iter().for_each(|document| lengths.add(document));
            lengths.note()
        };
        assert_eq!(note(&[document("a", &[2000; 3]), document("b", &[1; 500])]), None);
        expect!["2 sentences have more than 500 words (the longest 1,200, in b), and 1 word has more than 2,000 characters (2,001, in c): such text is slow to annotate and to predict, and of a long word models see only the beginning; if its sentences were not found, import plain text with unit=prose, or put each on a line of its own"]
            .assert_eq(&note(&[document("a", &[1; 501]), document("b", &[1; 1200]), document("c", &[2001])]).unwrap());
    }
}
