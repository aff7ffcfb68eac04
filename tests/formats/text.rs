//! Plain text, and views of a corpus.

use crate::helpers::*;
use expect_test::expect;
use nestling::annotation::*;
use nestling::format::*;

#[test]
fn text_keeps_its_bytes_and_says_how_it_was_read() {
    let lines = read("text", "\u{feff}One line. \r\n\r\nzwölf 💩\n", &[]).unwrap();
    expect![[r#"
        "input" "\u{feff}One line. \r\n\r\nzwölf 💩\n"
          "One" "line" "." Unread
          "zwölf" "💩" Unread
        note: read as one sentence per line, because 2 lines of 2 hold one sentence; the option unit=prose reads it the other way: input"#]].assert_eq(&show(&lines));
    let prose =
        "The mayor of the town of Grelsund opened the new ferry\nterminal on Monday. It rained.\n\nA headline\n";
    expect![[r#"
        "input" "The mayor of the town of Grelsund opened the new ferry\nterminal on Monday. It rained.\n\nA headline\n"
          "The" "mayor" "of" "the" "town" "of" "Grelsund" "opened" "the" "new" "ferry" "terminal" "on" "Monday" "." Unread
          "It" "rained" "." Unread
          "A" "headline" Unread
        note: read as prose, because 1 line of 3 hold several sentences; the option unit=lines reads it the other way: input"#]]
    .assert_eq(&show(&read("text", prose, &[]).unwrap()));
    let told = read("text", prose, &[("unit", "lines")]).unwrap();
    assert_eq!((told.documents[0].sentences.len(), told.notes), (3, vec![]));
}

#[test]
fn utf16_text_is_converted() {
    let bytes: Vec<u8> = "\u{feff}Å ja.\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let read = read("text", bytes, &[]).unwrap();
    assert_eq!(&*read.documents[0].text, "\u{feff}Å ja.\n");
    assert!(read.notes[0].contains("UTF-16"));
}

#[test]
fn exporting_text_lists_what_is_lost() {
    let corpus = corpus_of(&read("text", "Anna Berg\r\nmet him. She left.", &[("unit", "prose")]).unwrap());
    let mut out = Vec::new();
    let text = by_id("text").unwrap();
    let content =
        Content { labels: &[], definitions: &Kept::new(), documents: &mut views(&corpus, Shown::Gold, |_| true) };
    let receipt = text.write(content, &Options::default(), &mut OneFile(&mut out)).unwrap();
    expect![["Anna Berg met him.\nShe left.\n"]].assert_eq(&String::from_utf8(out).unwrap());
    let losses: Vec<_> = receipt.losses.iter().map(Loss::to_string).collect();
    expect![[r#"
        input, sentence 1: "Anna Berg\r\nmet him.": a line break in the sentence became a blank
        input, sentence 1: "Anna Berg" (PER): the format holds no mentions
        input, sentence 2: "She left" (PER): the format holds no mentions"#]]
    .assert_eq(&losses.join("\n"));
    assert_eq!((receipt.documents, receipt.sentences, receipt.mentions), (1, 2, 0));
}

#[test]
fn a_view_shows_the_chosen_sentences_with_gold_or_suggestions() {
    let corpus = corpus_of(&read("text", "One here. Two here. Three here.\n", &[("unit", "prose")]).unwrap());
    let spans = vec![
        Suggestion { span: Span::from_range(0..2).unwrap(), label: LabelId(0), score: 0.1, runner_up: None },
        Suggestion { span: Span::from_range(0..1).unwrap(), label: LabelId(9), score: 1.0, runner_up: None },
    ];
    let one = SentenceSuggestions { model: ModelId(1), heads: vec![], spans, acquisition: None };
    let suggestions = SuggestionsById::from_iter([(SentenceId(2), one)]);
    let mut out = Vec::new();
    let mut shown = views(&corpus, Shown::Suggestions(&suggestions), |s| s.id() != SentenceId(1));
    let content = Content { labels: &[], definitions: &Kept::new(), documents: &mut shown };
    by_id("jsonl").unwrap().write(content, &Options::default(), &mut OneFile(&mut out)).unwrap();
    expect![[r#"
        {"nestling":1,"end":"exclusive"}
        {"doc":"input","text":"One here.","gap":" ","tokens":["One","here","."],"entities":[],"status":"untouched"}
        {"doc":"input","text":"Three here.","tokens":["Three","here","."],"entities":[{"start":0,"end":2,"label":"PER","score":0.1}],"status":"untouched"}
    "#]].assert_eq(&String::from_utf8(out).unwrap());
}
