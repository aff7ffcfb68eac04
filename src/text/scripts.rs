//! Scripts that are written without blanks between words.

/// True for a letter of a script without blanks: Chinese, Japanese, Thai, Lao, Khmer, Burmese and their neighbours.
/// Korean parts its words and is not one of them.
///
/// By blocks: `std` knows no scripts, and a block holds no letters of another one here. Digits are excluded, because
/// numbers are read as one.
pub fn is_unspaced(c: char) -> bool {
    c >= '\u{e00}'
        && !is_digit(c)
        && matches!(c,
        '\u{e00}'..='\u{eff}'           // Thai, Lao
        | '\u{1000}'..='\u{109f}'       // Burmese
        | '\u{1780}'..='\u{17ff}'       // Khmer
        | '\u{1950}'..='\u{19ff}'       // Tai Le, New Tai Lue, Khmer symbols
        | '\u{1a20}'..='\u{1aaf}'       // Tai Tham
        | '\u{2e80}'..='\u{2fdf}'       // Han radicals
        | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3031}'..='\u{303c}' // Han and kana repetition marks
        | '\u{3041}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{312f}' // kana, Bopomofo
        | '\u{31a0}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' // Han
        | '\u{a9e0}'..='\u{a9ff}' | '\u{aa60}'..='\u{aadf}' // Burmese, Tai Viet
        | '\u{ff66}'..='\u{ff9f}'       // half-width katakana
        | '\u{11700}'..='\u{1174f}'     // Ahom
        | '\u{1b000}'..='\u{1b16f}'     // historic kana
        | '\u{20000}'..='\u{3ffff}') // Han
}

/// Decimal digits of the scripts above.
fn is_digit(c: char) -> bool {
    matches!(c, '\u{e50}'..='\u{e59}' | '\u{ed0}'..='\u{ed9}' | '\u{1040}'..='\u{1049}' | '\u{1090}'..='\u{1099}'
        | '\u{17e0}'..='\u{17e9}' | '\u{19d0}'..='\u{19da}' | '\u{1a80}'..='\u{1a99}' | '\u{a9f0}'..='\u{a9f9}'
        | '\u{11730}'..='\u{1173b}')
}
