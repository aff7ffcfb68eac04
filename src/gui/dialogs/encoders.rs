//! Choosing the encoder that models start from, and bringing one in from a folder or from the hub.

use super::fetching::FromHub;
use super::{explain, field_name, problem};
use crate::encoder::{EncoderError, EncoderInfo, Encoders};
use crate::gui::files::{FileRequest, PathChange, PathField, Services};
use crate::gui::theme;
use crate::gui::widgets::keyboard::{is_entered, keeps_enter, leaves_enter};
use crate::gui::widgets::parts::{button, quiet_button, text_field};
use crate::session::{Task, TaskLost};
use crate::wording::{capital, counted};
use eframe::egui::{self, Label, Margin, Ui};

/// Cards to choose from.
#[derive(Default)]
pub(super) struct EncoderChoice {
    known: Vec<EncoderInfo>,
    /// `None` until the encoders are known; where it can be left to the language of the texts, `None` is that.
    chosen: Option<String>,
    offers_automatic: bool,
    adding: Option<Adding>,
}

/// An encoder that is being brought in.
enum Adding {
    Folder(Copying),
    Hub(FromHub),
}

/// From a folder.
#[derive(Default)]
struct Copying {
    folder: PathField,
    name: String,
    /// The name was typed: it no longer follows the folder.
    name_is_own: bool,
    copying: Option<Task<Result<EncoderInfo, EncoderError>>>,
    failure: Option<String>,
    /// What is shown was brought into sight.
    in_sight: bool,
}

/// What happened in a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EncoderChange {
    None,
    /// Another one was chosen.
    Chosen,
    /// One was brought in, and chosen.
    Added,
}

impl EncoderChoice {
    pub(super) fn new(known: &[EncoderInfo], chosen: Option<String>) -> Self {
        let mut choice = Self { chosen, ..Self::default() };
        choice.take_listing(known);
        choice
    }

    /// It can be left to the language of the texts, and is at first.
    pub(super) fn or_automatic() -> Self {
        Self { offers_automatic: true, ..Self::default() }
    }

    /// What was read from the disk meanwhile; what the person has chosen stays.
    pub(super) fn take_listing(&mut self, known: &[EncoderInfo]) {
        self.known = known.to_vec();
        if self.chosen.is_none() && !self.offers_automatic {
            self.chosen = known.first().map(|e| e.name.clone());
        }
    }

    /// `None`: by language.
    pub(super) fn chosen(&self) -> Option<&str> {
        self.chosen.as_deref()
    }

    pub(super) fn show(&mut self, ui: &mut Ui, encoders: &Encoders, services: &Services) -> EncoderChange {
        let mut change = EncoderChange::None;
        if self.offers_automatic && !self.known.is_empty() {
            let is_chosen = self.chosen.is_none();
            if card(ui, ("Automatic", AUTOMATIC), true, is_chosen) && !is_chosen {
                self.chosen = None;
                change = EncoderChange::Chosen;
            }
        }
        for encoder in &self.known {
            let chosen = self.chosen.as_ref() == Some(&encoder.name);
            let about = about(encoder);
            if card(ui, (&encoder.display_name, &about), encoder.problem.is_none(), chosen) && !chosen {
                self.chosen = Some(encoder.name.clone());
                change = EncoderChange::Chosen;
            }
        }
        if let Some(gone) = self.chosen.as_ref().filter(|name| !self.known.iter().any(|e| e.name == **name)) {
            problem(ui, &format!("The encoder {gone:?} is not on this computer; choose another one or add it again."));
        }
        let Some(adding) = &mut self.adding else {
            ui.horizontal_wrapped(|ui| {
                if quiet_button(ui, "Add an encoder from a folder").clicked() {
                    self.adding = Some(Adding::Folder(Copying::default()));
                }
                if quiet_button(ui, "Download one from the hub").clicked() {
                    self.adding = Some(Adding::Hub(FromHub::default()));
                }
            });
            return change;
        };
        if let Some(added) = adding.take_result() {
            self.chosen = Some(added.name.clone());
            self.known.retain(|e| e.name != added.name);
            self.known.push(added);
            self.adding = None;
            return EncoderChange::Added;
        }
        if !adding.show(ui, encoders, services) {
            self.adding = None;
        }
        change
    }
}

impl Adding {
    fn take_result(&mut self) -> Option<EncoderInfo> {
        match self {
            Self::Folder(copying) => copying.take_result(),
            Self::Hub(fetching) => fetching.take_result(),
        }
    }

    /// False when it is no longer wanted.
    fn show(&mut self, ui: &mut Ui, encoders: &Encoders, services: &Services) -> bool {
        match self {
            Self::Folder(copying) => copying.show(ui, encoders, services),
            Self::Hub(fetching) => fetching.show(ui, encoders, services),
        }
    }
}

