//! Colours, sizes and fonts of the window, and nothing else: the only place where they may be named.
//!
//! # Invariants
//! - Both themes fill every token; a panel asks [`tokens`] and never looks which theme it is in.
//! - Label colours come from the project and are adapted to the theme by [`label_color`], so that they can be read on
//!   a card of either theme.
//!
//! Deliberately absent: widgets.

#![allow(clippy::disallowed_methods, reason = "this is the place where colours are made")]

use crate::annotation::{Rgb, Status};
use eframe::egui::{
    self, Color32, Context, CornerRadius, FontData, FontDefinitions, FontFamily, FontId, Margin, RichText, Stroke,
    TextStyle, Theme, Ui, vec2,
};
use std::sync::Arc;

/// Distances and sizes in points.
pub mod size {
    pub const GAP: f32 = 8.0;
    pub const GAP_SMALL: f32 = 4.0;
    pub const GAP_LARGE: f32 = 16.0;
    pub const GAP_SECTION: f32 = 24.0;

    pub const TOP_BAR: f32 = 48.0;
    pub const STATUS_LINE: f32 = 36.0;
    pub const LEFT_PANEL: f32 = 264.0;
    pub const RIGHT_PANEL: f32 = 290.0;
    pub const PAGE_WIDTH: f32 = 860.0;
    pub const DIALOG_WIDTH: f32 = 620.0;
    /// For a dialog with a table.
    pub const DIALOG_WIDE: f32 = 780.0;
    /// For a page of cards in two columns.
    pub const DASHBOARD: f32 = 1080.0;
    /// Narrower than this it has one column.
    pub const TWO_COLUMNS: f32 = 720.0;
    pub const PLOT: f32 = 210.0;
    /// A cell of a heat map.
    pub const HEAT_CELL: f32 = 46.0;
    /// A bar that shows shares.
    pub const SHARE_BAR: f32 = 10.0;
    pub const THIN_BAR: f32 = 6.0;
    /// As high as the labels beside a selection may become; the page is to be seen behind them.
    pub const LABEL_POPUP: f32 = 220.0;
    /// As high as a list to choose from may become.
    pub const LIST_POPUP: f32 = 360.0;
    pub const LIST_ROW: f32 = 36.0;
    pub const LABEL_ROW: f32 = 30.0;
    /// A number in a table, with air at its left.
    pub const NUMBER_COLUMN: f32 = 82.0;
    /// Two small buttons at the end of a row.
    pub const ROW_ACTIONS: f32 = 160.0;
    pub const DOT: f32 = 4.5;

    pub const TEXT: f32 = 14.0;
    pub const TEXT_SMALL: f32 = 12.5;
    pub const TEXT_TAG: f32 = 11.0;
    pub const TEXT_TITLE: f32 = 17.0;
    pub const TEXT_HERO: f32 = 30.0;
    pub const TEXT_CONTEXT: f32 = 15.5;
    pub const TEXT_SENTENCE: f32 = 21.0;

    /// Height of a bar under the words of a mention.
    pub const BAR: f32 = 6.0;
    /// From one lane of bars to the next: the bar, its tag, and air.
    pub const LANE: f32 = 27.0;
    /// From the foot of the words to the first bar; the underline of probable heads lies in it.
    pub const FIRST_LANE: f32 = 11.0;
    pub const ROW_GAP: f32 = 12.0;
    pub const HEAD_LINE: f32 = 3.0;
}

/// As much of a colour as text on it can be read in either theme.
const MOST_HEAT: f32 = 0.45;

pub const RADIUS_CARD: u8 = 8;
pub const RADIUS_CONTROL: u8 = 6;
pub const RADIUS_WORD: u8 = 4;

