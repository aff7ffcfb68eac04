//! `nestling train`

use super::args::Train;
use super::output::{Ending, Progress, answer, close, open, stop_flag};
use super::{CliError, json as fields};
use crate::session::{Config, Manifest, Project, SessionError, TrainEvent, TrainReport};
use crate::wording::{counted, grouped};
use serde_json::{Value, json};

pub(super) fn run(args: &Train) -> Result<Ending, CliError> {
    let mut project = open(&args.project)?;
    let cancel = stop_flag();
    let mut progress = Progress::start(args.common);
    let mut has_kept = args.resume;
    let trained = if args.resume {
        project.resume_now(args.tuning.threads, &cancel, &mut |event| tell(&mut progress, event))
    } else {
        let config = config(args, &project)?;
        if let Some(older) = project.interrupted() {
            let (step, steps) = (older.step, older.steps);
            progress.note(&format!(
                "a training was interrupted at step {step} of {steps}; this new one replaces it; to continue that one, stop and use --resume"
            ));
        }
        project.train_now(config, &cancel, &mut |event| {
            has_kept |= matches!(event, TrainEvent::Kept { .. });
            tell(&mut progress, event);
        })
    };
    // Before it has kept anything, what is there is of another training.
    let kept = project.interrupted().filter(|_| has_kept);
    if let (Err(SessionError::Stopped), Some(kept)) = (&trained, kept) {
        let (step, steps) = (kept.step, kept.steps);
        progress.note(&format!(
            "saved up to step {step} of {steps}; `nestling train PROJECT --resume` continues from there"
        ));
    }
    let report = trained?;
    drop(progress);
    let (json, text) = (to_json(&report, &project), to_text(&report));
    let closed = close(project)?;
    answer(args.common, &json, &text)?;
    Ok(closed)
}

fn config(args: &Train, project: &Project) -> Result<Config, CliError> {
    let mut config = project.settings().config();
    let named = [
        ("architecture", args.architecture.clone()),
        ("epochs", args.epochs.map(|n| n.to_string())),
        ("batch_size", args.batch_size.map(|n| n.to_string())),
        ("seed", args.seed.map(|n| n.to_string())),
        ("limit", args.limit.map(|n| n.to_string())),
        ("effort", args.effort.clone()),
    ];
    args.tuning.apply(named, &mut config)?;
    Ok(config)
}

/// Shows what a training says.
pub(super) fn tell(progress: &mut Progress, event: TrainEvent) {
    match event {
        TrainEvent::Started { train_sentences, of_sentences, dev_sentences, epochs, from_step, steps, .. } => {
            let from = if from_step > 0 { format!(", resuming after step {from_step}") } else { String::new() };
            progress.note(&format!(
                "training on {}, {dev_sentences} for dev: {}, {}{from}",
                sentences(train_sentences, of_sentences),
                counted(epochs, "epoch", "epochs"),
                counted(steps, "step", "steps"),
            ));
        }
        TrainEvent::Progress { step, steps, epoch, epochs, loss, .. } => {
            progress.show(step, steps, &format!("steps, epoch {epoch} of {epochs}, loss {loss:.4}"));
        }
        TrainEvent::EpochDone { epoch, mean_loss, dev: Some(dev), best, .. } => {
            let best = if best { ", the best so far" } else { "" };
            progress.note(&format!("epoch {epoch}: loss {mean_loss:.4}, dev {}{best}", fields::in_a_line(&dev)));
        }
        TrainEvent::LabelledItself { sentences, mentions } => {
            progress.note(&format!(
                "labelled {} itself, {}; learning from these, too",
                counted(sentences, "more sentence", "more sentences"),
                counted(mentions, "mention", "mentions"),
            ));
        }
        TrainEvent::Warning { message } => progress.note(&message),
        TrainEvent::NotKept { message } => {
            progress.note(&format!("can't save the state of the training, which continues: {message}"));
        }
        TrainEvent::EpochDone { .. } | TrainEvent::Kept { .. } | TrainEvent::Saving => {}
    }
}

