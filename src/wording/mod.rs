//! Numbers and lists inside sentences that people read: "1 sentence", "2,041 sentences", "CoNLL, brat and text".

/// "1 sentence", "2,041 sentences".
pub fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
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

#[cfg(test)]
mod tests {
    use super::*;

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
