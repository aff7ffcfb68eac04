//! What several pages of the dialog say.

use crate::experiments::Variant;
use crate::model::architecture;
use crate::wording::grouped;

/// "SmartSpanNER", "SmartSpanNER w=0.5".
pub(super) fn name_of(variant: &Variant) -> String {
    let id = variant.architecture.as_str();
    let name = architecture(id).map_or(id, |architecture| architecture.name());
    let settings = variant.settings.iter().map(|(key, value)| format!(" {key}={value}"));
    std::iter::once(name.to_owned()).chain(settings).collect()
}

/// "40 s", "12 min", "3.5 h".
pub(super) fn duration(secs: f64) -> String {
    match secs {
        ..90.0 => format!("{:.0} s", secs.max(1.0)),
        ..5400.0 => format!("{:.0} min", secs / 60.0),
        _ => format!("{:.1} h", secs / 3600.0),
    }
}

/// "1, 2 and 3".
pub(super) fn seeds_in_words(seeds: &[u64]) -> String {
    let names: Vec<String> = seeds.iter().map(u64::to_string).collect();
    crate::wording::listed(&names.iter().map(String::as_str).collect::<Vec<_>>())
}

/// "6 of 9 models", "9 models".
pub(super) fn models(there: usize, all: usize) -> String {
    match there >= all {
        true => crate::wording::counted(there, "model", "models"),
        false => format!("{} of {} models", grouped(there), grouped(all)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn names_and_times_read_well() {
        let mut variant = Variant::new("smartspanner");
        variant.settings.push(("w".to_owned(), "0.5".to_owned()));
        assert_eq!(
            (name_of(&variant), name_of(&Variant::new("of another program"))),
            ("SmartSpanNER w=0.5".to_owned(), "of another program".to_owned())
        );
        assert_eq!([0.2, 89.0, 300.0, 9000.0].map(duration), ["1 s", "89 s", "5 min", "2.5 h"]);
        assert_eq!((models(3, 3), models(1, 3)), ("3 models".to_owned(), "1 of 3 models".to_owned()));
    }
}
