//! Words that several panels and dialogs use.

use crate::annotation::ModelId;
use crate::session::Project;
use crate::wording::counted;

/// "model 3", or where else suggestions came from.
pub(in crate::gui) fn origin(model: ModelId) -> String {
    match model {
        ModelId::FROM_FILE => "an imported file".to_owned(),
        ModelId::NAMES => "general names".to_owned(),
        model => format!("model {model}"),
    }
}

/// "first" or "next": which training the coming one is.
pub(in crate::gui) fn next_training(project: &Project) -> &'static str {
    if project.models().next().is_some() { "next" } else { "first" }
}

/// "12 s", "3 min", "2 h", "5 days".
pub(in crate::gui) fn age(from_ms: i64, now_ms: i64) -> String {
    let secs = (now_ms - from_ms).max(0) / 1000;
    match secs {
        0..60 => "under 1 min".to_owned(),
        60..3600 => format!("{} min", secs / 60),
        3600..86_400 => format!("{} h", secs / 3600),
        _ => counted((secs / 86_400) as usize, "day", "days"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_read_well() {
        assert_eq!(age(0, 59_000), "under 1 min");
        assert_eq!(age(0, 190_000), "3 min");
        assert_eq!(age(0, 5_000_000_000), "57 days");
    }
}