/// The colours of one theme by what they are for.
#[derive(Clone, Copy, Debug)]
pub struct Tokens {
    /// Behind the cards of a page.
    pub canvas: Color32,
    /// Side panels, top bar, status line.
    pub panel: Color32,
    pub card: Color32,
    pub field: Color32,
    pub line: Color32,
    pub line_strong: Color32,
    pub text: Color32,
    pub text_dim: Color32,
    pub text_faint: Color32,
    pub accent: Color32,
    pub on_accent: Color32,
    pub good: Color32,
    pub warn: Color32,
    pub bad: Color32,
    /// What is less than something else, where the accent stands for more: blue and orange look different to everybody.
    pub less: Color32,
    pub bad_fill: Color32,
    pub warn_fill: Color32,
    /// Behind the words of a selection or a selected mention.
    pub shade: Color32,
    pub shade_strong: Color32,
    pub hover: Color32,
    pub pressed: Color32,
    pub row_selected: Color32,
    pub backdrop: Color32,
    pub shadow: Color32,
}

static DARK: Tokens = Tokens {
    canvas: Color32::from_rgb(0x17, 0x19, 0x1D),
    panel: Color32::from_rgb(0x1E, 0x21, 0x26),
    card: Color32::from_rgb(0x24, 0x28, 0x2F),
    field: Color32::from_rgb(0x19, 0x1C, 0x21),
    line: Color32::from_rgb(0x2C, 0x31, 0x39),
    line_strong: Color32::from_rgb(0x3D, 0x44, 0x4F),
    text: Color32::from_rgb(0xE8, 0xEA, 0xED),
    text_dim: Color32::from_rgb(0xA3, 0xAA, 0xB5),
    text_faint: Color32::from_rgb(0x7E, 0x86, 0x92),
    accent: Color32::from_rgb(0x5A, 0xA9, 0xFF),
    on_accent: Color32::from_rgb(0x0C, 0x16, 0x22),
    good: Color32::from_rgb(0x59, 0xC0, 0x8A),
    warn: Color32::from_rgb(0xE3, 0xB3, 0x41),
    bad: Color32::from_rgb(0xF0, 0x6A, 0x6A),
    less: Color32::from_rgb(0xF0, 0x9A, 0x4A),
    bad_fill: Color32::from_rgb(0x3A, 0x25, 0x29),
    warn_fill: Color32::from_rgb(0x36, 0x2F, 0x1F),
    shade: Color32::from_rgb(0x2E, 0x37, 0x45),
    shade_strong: Color32::from_rgb(0x2B, 0x48, 0x6B),
    hover: Color32::from_rgb(0x2A, 0x2F, 0x37),
    pressed: Color32::from_rgb(0x33, 0x3A, 0x45),
    row_selected: Color32::from_rgb(0x2B, 0x35, 0x43),
    backdrop: Color32::from_rgba_premultiplied(0, 0, 0, 150),
    shadow: Color32::from_rgba_premultiplied(0, 0, 0, 96),
};

static LIGHT: Tokens = Tokens {
    canvas: Color32::from_rgb(0xF3, 0xF5, 0xF8),
    panel: Color32::from_rgb(0xFF, 0xFF, 0xFF),
    card: Color32::from_rgb(0xFF, 0xFF, 0xFF),
    field: Color32::from_rgb(0xF8, 0xF9, 0xFB),
    line: Color32::from_rgb(0xE3, 0xE6, 0xEC),
    line_strong: Color32::from_rgb(0xC6, 0xCC, 0xD6),
    text: Color32::from_rgb(0x1B, 0x1F, 0x24),
    text_dim: Color32::from_rgb(0x56, 0x5F, 0x6C),
    text_faint: Color32::from_rgb(0x6F, 0x78, 0x85),
    accent: Color32::from_rgb(0x1F, 0x6F, 0xD6),
    on_accent: Color32::from_rgb(0xFF, 0xFF, 0xFF),
    good: Color32::from_rgb(0x1D, 0x7A, 0x4B),
    warn: Color32::from_rgb(0x8F, 0x63, 0x00),
    bad: Color32::from_rgb(0xC2, 0x35, 0x35),
    less: Color32::from_rgb(0xC8, 0x5A, 0x00),
    bad_fill: Color32::from_rgb(0xFD, 0xEC, 0xEC),
    warn_fill: Color32::from_rgb(0xFD, 0xF4, 0xDD),
    shade: Color32::from_rgb(0xE6, 0xF0, 0xFD),
    shade_strong: Color32::from_rgb(0xC4, 0xDC, 0xFA),
    hover: Color32::from_rgb(0xF0, 0xF3, 0xF7),
    pressed: Color32::from_rgb(0xE4, 0xE9, 0xF0),
    row_selected: Color32::from_rgb(0xE4, 0xEE, 0xFC),
    backdrop: Color32::from_rgba_premultiplied(12, 14, 18, 96),
    shadow: Color32::from_rgba_premultiplied(0, 0, 0, 28),
};

