//! How large a file of JSON is, before anything is made of it.

use super::problem::Problem;

/// Arrays and objects within each other.
const MOST_DEPTH: usize = 24;
/// Values for each subword of the vocabulary: its text and number, and the merges that lead to it.
const VALUES_A_SUBWORD: usize = 12;
const OTHER_VALUES: usize = 1 << 18;
/// Of all together, whatever the vocabulary.
const MOST_VALUES: usize = 16 << 20;

/// Counts what a parser would allocate for. Whether it is JSON at all is for the parser to say.
pub(super) fn check(json: &[u8], vocabulary: usize) -> Result<(), Problem> {
    let most = vocabulary.saturating_mul(VALUES_A_SUBWORD).saturating_add(OTHER_VALUES).min(MOST_VALUES);
    let (mut depth, mut deepest, mut values) = (0usize, 0, 1usize);
    let (mut in_string, mut escaped) = (false, false);
    for byte in json {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
                values += 1;
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' | b':' => values += 1,
            _ => {}
        }
    }
    Problem::too_much("levels of arrays and objects in the tokenizer", deepest, MOST_DEPTH)?;
    Problem::too_much("values in the tokenizer", values, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_and_commas_of_texts_don_t_count() {
        assert!(check(br#"{"a": "[[[[\"[[[[,,,\\", "b": [1, 2, {"c": 3}]}"#, 10).is_ok());
        let deep = [vec![b'['; 25], vec![b']'; 25]].concat();
        assert!(matches!(check(&deep, 10), Err(Problem::TooMuch { got: 25, most: 24, .. })));
        let wide = b"0,".repeat(300_000);
        assert!(check(&wide, 10).is_err());
        assert!(check(&wide, 10_000).is_ok(), "a larger vocabulary has more");
    }
}