impl Copying {
    fn take_result(&mut self) -> Option<EncoderInfo> {
        let result: Result<_, TaskLost> = self.copying.as_ref()?.poll()?;
        self.copying = None;
        self.in_sight = false;
        match result {
            Ok(Ok(info)) => return Some(info),
            Ok(Err(error)) => self.failure = Some(error.to_string()),
            Err(lost) => self.failure = Some(lost.to_string()),
        }
        None
    }

    /// False when it is no longer wanted.
    fn show(&mut self, ui: &mut Ui, encoders: &Encoders, services: &Services) -> bool {
        if self.copying.is_some() {
            ui.horizontal(|ui| {
                ui.spinner();
                ui.label(format!("Checking and copying {} …", self.name));
            });
            return true;
        }
        field_name(ui, "Encoder folder");
        self.folder.keeps_enter = true;
        let change = self.folder.show(ui, "Encoder folder", &[("Choose …", FileRequest::Folder)], services);
        explain(
            ui,
            "A model published for the transformers library (BERT, RoBERTa, XLM-RoBERTa, CamemBERT, DistilBERT, \
             ELECTRA, ModernBERT or DeBERTa): config.json, tokenizer.json or a vocabulary, and model.safetensors. A text \
             file of word vectors (GloVe, word2vec) works, too. Nestling copies it to its own folder.",
        );
        if change != PathChange::None {
            self.failure = None;
            if !self.name_is_own {
                let name = self.folder.path().file_name().map(|n| n.to_string_lossy().into_owned());
                self.name = name.unwrap_or_default();
            }
        }
        field_name(ui, "Name in Nestling");
        let named = keeps_enter(text_field(ui, "Name in Nestling", &mut self.name, 260.0));
        self.name_is_own |= named.changed();
        if let Some(failure) = &self.failure {
            problem(ui, &capital(failure));
        }
        let ready = !self.folder.text.trim().is_empty() && !self.name.trim().is_empty();
        let row = ui.horizontal(|ui| {
            let is_asked = ready && (self.folder.is_entered || is_entered(&named));
            if button(ui, ready, "Add encoder").clicked() || is_asked {
                let (encoders, folder, name) = (encoders.clone(), self.folder.path(), self.name.trim().to_owned());
                let work = move || encoders.import(&folder, &name);
                self.copying = Some(Task::spawn("add encoder", services.waker.clone(), work));
            }
            !quiet_button(ui, "Never mind").clicked()
        });
        if !std::mem::replace(&mut self.in_sight, true) {
            row.response.scroll_to_me(None);
        }
        row.inner
    }
}

const AUTOMATIC: &str = "The built-in encoder that has read the language of your texts, once you import some.";

/// A name with what to expect of it. True when it was clicked.
fn card(ui: &mut Ui, (name, about): (&str, &str), usable: bool, chosen: bool) -> bool {
    let tokens = theme::tokens(ui);
    let line = if chosen { tokens.accent } else { tokens.line };
    let frame = egui::Frame::new()
        .fill(if chosen { tokens.row_selected } else { tokens.card })
        .stroke(egui::Stroke::new(1.0, line))
        .corner_radius(egui::CornerRadius::same(theme::RADIUS_CARD))
        .inner_margin(Margin::symmetric(12, 8));
    let inner = frame.show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        let name = theme::heading(name, tokens.text);
        let radio = leaves_enter(ui.add_enabled(usable, egui::RadioButton::new(chosen, name)));
        ui.add(Label::new(theme::small(about, tokens.text_dim)).wrap());
        // The keyboard has the radio button, and no second way to the same.
        usable && (radio.clicked() || ui.response().interact(egui::Sense::CLICK).clicked())
    });
    inner.inner
}

/// What to expect of an encoder, in honest words.
fn about(encoder: &EncoderInfo) -> String {
    if let Some(problem) = &encoder.problem {
        return problem.clone();
    }
    if !encoder.pretrained {
        return "Built in, not pretrained: it learns from your annotations alone. Small and fast, it finds names that \
                look like those it has seen. An encoder pretrained on your language needs fewer annotations."
            .to_owned();
    }
    if let Some(languages) = encoder.languages {
        return format!(
            "Built in, pretrained on {languages}: a few dozen sentences already give useful suggestions. For another \
             language, choose or download an encoder that has read it."
        );
    }
    let megabytes = encoder.weights_bytes.div_ceil(1_000_000);
    let layers = counted(encoder.layers, "layer", "layers");
    let kind = encoder.kind.map(|kind| format!("{} · ", kind.name())).unwrap_or_default();
    let is_slow = encoder.kind.is_some_and(|kind| !kind.has_blocks_of_bert());
    let slow = if is_slow { " · half as fast as BERT of this size" } else { "" };
    format!("Pretrained · {kind}{layers} of {} · {megabytes} MB{slow}", encoder.hidden)
}
