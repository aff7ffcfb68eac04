//! Options of architectures of which several values are tried: each makes a variant of every architecture that has it.

use super::super::{explain, field_name, problem};
use crate::experiments::Variant;
use crate::gui::theme::size;
use crate::gui::widgets::parts::{Icon, combo, icon_button, quiet_button, text_field};
use crate::model::{Architecture, OptionSpec};
use crate::wording::{capital, counted};
use eframe::egui::Ui;

const NAME: f32 = 150.0;
const VALUES: f32 = 200.0;
/// Variants of one comparison, at most: each is trained with every seed.
const MOST_VARIANTS: usize = 60;

/// What is to be varied, as it is typed.
#[derive(Default)]
pub(super) struct VariedOptions {
    rows: Vec<VariedOption>,
}

struct VariedOption {
    name: &'static str,
    values: String,
}

impl VariedOptions {
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Something is typed that can't be tried; it is said beside the field.
    pub(super) fn is_wrong(&self, chosen: &[&'static dyn Architecture]) -> bool {
        self.rows.iter().any(|row| row.read(chosen).is_err())
    }

    /// `chosen`: the architectures that are compared.
    pub(super) fn show(&mut self, ui: &mut Ui, chosen: &[&'static dyn Architecture]) {
        let mut removed = None;
        if !self.rows.is_empty() {
            field_name(ui, "Values to try");
        }
        let taken: Vec<&'static str> = self.rows.iter().map(|row| row.name).collect();
        for (number, row) in self.rows.iter_mut().enumerate() {
            ui.horizontal(|ui| {
                combo(ui, &format!("Option {} to vary", number + 1), row.name, NAME, |ui| {
                    let now = row.name;
                    for name in names(chosen).into_iter().filter(|name| *name == now || !taken.contains(name)) {
                        ui.selectable_value(&mut row.name, name, name);
                    }
                });
                text_field(ui, &format!("Values of {}", row.name), &mut row.values, VALUES);
                if icon_button(ui, Icon::Cross, true, &format!("Don't vary {}", row.name)).clicked() {
                    removed = Some(number);
                }
            });
            match row.read(chosen) {
                Ok(_) => explain(ui, &row.meaning(chosen)),
                Err(why) => problem(ui, &why),
            }
        }
        if let Some(number) = removed {
            self.rows.remove(number);
        }
        ui.add_space(size::GAP_SMALL);
        let next = names(chosen).into_iter().find(|name| self.rows.iter().all(|row| row.name != *name));
        if let Some(name) = next
            && quiet_button(ui, "Try several values of an option").clicked()
        {
            self.rows.push(VariedOption { name, values: String::new() });
        }
    }

    /// A variant for each architecture and each combination of values that it takes.
    ///
    /// # Errors
    /// Values that can't be tried, or too many variants, in words.
    pub(super) fn variants(&self, chosen: &[&'static dyn Architecture]) -> Result<Vec<Variant>, String> {
        let tried = self.rows.iter().map(|row| Ok((row.name.to_owned(), row.read(chosen)?)));
        let tried = tried.collect::<Result<Vec<(String, Vec<String>)>, String>>()?;
        let combinations = tried.iter().try_fold(chosen.len(), |all, (_, values)| all.checked_mul(values.len()));
        if combinations.is_none_or(|all| all > MOST_VARIANTS) {
            return Err(format!("These are more than {MOST_VARIANTS} variants; try fewer values at once."));
        }
        let ids: Vec<String> = chosen.iter().map(|architecture| architecture.id().to_owned()).collect();
        Ok(Variant::sweep(&ids, &tried))
    }
}

impl VariedOption {
    /// The values, each once, as variants name them.
    ///
    /// # Errors
    /// No value, or one that the option does not take, in words.
    fn read(&self, chosen: &[&'static dyn Architecture]) -> Result<Vec<String>, String> {
        let specs = self.specs(chosen);
        let Some((_, first)) = specs.first() else {
            return Err(format!(
                "No chosen architecture has the option {}: choose another one, or leave it out.",
                self.name
            ));
        };
        let mut values: Vec<String> = Vec::new();
        for text in self.values.split([',', ' ', ';']).filter(|text| !text.is_empty()) {
            let read = |spec: &OptionSpec| match text {
                "auto" if spec.is_auto() => Some(text.to_owned()),
                text => spec.takes.read(text).map(|value| value.to_string()),
            };
            // What one architecture takes another may not: a variant of each is made.
            let all: Option<Vec<String>> = specs.iter().map(|(_, spec)| read(spec)).collect();
            let value = all.and_then(|all| all.into_iter().next());
            let value =
                value.ok_or_else(|| format!("{} can't be “{text}”; it takes {}.", self.name, first.expected()))?;
            if !values.contains(&value) {
                values.push(value);
            }
        }
        match values.is_empty() {
            true => Err(format!(
                "{}: enter the values to try, separated by commas. It takes {}.",
                self.name,
                first.expected()
            )),
            false => Ok(values),
        }
    }

    /// How each chosen architecture that has the option declares it.
    fn specs(&self, chosen: &[&'static dyn Architecture]) -> Vec<(&'static str, &'static OptionSpec)> {
        let of = |architecture: &&'static dyn Architecture| {
            let spec = architecture.options().iter().find(|spec| spec.name == self.name)?;
            Some((architecture.name(), spec))
        };
        chosen.iter().filter_map(of).collect()
    }

    /// What the option is for, and which of the architectures it makes variants of.
    fn meaning(&self, chosen: &[&'static dyn Architecture]) -> String {
        let specs = self.specs(chosen);
        let help = specs.first().map_or_else(String::new, |(_, spec)| capital(spec.help));
        let values = self.read(chosen).map_or(0, |values| values.len());
        let names: Vec<&str> = specs.iter().map(|(name, _)| *name).collect();
        format!("{help}: {} of {}.", counted(values, "variant", "variants"), crate::wording::listed(&names))
    }
}

/// The options of some architectures, each once.
fn names(chosen: &[&'static dyn Architecture]) -> Vec<&'static str> {
    let mut names = Vec::new();
    for spec in chosen.iter().flat_map(|architecture| architecture.options()) {
        if !names.contains(&spec.name) {
            names.push(spec.name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::architecture;

    fn variants(ids: &[&str], rows: &[(&'static str, &str)]) -> Result<Vec<String>, String> {
        let chosen: Vec<&'static dyn Architecture> = ids.iter().map(|id| architecture(id).unwrap()).collect();
        let rows = rows.iter().map(|(name, values)| VariedOption { name, values: (*values).to_owned() });
        let varied = VariedOptions { rows: rows.collect() };
        varied.variants(&chosen).map(|all| all.iter().map(Variant::to_string).collect())
    }

    #[test]
    fn each_value_makes_a_variant_of_the_architectures_that_have_the_option() {
        let both = ["smartspanner", "spanner"];
        assert_eq!(variants(&both, &[]).unwrap(), ["smartspanner", "spanner"]);
        let swept = variants(&both, &[("w", "0.1, 0.50,0.5")]).unwrap();
        assert_eq!(swept, ["smartspanner w=0.1", "smartspanner w=0.5", "spanner"]);
        let swept = variants(&["bundling"], &[("alpha", "0;1"), ("decode", "tags spans"), ("word_shapes", "auto")]);
        assert_eq!(swept.unwrap().len(), 4);
    }

    #[test]
    fn what_can_t_be_tried_is_said() {
        let refused = |ids: &[&str], rows: &[(&'static str, &str)]| variants(ids, rows).unwrap_err();
        assert_eq!(refused(&["smartspanner"], &[("w", "0.1, 2")]), "w can't be “2”; it takes a number from 0 to 1.");
        assert!(refused(&["smartspanner"], &[("w", " ")]).contains("enter the values to try"));
        assert!(refused(&["spanner"], &[("w", "0.1")]).starts_with("No chosen architecture has the option w"));
        let many: Vec<String> = (1..=100).map(|width| width.to_string()).collect();
        assert!(refused(&["spanner"], &[("max_width", &many.join(","))]).contains("more than 60 variants"));
    }
}
