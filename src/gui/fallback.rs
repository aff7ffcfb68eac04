//! Another way to a window where Wayland is named but gives none, as by a variable that was left behind.
//!
//! A process can try once only, so the program starts itself anew, without the variables that name Wayland.

use std::io::Write;

/// What names a Wayland screen.
const WAYLAND: [&str; 2] = ["WAYLAND_DISPLAY", "WAYLAND_SOCKET"];

/// Starts the program anew on X11, if there are both a Wayland that did not do and an X11. Comes back where it can't.
pub(super) fn start_on_x11() {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let Some(wayland) = WAYLAND.into_iter().find(|name| is_set(name)) else { return };
    if !is_set("DISPLAY") {
        return;
    }
    let line = format!("note: {wayland} is set, but no window can be opened there; trying DISPLAY (X11)");
    // Where standard error is closed there is nobody to tell.
    let _unheard = writeln!(std::io::stderr(), "{line}");
    start_anew();
}

#[cfg(unix)]
fn start_anew() {
    use std::os::unix::process::CommandExt;
    let Ok(program) = std::env::current_exe() else { return };
    let mut again = std::process::Command::new(program);
    WAYLAND.iter().for_each(|name| {
        again.env_remove(name);
    });
    // Comes back only where it failed; what kept the window from opening is told then.
    let _failed = again.args(std::env::args_os().skip(1)).exec();
}

#[cfg(not(unix))]
fn start_anew() {}
