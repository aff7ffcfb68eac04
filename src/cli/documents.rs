//! `nestling documents`

use super::CliError;
use super::args::Documents;
use super::output::{Ending, answer, close, open, open_to_read};
use super::table::Table;
use crate::session::{Command, DocumentRow, Project};
use serde_json::json;
use std::collections::HashSet;

pub(super) fn run(args: &Documents) -> Result<Ending, CliError> {
    let asked = [&args.exclude, &args.include, &args.delete];
    let mut project =
        if asked.iter().all(|names| names.is_empty()) { open_to_read(&args.project)? } else { open(&args.project)? };
    for command in commands(args, &project)? {
        project.run(command)?;
    }
    let documents: Vec<_> = project.documents().iter().filter_map(|row| Some((name(&project, row)?, *row))).collect();
    let closed = close(project)?;
    let rows = documents.iter().map(|(name, row)| {
        json!({
            "id": row.id.0,
            "name": name,
            "sentences": row.sentences,
            "complete": row.complete,
            "mentions": row.mentions,
            "state": state(row),
        })
    });
    let json = json!({ "documents": rows.collect::<Vec<_>>() });
    answer(args.common, &json, &text(&documents))?;
    Ok(closed)
}

/// What was asked for. Nothing is done before every name is known.
fn commands(args: &Documents, project: &Project) -> Result<Vec<Command>, CliError> {
    let (exclude, include, remove) = (
        project.documents_named(&args.exclude)?,
        project.documents_named(&args.include)?,
        project.documents_named(&args.delete)?,
    );
    let mut named = HashSet::new();
    let names = args.exclude.iter().chain(&args.include).chain(&args.delete);
    let ids = exclude.iter().chain(&include).chain(&remove);
    if let Some((twice, _)) = names.zip(ids).find(|(_, id)| !named.insert(**id)) {
        let message = format!("{twice:?} is named twice; a document can be excluded, included or deleted, once");
        return Err(CliError::Usage { message });
    }
    Ok(vec![
        Command::ExcludeDocuments { documents: exclude },
        Command::IncludeDocuments { documents: include },
        Command::RemoveDocuments { documents: remove },
    ])
}

fn name(project: &Project, row: &DocumentRow) -> Option<String> {
    project.corpus().document(row.id).map(|document| document.name.clone())
}

fn state(row: &DocumentRow) -> &'static str {
    if row.excluded { "excluded" } else { "there" }
}

fn text(documents: &[(String, DocumentRow)]) -> String {
    if documents.is_empty() {
        return "No documents".to_owned();
    }
    let mut table = Table::new(["document", "sentences", "complete", "mentions", "state"]);
    for (name, row) in documents {
        let numbers = [row.sentences, row.complete, row.mentions].map(|number| number.to_string());
        table.row(&name.replace(char::is_control, " "), numbers.into_iter().chain([state(row).to_owned()]));
    }
    table.to_string()
}
