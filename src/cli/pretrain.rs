//! `nestling pretrain`

use super::CliError;
use super::args::Pretrain;
use super::made_encoder::answer_made;
use super::output::{Ending, Progress, stop_flag};
use super::train::tell;
use crate::session::{
    Home, NamedCorpus, PretrainRecord, PretrainRequest, PretrainSettings, ReadRequest, SessionError, pretrain_encoder,
};
use crate::wording::{counted, grouped};
use std::num::NonZeroUsize;
use std::path::Path;

pub(super) fn run(args: &Pretrain) -> Result<Ending, CliError> {
    let corpora = args.entities.iter().map(|(name, path)| NamedCorpus { name: name.clone(), path: path.clone() });
    let request = PretrainRequest {
        encoder: args.encoder.clone(),
        corpora: corpora.collect(),
        reading: ReadRequest { format: args.format.clone(), options: args.options.clone() },
        with_dev: args.dev,
        labels: args.labels.clone(),
        settings: settings(args)?,
        output: args.output.clone(),
    };
    let cancel = stop_flag();
    let mut progress = Progress::start(args.common);
    let report = pretrain_encoder(&Home::find(), &request, &cancel, &mut |event| tell(&mut progress, event));
    drop(progress);
    let report = report?;
    let said = (&report.warnings[..], &report.notes[..]);
    answer_made(args.common, &args.output, said, &report.record, &to_text(&report.record, &args.output))
}

/// One pass over everything, with what the call says otherwise.
fn settings(args: &Pretrain) -> Result<PretrainSettings, SessionError> {
    let mut settings = PretrainSettings::with_limit(args.limit.map(NonZeroUsize::get));
    let named = [("epochs", args.epochs.map(|n| n.to_string())), ("seed", args.seed.map(|n| n.to_string()))];
    args.tuning.with(named).iter().try_for_each(|(key, value)| settings.set(key, value))?;
    Ok(settings)
}

fn to_text(record: &PretrainRecord, output: &Path) -> String {
    let mut text = format!(
        "{}: {} after {} of {}, {}\n",
        output.display(),
        record.base,
        counted(record.sentences, "sentence", "sentences"),
        counted(record.corpora.len(), "corpus", "corpora"),
        counted(record.labels.len(), "label", "labels"),
    );
    for corpus in &record.corpora {
        let of = match corpus.sentences < corpus.of_sentences {
            true => format!("{} of ", grouped(corpus.sentences)),
            false => String::new(),
        };
        text += &format!(
            "  {}: {of}{}, {}\n",
            corpus.name,
            counted(corpus.of_sentences, "sentence", "sentences"),
            counted(corpus.mentions, "entity", "entities"),
        );
    }
    for (count, [one, many], why) in [
        (record.too_wide_mentions, ["entity is", "entities are"], "wider than the max width"),
        (record.doubled_mentions, ["entity shares its", "entities share their"], "words with one of another label"),
        (
            record.corpora.iter().map(|c| c.discontinuous_mentions).sum(),
            ["entity has", "entities have"],
            "several fragments",
        ),
    ] {
        if count > 0 {
            text += &format!("{} {why} and can't be learned\n", counted(count, one, many));
        }
    }
    text + &format!("Use it: nestling encoders import {} --name NAME", output.display())
}
