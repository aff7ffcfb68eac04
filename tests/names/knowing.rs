//! An encoder that knows names, made in a second or two.

use nestling::annotation::Span;
use nestling::pretrain::{
    AnnotatedCorpus, AnnotatedSentence, LabelMap, PretrainSettings, PretrainingRequest, pretrain,
};
use nestling::session::Home;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// "NAME met the mayor of TOWN ."
pub(crate) fn words(i: usize) -> [&'static str; 7] {
    [["Anna", "Zoe", "Maja", "Jens"][i % 4], "met", "the", "mayor", "of", ["Aarhus", "Lund", "Turku"][i % 3], "."]
}

/// Adds the encoder "knowing", which has learned the names of two corpora, and who does what besides.
pub(crate) fn learn_names(home: &Home, dir: &Path) {
    let corpus = |name: &str, labels: [&str; 3]| {
        let sentence = |i: usize| {
            let mention = |at: usize, label: &str| (Span::from_range(at..at + 1).unwrap(), label.to_owned());
            let mentions = vec![mention(0, labels[0]), mention(5, labels[1]), mention(3, labels[2])];
            AnnotatedSentence { words: words(i).map(str::to_owned).to_vec(), mentions, discontinuous: 0 }
        };
        AnnotatedCorpus { name: name.to_owned(), sentences: (0..40).map(sentence).collect(), files: Vec::new() }
    };
    let mut settings = PretrainSettings::with_limit(None);
    for (key, value) in [("epochs", "12"), ("batch_size", "8")] {
        settings.set(key, value).unwrap();
    }
    let output = dir.join("knowing");
    let request = PretrainingRequest {
        encoder: home.encoders().get("small").unwrap(),
        base: "small".to_owned(),
        corpora: vec![corpus("news", ["PER", "LOC", "ROLE"]), corpus("novels", ["person", "place", "office"])],
        labels: LabelMap::default(),
        settings,
        output: output.clone(),
    };
    pretrain(&request, &AtomicBool::new(false), &mut |_| {}).unwrap();
    home.encoders().import(&output, "knowing").unwrap();
}
