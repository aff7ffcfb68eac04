//! (to come)
#[derive(Debug, thiserror::Error)]
#[error("no window yet")]
pub struct GuiError;
pub fn run(_: Option<std::path::PathBuf>) -> Result<(), GuiError> {
    Err(GuiError)
}
