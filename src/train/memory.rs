//! How much memory the process holds.

/// The most that it has held so far, in MB of 1,048,576 bytes, where the operating system says.
pub fn peak_memory_mb() -> Option<f64> {
    status("VmHWM:")
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
