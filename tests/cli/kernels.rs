//! `NESTLING_KERNELS`: what can't be is refused before anything is done.

use super::Place;
use std::process::Command;

#[test]
fn instructions_that_are_unknown_or_not_there_are_refused() {
    let place = Place::new();
    let not_here = if cfg!(target_arch = "aarch64") { "amx" } else { "neon" };
    for (name, complaint) in
        [("avx3", "it can be plain, avx2, avx512, amx, neon or auto"), (not_here, "this machine has no")]
    {
        let output = Command::new(env!("CARGO_BIN_EXE_nestling"))
            .args(["new", "t.nestling"])
            .current_dir(place.dir.path())
            .env("NESTLING_HOME", place.path("home"))
            .env("NESTLING_KERNELS", name)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(complaint), "{name}: {output:?}");
        assert!(!place.path("t.nestling").exists());
    }
}