/// The colours of the theme that `ui` is drawn in.
pub fn tokens(ui: &Ui) -> &'static Tokens {
    tokens_of(if ui.visuals().dark_mode { Theme::Dark } else { Theme::Light })
}

pub fn tokens_of(theme: Theme) -> &'static Tokens {
    match theme {
        Theme::Dark => &DARK,
        Theme::Light => &LIGHT,
    }
}

/// Fonts and styles of both themes; once for each context, before its first frame.
pub fn install(ctx: &Context) {
    ctx.set_fonts(fonts());
    for theme in [Theme::Dark, Theme::Light] {
        ctx.style_mut_of(theme, |style| apply(style, tokens_of(theme)));
    }
    // Zoom keys are in the command table like all others.
    ctx.options_mut(|options| options.zoom_with_keyboard = false);
}

fn bold_family() -> FontFamily {
    FontFamily::Name("bold".into())
}

pub fn regular(points: f32) -> FontId {
    FontId::proportional(points)
}

pub fn bold(points: f32) -> FontId {
    FontId::new(points, bold_family())
}

pub fn body(text: impl Into<String>, color: Color32) -> RichText {
    RichText::new(text).font(regular(size::TEXT)).color(color)
}

pub fn small(text: impl Into<String>, color: Color32) -> RichText {
    RichText::new(text).font(regular(size::TEXT_SMALL)).color(color)
}

pub fn heading(text: impl Into<String>, color: Color32) -> RichText {
    RichText::new(text).font(bold(size::TEXT)).color(color)
}

pub fn title(text: impl Into<String>, color: Color32) -> RichText {
    RichText::new(text).font(bold(size::TEXT_TITLE)).color(color)
}

/// A label's colour with at least 4.5 times the contrast of the card under it (WCAG AA for text).
pub fn label_color(rgb: Rgb, tokens: &Tokens) -> Color32 {
    let dark = luminance(tokens.card) < 0.5;
    let chosen = egui::ecolor::Hsva::from_srgb([rgb.0, rgb.1, rgb.2]);
    // Lighter and paler on a dark card, deeper and fuller on a light one: the hue stays.
    let shade = |step: i32| {
        let by = step as f32 / 20.0;
        let mut color = chosen;
        if dark {
            color.v += (1.0 - color.v) * by;
            color.s *= 1.0 - by * by;
        } else {
            color.v *= 1.0 - 0.9 * by;
            color.s = (color.s * (1.0 + 1.6 * by)).min(1.0);
        }
        Color32::from(color)
    };
    (0..=20).map(shade).find(|color| contrast(*color, tokens.card) >= 4.5).unwrap_or(tokens.text)
}

/// `color` as it looks through `alpha` of itself over `under`.
pub fn mix(under: Color32, color: Color32, alpha: f32) -> Color32 {
    under.lerp_to_gamma(color, alpha.clamp(0.0, 1.0))
}

/// What lies behind a number that is a share of the greatest one, in [0, 1].
pub fn heat(share: f32, tokens: &Tokens) -> Color32 {
    mix(tokens.card, tokens.accent, MOST_HEAT * share.clamp(0.0, 1.0))
}

