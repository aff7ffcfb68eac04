//! What was chosen in the palette before.

use crate::annotation::LabelId;
use crate::gui::commands::CommandId;

/// Choices that are remembered.
const MOST_RECENT: usize = 50;

/// What was chosen before, the latest last.
#[derive(Default)]
pub(crate) struct RecentChoices(Vec<PaletteTarget>);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PaletteTarget {
    Command(CommandId),
    Label(LabelId),
}

impl RecentChoices {
    /// Labels of another project have the same numbers.
    pub(crate) fn forget_labels(&mut self) {
        self.0.retain(|calls| matches!(calls, PaletteTarget::Command(_)));
    }

    pub(super) fn note(&mut self, calls: PaletteTarget) {
        self.0.retain(|before| *before != calls);
        self.0.push(calls);
        let too_many = self.0.len().saturating_sub(MOST_RECENT);
        self.0.drain(..too_many);
    }

    /// 0 for what was chosen last.
    pub(super) fn age(&self, calls: PaletteTarget) -> usize {
        self.0.iter().rev().position(|before| *before == calls).unwrap_or(usize::MAX)
    }
}
