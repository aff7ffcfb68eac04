//! What a sentence widget shows, apart from where: words, marks, probable heads.
//!
//! # Invariants
//! - [`Mark`]s are ordered by span and label, so that accepting a suggestion, which makes it a mention on the same
//!   words, changes neither the order nor the lane of any mark.
//! - `key` changes whenever anything does that decides where things lie; layouts are cached by it.
//!
//! Deliberately absent: positions (`flow`) and colours of a theme (`paint`).

use crate::annotation::{Corpus, LabelId, LabelSet, Mention, MentionId, Rgb, Sentence, Span, Suggestion, assign_lanes};
use crate::text::TextRange;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use unicode_bidi::Direction;

/// What a bar stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MarkId {
    /// A mention that a person stands for.
    Mention(MentionId),
    /// A suggestion, known by what it says.
    Suggestion(Span, LabelId),
}

#[derive(Clone, Debug)]
pub struct Word {
    pub text: String,
    /// White space lies between the word before and this one.
    pub gap_before: bool,
    /// A row may begin here.
    pub may_break_before: bool,
}

#[derive(Clone, Debug)]
pub struct Mark {
    pub id: MarkId,
    /// One for a contiguous mark, several for a discontinuous one.
    pub fragments: Vec<Span>,
    pub hull: Span,
    pub label: LabelId,
    pub color: Rgb,
    pub score: Option<f32>,
    pub name: String,
    /// What stands under the bar: "ORG 0.91".
    pub tag: String,
    /// What a screen reader says: "suggestion ORG 0.91: the Harbour Board".
    pub spoken: String,
    /// 0 is nearest to the words.
    pub lane: usize,
}

impl Mark {
    pub fn is_suggestion(&self) -> bool {
        matches!(self.id, MarkId::Suggestion(..))
    }
}

#[derive(Clone, Debug, Default)]
pub struct Content {
    pub key: u64,
    pub words: Vec<Word>,
    pub marks: Vec<Mark>,
    /// NEH probability of each word, or empty.
    pub heads: Vec<f32>,
    /// Read from right to left.
    pub rtl: bool,
}

impl Content {
    /// A sentence with its gold mentions and these suggestions.
    pub fn of(corpus: &Corpus, sentence: &Sentence, suggestions: &[Suggestion], heads: &[f32]) -> Self {
        let words = words(text_of(corpus, sentence), sentence.tokens());
        let labels = corpus.labels();
        let golds = sentence.mentions().iter().map(|m| gold(corpus, sentence, labels, m));
        let suggestions = suggestions.iter().map(|s| suggestion(corpus, sentence, labels, s));
        let marks = in_lanes(golds.chain(suggestions).collect());
        Self { words, marks, heads: heads.to_vec(), ..Self::default() }.with_key()
    }

    /// A sentence that belongs to no project yet: fragments with the name and the colour of their label.
    pub fn foreign(text: &str, tokens: &[TextRange], mentions: &[(Vec<Span>, String, Rgb)]) -> Self {
        let marks = mentions.iter().zip(0..).filter_map(|((fragments, name, color), number)| {
            let hull = Span::covering(fragments.first()?.start(), fragments.last()?.last());
            Some(Mark {
                id: MarkId::Mention(MentionId(number)),
                fragments: fragments.clone(),
                hull,
                label: LabelId(0),
                color: *color,
                score: None,
                name: name.clone(),
                tag: name.clone(),
                spoken: format!("mention {name}"),
                lane: 0,
            })
        });
        Self { words: words(text, tokens), marks: in_lanes(marks.collect()), ..Self::default() }.with_key()
    }

    /// A sentence with gold mentions and what a model says of it with which probability. What it found is marked once, as
    /// gold; what it missed and what it made up say so.
    pub fn judged(
        corpus: &Corpus,
        sentence: &Sentence,
        gold: &[(Span, LabelId)],
        predicted: &[(Span, LabelId, f32)],
    ) -> Self {
        let labels = corpus.labels();
        let text = |span: Span| corpus.span_text(sentence, span);
        let is_found = |gold: &(Span, LabelId)| predicted.iter().any(|said| (said.0, said.1) == *gold);
        let golds = gold.iter().zip(0..).map(|(&(span, label), number)| {
            let (name, color) = name_and_color(labels, label);
            let (what, tag) = match is_found(&(span, label)) {
                true => ("found", name.clone()),
                false => ("missed", format!("{name} missed")),
            };
            let spoken = format!("{what} {name}: {}", text(span));
            let (id, fragments) = (MarkId::Mention(MentionId(number)), vec![span]);
            Mark { id, fragments, hull: span, label, color, score: None, name, tag, spoken, lane: 0 }
        });
        let wrong = predicted.iter().filter(|said| !gold.contains(&(said.0, said.1))).map(|&(span, label, score)| {
            let said = Suggestion { span, label, score, runner_up: None };
            let mark = suggestion(corpus, sentence, labels, &said);
            Mark { spoken: format!("wrong {}: {}", mark.tag, text(span)), ..mark }
        });
        let marks = in_lanes(golds.chain(wrong).collect());
        Self { words: words(text_of(corpus, sentence), sentence.tokens()), marks, ..Self::default() }.with_key()
    }

    /// Some words of a sentence, without marks.
    pub fn plain(corpus: &Corpus, sentence: &Sentence, range: Range<usize>) -> Self {
        let end = range.end.min(sentence.tokens().len());
        let tokens = sentence.tokens().get(range.start.min(end)..end).unwrap_or_default();
        Self { words: words(text_of(corpus, sentence), tokens), ..Self::default() }.with_key()
    }

