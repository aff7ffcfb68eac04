//! The one binary: without a sub-command the window, with one the command line.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    #[cfg(feature = "gui")]
    let window: Option<nestling::cli::OpenWindow> = Some(|project| Ok(nestling::gui::run(project)?));
    #[cfg(not(feature = "gui"))]
    let window = None;
    nestling::cli::main(window)
}