/// What lies behind a difference, in [-1, 1]: the accent where it is more than nothing, `less` where it is less.
pub fn diverging(share: f32, tokens: &Tokens) -> Color32 {
    let color = if share < 0.0 { tokens.less } else { tokens.accent };
    mix(tokens.card, color, MOST_HEAT * share.abs().min(1.0))
}

/// A colour for the n-th label of something that is no project yet: first those that new labels get, then any.
pub fn proposed_color(number: usize) -> Rgb {
    const FIRST: [Rgb; 5] = [
        Rgb(0xF0, 0x7F, 0x5A),
        Rgb(0x56, 0xA5, 0xF5),
        Rgb(0x2F, 0xB4, 0x7C),
        Rgb(0xC0, 0x7C, 0xF0),
        Rgb(0xE3, 0xB2, 0x3C),
    ];
    FIRST.get(number).copied().unwrap_or_else(|| {
        let hue = (number as f32 * 0.618_034 + 0.05).fract();
        let [r, g, b] = egui::ecolor::Hsva::new(hue, 0.6, 0.9, 1.0).to_srgb();
        Rgb(r, g, b)
    })
}

/// What the dot of a sentence says.
pub fn status_color(status: Status, tokens: &Tokens) -> Color32 {
    match status {
        Status::Untouched => tokens.line_strong,
        Status::InProgress => tokens.warn,
        Status::Complete => tokens.good,
        Status::Skipped => tokens.text_faint,
        Status::Flagged => tokens.bad,
    }
}

fn contrast(a: Color32, b: Color32) -> f32 {
    let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
    if a > b { a / b } else { b / a }
}

fn luminance(color: Color32) -> f32 {
    let linear = egui::Rgba::from(color);
    0.2126 * linear.r() + 0.7152 * linear.g() + 0.0722 * linear.b()
}

fn fonts() -> FontDefinitions {
    let mut fonts = FontDefinitions::default();
    let add = |fonts: &mut FontDefinitions, name: &str, bytes: &'static [u8]| {
        fonts.font_data.insert(name.to_owned(), Arc::new(FontData::from_static(bytes)));
    };
    add(&mut fonts, "noto", include_bytes!("../../assets/fonts/NotoSans-Regular.ttf"));
    add(&mut fonts, "noto-bold", include_bytes!("../../assets/fonts/NotoSans-Bold.ttf"));
    add(&mut fonts, "noto-emoji", include_bytes!("../../assets/fonts/NotoEmoji-Regular.ttf"));
    // Last, so that it gives the signs that no other has.
    fonts.families.values_mut().for_each(|family| family.push("noto-emoji".to_owned()));
    let mut fallback = fonts.families.get(&FontFamily::Proportional).cloned().unwrap_or_default();
    fallback.insert(0, "noto".to_owned());
    fonts.families.insert(FontFamily::Proportional, fallback.clone());
    fallback.insert(0, "noto-bold".to_owned());
    fonts.families.insert(bold_family(), fallback);
    fonts
}

