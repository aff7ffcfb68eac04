//! `nestling adapt`

use super::CliError;
use super::args::Adapt;
use super::made_encoder::answer_made;
use super::output::{Ending, Progress, stop_flag};
use crate::session::{AdaptConfig, AdaptEvent, AdaptRecord, AdaptRequest, Home, SessionError, adapt_encoder};
use crate::wording::counted;
use std::num::NonZeroUsize;
use std::path::Path;

pub(super) fn run(args: &Adapt) -> Result<Ending, CliError> {
    let mut config = AdaptConfig::default();
    args.set.iter().try_for_each(|(key, value)| config.set(key, value)).map_err(SessionError::from)?;
    let request = AdaptRequest {
        encoder: args.encoder.clone(),
        texts: args.text.clone(),
        limit: args.limit.map(NonZeroUsize::get),
        config,
        output: args.output.clone(),
    };
    let cancel = stop_flag();
    let mut progress = Progress::start(args.common);
    let report = adapt_encoder(&Home::find(), &request, &cancel, &mut |event| tell(&mut progress, event));
    drop(progress);
    let report = report?;
    let said = (&report.warnings[..], &report.notes[..]);
    answer_made(args.common, &args.output, said, &report.record, &to_text(&report.record, &args.output))
}

fn tell(progress: &mut Progress, event: AdaptEvent) {
    match event {
        AdaptEvent::Started { sentences, subwords, .. } => {
            let sentences = counted(sentences, "sentence", "sentences");
            progress.note(&format!(
                "reading {sentences} of {}",
                counted(subwords, "different subword", "different subwords")
            ));
        }
        AdaptEvent::Progress { step, steps, loss, secs_left } => {
            progress.show(step, steps, &format!("steps, loss {loss:.3}, {secs_left:.0} s left"));
        }
        AdaptEvent::EpochDone { epoch: 0, loss } => {
            progress.note(&format!("before: loss {loss:.3} on sentences held out"));
        }
        AdaptEvent::EpochDone { epoch, loss } => {
            progress.note(&format!("epoch {epoch}: loss {loss:.3} on sentences held out"));
        }
    }
}

fn to_text(record: &AdaptRecord, output: &Path) -> String {
    let losses: Vec<String> = record.losses.iter().map(|loss| format!("{loss:.3}")).collect();
    format!(
        "{}: {} after {} ({})\nLoss on words left out of sentences held out: {}\n\
         Use it: nestling encoders import {} --name NAME",
        output.display(),
        record.base,
        counted(record.sentences, "sentence", "sentences"),
        counted(record.epochs, "epoch", "epochs"),
        losses.join(", "),
        output.display(),
    )
}