fn to_json(report: &TrainReport, project: &Project) -> Value {
    let (model, dev) = (report.model.0, report.manifest.outcome.dev.as_ref());
    let of_project = [
        ("model", model.into()),
        ("snapshot", json!(report.snapshot)),
        ("dev", json!(dev.map(|dev| fields::evaluation("dev", report.model, dev, project.corpus())))),
        ("discontinuous_mentions", report.discontinuous_mentions.into()),
        ("unscored", json!(report.unscored)),
    ];
    let mut json = manifest_to_json(&report.manifest);
    if let Value::Object(object) = &mut json {
        object.extend(of_project.map(|(key, value)| (key.to_owned(), value)));
    }
    json
}

/// What others rely on of a training, without what only a project knows.
pub(super) fn manifest_to_json(manifest: &Manifest) -> Value {
    let (settings, outcome) = (&manifest.settings, &manifest.outcome);
    let samples = outcome.samples;
    json!({
        "architecture": settings.architecture,
        "encoder": settings.encoder,
        "effort": settings.effort.id(),
        "seed": settings.seed,
        "train_sentences": outcome.train_sentences,
        "of_sentences": outcome.of_sentences,
        "epochs": settings.all_epochs(),
        "self_training": settings.self_training.map_or(0, |own| own.sentences),
        "best_epoch": outcome.best_epoch,
        "wall_secs": outcome.wall_secs,
        "sentences_per_sec": outcome.sentences_per_sec,
        "peak_memory_mb": outcome.peak_memory_mb,
        "samples": {
            "neh": { "positive": samples.first_words.positive, "negative": samples.first_words.negative },
            "span": { "positive": samples.spans.positive, "negative": samples.spans.negative },
            "word": { "positive": samples.words.positive, "negative": samples.words.negative },
        },
        "mentions": outcome.mentions,
        "too_wide_mentions": outcome.unlearnable.too_wide,
        "doubled_mentions": outcome.unlearnable.doubled,
        "hidden_mentions": outcome.unlearnable.hidden,
        "parameters": outcome.parameters,
        "dataset_hash": manifest.dataset_hash,
    })
}

/// "40 sentences", or "300 of 7,051 sentences" where it did not take all.
fn sentences(some: usize, of: usize) -> String {
    match some < of {
        true => format!("{} of {}", grouped(some), counted(of, "sentence", "sentences")),
        false => counted(some, "sentence", "sentences"),
    }
}

fn to_text(report: &TrainReport) -> String {
    let (settings, outcome) = (&report.manifest.settings, &report.manifest.outcome);
    let mut text = format!(
        "Model {}: {} on {}, {}, {} (kept: {}), {:.0} s, {:.1} sentences/s\n",
        report.model,
        settings.architecture,
        settings.encoder,
        sentences(outcome.train_sentences, outcome.of_sentences),
        counted(settings.all_epochs(), "epoch", "epochs"),
        outcome.best_epoch,
        outcome.wall_secs,
        outcome.sentences_per_sec,
    );
    if let Some(own) = settings.self_training {
        let labelled = counted(own.sentences, "open sentence was", "open sentences were");
        text += &format!("{labelled} labelled by the model itself and learned from, too\n");
    }
    text += &match &outcome.dev {
        Some(dev) => {
            format!("dev ({}): {}\n", counted(dev.sentences, "sentence", "sentences"), fields::in_a_line(dev))
        }
        None => "too few dev sentences to choose an epoch by: the last one was kept\n".to_owned(),
    };
    let unlearnable = &outcome.unlearnable;
    for (count, [one, many], why) in [
        (unlearnable.too_wide, ["mention is", "mentions are"], "wider than the max width"),
        (unlearnable.doubled, ["mention shares its", "mentions share their"], "words with one of another label"),
        (report.discontinuous_mentions, ["mention has", "mentions have"], "several fragments"),
    ] {
        if count > 0 {
            text += &format!("{} {why} and can't be learned\n", counted(count, one, many));
        }
    }
    if outcome.unlearnable.hidden > 0 {
        let (hidden, all) = (grouped(outcome.unlearnable.hidden), grouped(outcome.mentions));
        let sees = report.manifest.sees();
        text += &format!("{} sees {sees}: {hidden} of {all} can't be learned\n", settings.architecture);
    }
    if report.manifest.labels_given() {
        text += &format!(
            "It says which label given words have and makes no suggestions; the model in use stays. `nestling evaluate \
             PROJECT --split test --model {}` scores it\n",
            report.model
        );
    }
    if let Some(why) = &report.unscored {
        text += &format!("the model could not be scored, and shows suggestions as before: {why}\n");
    }
    text
}