fn apply(style: &mut egui::Style, tokens: &Tokens) {
    style.text_styles = [
        (TextStyle::Heading, bold(size::TEXT_TITLE)),
        (TextStyle::Body, regular(size::TEXT)),
        (TextStyle::Button, regular(size::TEXT)),
        (TextStyle::Small, regular(size::TEXT_SMALL)),
        (TextStyle::Monospace, FontId::monospace(size::TEXT_SMALL)),
    ]
    .into();
    let spacing = &mut style.spacing;
    spacing.item_spacing = vec2(size::GAP, size::GAP_SMALL + 2.0);
    spacing.button_padding = vec2(12.0, 6.0);
    spacing.interact_size = vec2(36.0, 30.0);
    spacing.window_margin = Margin::same(20);
    spacing.menu_margin = Margin::same(6);
    spacing.slider_width = 150.0;
    spacing.slider_rail_height = 4.0;
    spacing.icon_width = 18.0;
    spacing.icon_width_inner = 10.0;
    spacing.combo_width = 120.0;
    spacing.tooltip_width = 360.0;
    spacing.combo_height = size::LIST_POPUP;
    // What goes on out of sight shows a handle, also while the pointer is elsewhere.
    let floating = egui::style::ScrollStyle::floating();
    spacing.scroll = egui::style::ScrollStyle { dormant_handle_opacity: 0.45, ..floating };

    let visuals = &mut style.visuals;
    visuals.override_text_color = None;
    visuals.weak_text_color = Some(tokens.text_dim);
    visuals.panel_fill = tokens.panel;
    visuals.window_fill = tokens.panel;
    visuals.window_stroke = Stroke::new(1.0, tokens.line);
    visuals.window_corner_radius = CornerRadius::same(12);
    visuals.menu_corner_radius = CornerRadius::same(RADIUS_CARD);
    visuals.window_shadow = egui::Shadow { offset: [0, 12], blur: 36, spread: 0, color: tokens.shadow };
    visuals.popup_shadow = egui::Shadow { offset: [0, 6], blur: 18, spread: 0, color: tokens.shadow };
    visuals.extreme_bg_color = tokens.field;
    visuals.text_edit_bg_color = Some(tokens.field);
    visuals.faint_bg_color = tokens.hover;
    visuals.code_bg_color = tokens.field;
    visuals.hyperlink_color = tokens.accent;
    visuals.warn_fg_color = tokens.warn;
    visuals.error_fg_color = tokens.bad;
    visuals.selection.bg_fill = tokens.shade_strong;
    visuals.selection.stroke = Stroke::new(1.5, tokens.accent);
    visuals.slider_trailing_fill = true;
    visuals.handle_shape = egui::style::HandleShape::Circle;
    visuals.interact_cursor = Some(egui::CursorIcon::PointingHand);
    visuals.striped = false;

    let widgets = &mut visuals.widgets;
    for (widget, fill, line, text) in [
        (&mut widgets.noninteractive, tokens.panel, tokens.line, tokens.text),
        (&mut widgets.inactive, tokens.card, tokens.line_strong, tokens.text),
        (&mut widgets.hovered, tokens.hover, tokens.text_faint, tokens.text),
        (&mut widgets.active, tokens.pressed, tokens.accent, tokens.text),
        (&mut widgets.open, tokens.hover, tokens.line_strong, tokens.text),
    ] {
        widget.bg_fill = fill;
        widget.weak_bg_fill = fill;
        widget.bg_stroke = Stroke::new(1.0, line);
        widget.fg_stroke = Stroke::new(1.0, text);
        widget.corner_radius = CornerRadius::same(RADIUS_CONTROL);
        widget.expansion = 0.0;
    }
    // Boxes and circles to choose with, which are else grey on grey.
    widgets.inactive.bg_fill = tokens.field;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_labels_can_be_read_in_both_themes() {
        for tokens in [&DARK, &LIGHT] {
            for (name, color) in [
                ("text", tokens.text),
                ("dim", tokens.text_dim),
                ("faint", tokens.text_faint),
                ("accent", tokens.accent),
                ("good", tokens.good),
                ("warn", tokens.warn),
                ("bad", tokens.bad),
                ("less", tokens.less),
            ] {
                for under in [tokens.card, tokens.panel] {
                    assert!(contrast(color, under) >= 3.9, "{name} {color:?} on {under:?}: {}", contrast(color, under));
                }
            }
            for step in -10..=10 {
                let share = step as f32 / 10.0;
                for under in [heat(share, tokens), diverging(share, tokens)] {
                    assert!(contrast(tokens.text, under) >= 4.5, "{share}: {}", contrast(tokens.text, under));
                }
            }
            for rgb in [Rgb(0, 0, 0), Rgb(255, 255, 255), Rgb(0xE3, 0xB2, 0x3C), Rgb(0x56, 0xA5, 0xF5)] {
                assert!(contrast(label_color(rgb, tokens), tokens.card) >= 4.5);
            }
        }
    }
}
