//! From bytes to text, without changing a character of it.

use super::FormatError;

/// A decoded text. A byte order mark stays in it, as everything else does.
#[derive(Debug)]
pub(super) struct Decoded {
    pub(super) text: String,
    /// What it was, when not UTF-8.
    pub(super) converted_from: Option<&'static str>,
}

/// Decodes UTF-8, or UTF-16 with a byte order mark.
///
/// # Errors
/// Another encoding, or NUL characters.
pub(super) fn decode(bytes: Vec<u8>, file: &str) -> Result<Decoded, FormatError> {
    let (text, converted_from) = match bytes.as_slice() {
        [0xFF, 0xFE, ..] => (utf16(&bytes, u16::from_le_bytes, file)?, Some("UTF-16 (little-endian)")),
        [0xFE, 0xFF, ..] => (utf16(&bytes, u16::from_be_bytes, file)?, Some("UTF-16 (big-endian)")),
        _ => (utf8(bytes, file)?, None),
    };
    match text.find('\0') {
        Some(byte) => Err(FormatError::Nul { byte, file: file.to_owned() }),
        None => Ok(Decoded { text, converted_from }),
    }
}

/// The text at the start of a file, as far as it can be decoded.
pub(super) fn decode_start(bytes: &[u8]) -> String {
    let utf16 = |unit: fn([u8; 2]) -> u16| {
        let units = bytes.as_chunks::<2>().0.iter().map(|pair| unit(*pair));
        char::decode_utf16(units).map_while(Result::ok).collect()
    };
    match bytes {
        [0xFF, 0xFE, ..] => utf16(u16::from_le_bytes),
        [0xFE, 0xFF, ..] => utf16(u16::from_be_bytes),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

fn utf8(bytes: Vec<u8>, file: &str) -> Result<String, FormatError> {
    if let Some(byte) = bytes.iter().position(|byte| *byte == 0) {
        return Err(FormatError::Nul { byte, file: file.to_owned() });
    }
    String::from_utf8(bytes).map_err(|error| {
        let byte = error.utf8_error().valid_up_to();
        let before = error.as_bytes().iter().take(byte);
        FormatError::NotUtf8 { byte, line: 1 + before.filter(|b| **b == b'\n').count(), file: file.to_owned() }
    })
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16, file: &str) -> Result<String, FormatError> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let text = char::decode_utf16(pairs.iter().map(|pair| unit(*pair))).collect::<Result<String, _>>();
    match text {
        Ok(text) if rest.is_empty() => Ok(text),
        _ => Err(FormatError::NotUtf16 { file: file.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_stay_and_utf16_is_converted() {
        let bom = "\u{feff}Å 💩\r\n";
        assert_eq!(decode(bom.into(), "f").unwrap().text, bom);
        let big: Vec<u8> = bom.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let decoded = decode(big, "f").unwrap();
        assert_eq!((decoded.text.as_str(), decoded.converted_from), (bom, Some("UTF-16 (big-endian)")));
        let little: Vec<u8> = bom.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(matches!(decode(little[..5].to_vec(), "f"), Err(FormatError::NotUtf16 { .. })));
    }

    #[test]
    fn other_bytes_are_refused_where_they_are() {
        assert!(matches!(decode(b"ok\nna\xefve".into(), "f"), Err(FormatError::NotUtf8 { byte: 5, line: 2, .. })));
        assert!(matches!(decode(b"a\0b".into(), "f"), Err(FormatError::Nul { byte: 1, .. })));
    }
}
