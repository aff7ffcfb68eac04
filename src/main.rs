//! The one binary: without a sub-command the window, with one the command line.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    #[cfg(feature = "gui")]
    let window =
        Some(nestling::cli::Window { open: |project| Ok(nestling::gui::run(project)?), bench: nestling::gui::bench });
    #[cfg(not(feature = "gui"))]
    let window = None;
    nestling::cli::main(window)
}