    /// The same words after a leading one, such as "…".
    pub fn led_by(mut self, lead: &str) -> Self {
        if let Some(first) = self.words.first_mut() {
            (first.gap_before, first.may_break_before) = (true, true);
            let word = Word { text: lead.to_owned(), gap_before: false, may_break_before: false };
            self.words.insert(0, word);
        }
        self.with_key()
    }

    /// False for scripts whose letters join or reorder, where a text can't be cut after any letter.
    pub fn can_be_cut(&self) -> bool {
        let joins = |c: char| matches!(c as u32, 0x590..=0x1CFF | 0xA840..=0xABFF | 0xFB1D..=0xFDFF | 0xFE70..=0xFEFC);
        !self.words.iter().any(|w| w.text.contains(joins))
    }

    pub fn mark(&self, id: MarkId) -> Option<&Mark> {
        self.marks.iter().find(|m| m.id == id)
    }

    pub fn index_of(&self, id: MarkId) -> Option<usize> {
        self.marks.iter().position(|m| m.id == id)
    }

    fn with_key(mut self) -> Self {
        let mut hasher = DefaultHasher::new();
        for word in &self.words {
            (&word.text, word.gap_before, word.may_break_before).hash(&mut hasher);
        }
        for mark in &self.marks {
            (mark.id, &mark.fragments, &mark.tag, mark.lane).hash(&mut hasher);
        }
        // Rows have room for a line under the words where there are heads.
        self.heads.is_empty().hash(&mut hasher);
        self.key = hasher.finish();
        let directions = self.words.iter().map(|w| unicode_bidi::get_base_direction(w.text.as_str()));
        self.rtl = directions.into_iter().find(|d| *d != Direction::Mixed) == Some(Direction::Rtl);
        self
    }
}

fn in_lanes(mut marks: Vec<Mark>) -> Vec<Mark> {
    marks.sort_by_key(|m| (m.hull, m.label, m.id));
    let hulls: Vec<Span> = marks.iter().map(|m| m.hull).collect();
    for (mark, lane) in marks.iter_mut().zip(assign_lanes(&hulls)) {
        mark.lane = lane;
    }
    marks
}

fn text_of<'c>(corpus: &'c Corpus, sentence: &Sentence) -> &'c str {
    corpus.document(sentence.document()).map_or("", |d| &d.text)
}

fn words(text: &str, tokens: &[TextRange]) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::with_capacity(tokens.len());
    let mut end = None;
    for token in tokens {
        let word = token.of(text);
        let between = end.and_then(|end| text.get(end..token.start().get())).unwrap_or_default();
        let gap_before = between.contains(char::is_whitespace);
        let joint = words.last().is_some_and(|before| may_part(&before.text, word));
        // A tab or line break inside a token would be drawn as one.
        let shown = if word.contains(char::is_control) { word.replace(char::is_control, " ") } else { word.to_owned() };
        words.push(Word { text: shown, gap_before, may_break_before: gap_before || joint });
        end = Some(token.end().get());
    }
    words
}

/// True where a row may break although there is no white space: between characters of scripts that use none, and
/// after a hyphen or slash.
fn may_part(before: &str, after: &str) -> bool {
    let (Some(last), Some(first)) = (before.chars().next_back(), after.chars().next()) else { return false };
    if matches!(last, '-' | '/' | '\u{2013}' | '\u{2014}') {
        return true;
    }
    let closes =
        |c: char| matches!(c, '。' | '、' | '，' | '．' | '！' | '？' | '）' | '」' | '』' | '】' | '》' | '：' | '；');
    let opens = |c: char| matches!(c, '（' | '「' | '『' | '【' | '《');
    (is_unspaced(last) || is_unspaced(first)) && !closes(first) && !opens(last)
}

/// Han, Kana, Thai, Lao, Khmer, Myanmar.
fn is_unspaced(c: char) -> bool {
    matches!(c as u32, 0xE00..=0xEFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x2E80..=0x9FFF | 0xF900..=0xFAFF
        | 0xFF00..=0xFF60 | 0x2_0000..=0x3_FFFF)
}

fn gold(corpus: &Corpus, sentence: &Sentence, labels: &LabelSet, mention: &Mention) -> Mark {
    let (name, color) = name_and_color(labels, mention.label);
    let fragments: Vec<Span> = mention.fragments.iter().collect();
    let text: Vec<&str> = fragments.iter().map(|f| corpus.span_text(sentence, *f)).collect();
    Mark {
        id: MarkId::Mention(mention.id),
        hull: mention.hull(),
        label: mention.label,
        color,
        score: None,
        spoken: format!("mention {name}: {}", text.join(" … ")),
        tag: if mention.note.is_empty() { name.clone() } else { format!("{name} *") },
        name,
        fragments,
        lane: 0,
    }
}

fn suggestion(corpus: &Corpus, sentence: &Sentence, labels: &LabelSet, suggestion: &Suggestion) -> Mark {
    let (name, color) = name_and_color(labels, suggestion.label);
    let tag = format!("{name} {:.2}", suggestion.score);
    Mark {
        id: MarkId::Suggestion(suggestion.span, suggestion.label),
        fragments: vec![suggestion.span],
        hull: suggestion.span,
        label: suggestion.label,
        color,
        score: Some(suggestion.score),
        spoken: format!("suggestion {tag}: {}", corpus.span_text(sentence, suggestion.span)),
        name,
        tag,
        lane: 0,
    }
}

fn name_and_color(labels: &LabelSet, id: LabelId) -> (String, Rgb) {
    labels.get(id).map_or_else(|| ("?".to_owned(), Rgb(128, 128, 128)), |label| (label.name.clone(), label.color))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_break_at_white_space_hyphens_and_between_han() {
        assert!(may_part("北", "京"));
        assert!(!may_part("京", "。"));
        assert!(may_part("-", "based"));
        assert!(!may_part("Berg", ","));
    }
}
