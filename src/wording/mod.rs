//! Numbers, lists and times inside sentences that people read: "1 sentence", "2,041 sentences", "CoNLL, brat and text";
//! many messages in a few lines; and text from strangers where a terminal reads it.

mod kinds;
mod printable;

pub use kinds::{Kind, by_kind, pattern};
pub use printable::{one_line, printable, printable_json};

/// "1 sentence", "2,041 sentences".
pub fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// "1 byte", "1,048,576 bytes".
pub fn bytes(number: u64) -> String {
    counted(usize::try_from(number).unwrap_or(usize::MAX), "byte", "bytes")
}

/// "1,025".
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// "Plain text, CoNLL and JSON Lines".
pub fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// An error's message as a sentence of its own.
pub fn capital(message: &str) -> String {
    let mut chars = message.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// `2026-03-01 09:05 UTC`, of milliseconds since 1970; days to date after Hinnant, "chrono-Compatible Low-Level Date
/// Algorithms".
pub fn utc(ms: u64) -> String {
    let (days, minutes) = (ms / 86_400_000, ms / 60_000 % 1440);
    let z = days + 719_468;
    let (era, day_of_era) = (z / 146_097, z % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02} {:02}:{:02} UTC", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right_at_the_edges() {
        assert_eq!(utc(0), "1970-01-01 00:00 UTC");
        assert_eq!(utc(951_782_400_000), "2000-02-29 00:00 UTC");
        assert_eq!(utc(1_772_355_900_000), "2026-03-01 09:05 UTC");
    }

    #[test]
    fn numbers_and_lists_read_well() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(999), "999");
        assert_eq!(capital("the disk is full"), "The disk is full");
        assert_eq!(counted(0, "sentence", "sentences"), "0 sentences");
        assert_eq!(counted(1, "sentence", "sentences"), "1 sentence");
        assert_eq!(counted(1_000, "sentence", "sentences"), "1,000 sentences");
        assert_eq!(listed(&["A", "B", "C"]), "A, B and C");
        assert_eq!(listed(&["A"]), "A");
    }
}
