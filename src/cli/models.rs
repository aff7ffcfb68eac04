//! `nestling models`

use super::CliError;
use super::args::Models;
use super::output::{Ending, answer, close, open, open_to_read};
use super::table::Table;
use crate::annotation::ModelId;
use crate::session::{Command, KeptModel, ModelInfo};
use serde_json::json;

pub(super) fn run(args: &Models) -> Result<Ending, CliError> {
    let project = match args.use_model {
        Some(id) => {
            let mut project = open(&args.project)?;
            project.run(Command::UseModel(ModelId(id)))?;
            project
        }
        None => open_to_read(&args.project)?,
    };
    let kept = project.kept_models()();
    let bytes = |id: ModelId| kept.iter().find(|kept| kept.id == id).map(|KeptModel { bytes, .. }| *bytes);
    let mut table = Table::new(["model", "encoder", "sentences", "dev F1", "MB", ""]);
    let mut models = Vec::new();
    for model in project.models() {
        let is_used = Some(model.id) == project.current_model();
        let size = bytes(model.id);
        let cells = [
            model.encoder.clone(),
            model.train_sentences.to_string(),
            dev(&model),
            size.map_or_else(|| "not kept".to_owned(), |bytes| bytes.div_ceil(1_000_000).to_string()),
            if is_used { "in use".to_owned() } else { String::new() },
        ];
        table.row(&model.id.to_string(), cells);
        models.push(json!({
            "id": model.id.0,
            "current": is_used,
            "architecture": model.architecture,
            "encoder": model.encoder,
            "train_sentences": model.train_sentences,
            "dev_f1": model.dev_f1,
            "dev_accuracy": model.dev_accuracy,
            "created_ms": model.created_ms,
            "bytes": size,
        }));
    }
    let text = if models.is_empty() { "No model yet".to_owned() } else { table.to_string().trim_end().to_owned() };
    let closed = close(project)?;
    answer(args.common, &json!({ "models": models }), &text)?;
    Ok(closed)
}

/// F1, or the accuracy of a model that labels given words, named so.
fn dev(model: &ModelInfo) -> String {
    let accuracy = model.dev_accuracy.map(|accuracy| format!("accuracy {accuracy:.3}"));
    accuracy.or(model.dev_f1.map(|f1| format!("{f1:.3}"))).unwrap_or_else(|| "–".to_owned())
}
