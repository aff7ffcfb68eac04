//! How much memory the process holds.

/// The most that it has held so far, in MB of 1,048,576 bytes, where the operating system says.
pub fn peak_memory_mb() -> Option<f64> {
    status("VmHWM:")
}

/// Lets the most that it has held begin anew with what it holds now, where the operating system lets it.
pub fn forget_peak_memory() {
    // Where it can't be done the peak is that of all the time before, too: too much, never too little.
    let _kept = std::fs::write("/proc/self/clear_refs", "5");
}

/// What it holds now, in MB of 1,048,576 bytes, where the operating system says.
pub fn resident_memory_mb() -> Option<f64> {
    status("VmRSS:")
}

fn status(key: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()? / 1024.0)
}
