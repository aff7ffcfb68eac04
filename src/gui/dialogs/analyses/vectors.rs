//! What a model's vectors of spans look like: those that lie close together are hard to tell apart.

use super::super::explain;
use super::analysed::OfModel;
use super::scores::name_and_color;
use super::sentences::{Item, SentenceList};
use super::sheet::{Figure, Head, Sheet, SheetRow};
use super::sheet_table::SheetTable;
use crate::annotation::{Corpus, LabelId, LabelSet};
use crate::evaluation::{Drawn, MeanCosine, SpanKind};
use crate::gui::dialogs::DialogContext;
use crate::gui::theme::{self, Tokens, size};
use crate::gui::widgets::keyboard::leaves_enter;
use crate::gui::widgets::parts::section;
use crate::session::{SpanPicture, SpanPoint};
use crate::wording::{counted, grouped};
use eframe::egui::{
    Color32, CursorIcon, EventFilter, Key, Pos2, Rect, Response, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2,
    vec2,
};

const PLOT: f32 = 320.0;
const PAD: f32 = 14.0;
/// How far from a point the pointer still means it.
const NEAR: f32 = 8.0;
const POINT: f32 = 3.2;
const NO_VECTORS: &str = "This model tags words and classifies no spans, so it has no vectors of spans. Choose a model of \
                          another architecture.";

pub(super) struct Vectors {
    /// Labels of gold mentions that are among the points, and none, each with whether it is shown.
    shown: Vec<(Option<LabelId>, String, bool)>,
    tables: Vec<SheetTable>,
    /// Indices of points from the left, for the arrow keys.
    from_left: Vec<usize>,
    /// The point that was chosen, and its sentence.
    chosen: Option<(usize, SentenceList)>,
}

impl Vectors {
    pub(super) fn new(model: &OfModel, labels: &LabelSet) -> Self {
        let points = model.report.vectors.as_ref().map_or(&[][..], |picture| &picture.points);
        let mut all: Vec<Option<LabelId>> = points.iter().map(|point| point.gold).collect();
        all.sort_unstable_by_key(|label| (label.is_none(), *label));
        all.dedup();
        let name =
            |label: Option<LabelId>| label.map_or_else(|| "no mention".to_owned(), |l| name_and_color(labels, l).0);
        let mut from_left: Vec<usize> = (0..points.len()).collect();
        let x = |at: &usize| points.get(*at).map_or(0.0, |point| point.at[0]);
        from_left.sort_by(|a, b| x(a).total_cmp(&x(b)));
        Self {
            shown: all.into_iter().map(|label| (label, name(label), true)).collect(),
            tables: model
                .report
                .vectors
                .iter()
                .flat_map(|picture| [overlaps(picture), classes(picture)])
                .map(SheetTable::new)
                .collect(),
            from_left,
            chosen: None,
        }
    }

    pub(super) fn sheets(&self) -> Vec<&Sheet> {
        self.tables.iter().map(SheetTable::sheet).collect()
    }

    pub(super) fn show(&mut self, ui: &mut Ui, model: &OfModel, corpus: &Corpus, context: &mut DialogContext<'_>) {
        let Some(picture) = &model.report.vectors else { return explain(ui, NO_VECTORS) };
        if picture.points.is_empty() {
            return explain(ui, "There are no mentions in these sentences, so there are no vectors to look at.");
        }
        section(ui, "Vectors of spans");
        explain(ui, &about(picture));
        ui.horizontal_wrapped(|ui| {
            for (label, name, is_shown) in &mut self.shown {
                let color = color_of(*label, corpus.labels(), theme::tokens(ui));
                leaves_enter(ui.checkbox(is_shown, theme::small(name.as_str(), color)));
            }
        });
        let chosen = self.plot(ui, picture, corpus);
        if let Some(at) = chosen.filter(|at| self.chosen.as_ref().is_none_or(|(before, _)| before != at)) {
            self.chosen = picture.points.get(at).map(|point| (at, list_of(point, corpus.labels())));
        }
        if let Some((_, list)) = &mut self.chosen {
            list.show(ui, corpus, model, context);
        }
        ui.add_space(size::GAP);
        self.tables.iter_mut().for_each(|table| table.show(ui));
        explain(
            ui,
            "Cosine similarity of vectors, from -1 to 1. The lower that of spans that overlap, and the higher that within \
             a label against that between labels, the easier a model tells them apart.",
        );
    }

    /// The point that was clicked or gone to.
    fn plot(&self, ui: &mut Ui, picture: &SpanPicture, corpus: &Corpus) -> Option<usize> {
        let tokens = theme::tokens(ui);
        let (place, response) = ui.allocate_exact_size(vec2(ui.available_width(), PLOT), Sense::click());
        let spoken = match self.chosen.as_ref().and_then(|(at, _)| picture.points.get(*at)) {
            Some(point) => format!("vectors of spans, chosen: {}", in_words(point, corpus)),
            None => format!("vectors of spans, {}", counted(picture.points.len(), "point", "points")),
        };
        response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &spoken));
        let painter = ui.painter_at(place);
        painter.rect(place, theme::RADIUS_CARD, tokens.field, Stroke::new(1.0, tokens.line), StrokeKind::Inside);
        let scale = Scale::around(picture.points.iter().map(|point| point.at), place.shrink(PAD));
        let is_shown =
            |point: &SpanPoint| self.shown.iter().any(|(label, _, is_shown)| *is_shown && *label == point.gold);
        let pointer = response.hover_pos();
        let mut near: Option<(usize, f32)> = None;
        for (at, point) in picture.points.iter().enumerate().filter(|(_, point)| is_shown(point)) {
            let dot = scale.place(point.at);
            paint_point(&painter, dot, point, color_of(point.gold, corpus.labels(), tokens), tokens);
            let distance = pointer.map_or(f32::INFINITY, |pointer| pointer.distance(dot));
            if distance <= NEAR && near.is_none_or(|(_, least)| distance < least) {
                near = Some((at, distance));
            }
        }
        if let Some(point) = self.chosen.as_ref().and_then(|(at, _)| picture.points.get(*at)) {
            painter.circle_stroke(scale.place(point.at), 2.0 * POINT + 1.0, Stroke::new(2.0, tokens.text));
        }
        let is_clicked = response.clicked_by(eframe::egui::PointerButton::Primary);
        let by_key = self.gone_to(ui, &response, |at| picture.points.get(at).is_some_and(&is_shown));
        let meant = near.and_then(|(at, _)| picture.points.get(at));
        if let Some(point) = meant {
            let text = in_words(point, corpus);
            response.on_hover_cursor(CursorIcon::PointingHand).on_hover_text_at_pointer(text);
        }
        by_key.or(near.filter(|_| is_clicked).map(|(at, _)| at))
    }

    /// Where the arrow keys lead: to the next point that is shown, to the left or right.
    fn gone_to(&self, ui: &Ui, response: &Response, is_shown: impl Fn(usize) -> bool) -> Option<usize> {
        if !response.has_focus() {
            return None;
        }
        let keys = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, keys));
        let pressed = |key: Key| ui.input(|input| input.num_presses(key)) as isize;
        let steps = pressed(Key::ArrowRight) - pressed(Key::ArrowLeft);
        if steps == 0 {
            return None;
        }
        let shown: Vec<usize> = self.from_left.iter().copied().filter(|at| is_shown(*at)).collect();
        let now = self.chosen.as_ref().and_then(|(chosen, _)| shown.iter().position(|at| at == chosen));
        let to = now.map_or(0, |now| now as isize + steps).clamp(0, shown.len().saturating_sub(1) as isize);
        shown.get(to as usize).copied()
    }
}

/// What is seen, and how it was drawn.
fn about(picture: &SpanPicture) -> String {
    let spans = counted(picture.points.len(), "span", "spans");
    let Drawn { of, drawn } = picture.of_kind(SpanKind::Mention);
    let some = match drawn < of {
        true => format!(", with {} of {} gold mentions, drawn at random", grouped(drawn), grouped(of)),
        false => String::new(),
    };
    let share = picture.shown.map_or(0.0, |[across, up]| 100.0 * (across + up));
    format!(
        "{spans}{some}. The plane shows {share:.0} % of how the vectors of gold mentions differ (principal components). \
         Filled: gold mentions in the colour of their label; crosses: predicted wrongly; rings: other spans. Click a point \
         or go from one to the next with the left and right arrow keys to see its sentence."
    )
}

/// From the plane to the screen, both axes alike.
struct Scale {
    middle: [f64; 2],
    by: f64,
    center: Pos2,
}

impl Scale {
    fn around(points: impl Iterator<Item = [f64; 2]>, place: Rect) -> Self {
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for point in points {
            for axis in [0, 1] {
                low[axis] = low[axis].min(point[axis]);
                high[axis] = high[axis].max(point[axis]);
            }
        }
        let room = [f64::from(place.width()), f64::from(place.height())];
        let fits = |axis: usize| room[axis] / (high[axis] - low[axis]).max(1e-9);
        let middle = [0, 1].map(|axis| f64::midpoint(low[axis], high[axis]));
        Self { middle, by: fits(0).min(fits(1)), center: place.center() }
    }

    fn place(&self, point: [f64; 2]) -> Pos2 {
        let by = |axis: usize| (self.by * (point[axis] - self.middle[axis])) as f32;
        pos2(self.center.x + by(0), self.center.y - by(1))
    }
}

fn paint_point(painter: &eframe::egui::Painter, at: Pos2, point: &SpanPoint, color: Color32, tokens: &Tokens) {
    match point.kind {
        SpanKind::Mention => {
            painter.circle(at, POINT, color, Stroke::new(0.5, tokens.field));
        }
        SpanKind::MadeUp => {
            for by in [vec2(POINT, POINT), vec2(POINT, -POINT)] {
                painter.line_segment([at - by, at + by], Stroke::new(1.5, tokens.bad));
            }
        }
        SpanKind::Overlapping | SpanKind::Apart => {
            painter.circle_stroke(at, POINT - 1.0, Stroke::new(1.0, color));
        }
    }
}

fn color_of(label: Option<LabelId>, labels: &LabelSet, tokens: &Tokens) -> Color32 {
    let color = label.and_then(|label| labels.get(label)).map(|label| theme::label_color(label.color, tokens));
    color.unwrap_or(tokens.text_faint)
}

/// "PER “Anna Berg”, predicted as ORG".
fn in_words(point: &SpanPoint, corpus: &Corpus) -> String {
    let name = |label: Option<LabelId>| label.map(|label| name_and_color(corpus.labels(), label).0);
    let words = corpus.sentence(point.sentence).map_or("", |sentence| corpus.span_text(sentence, point.span));
    let gold = name(point.gold).unwrap_or_else(|| "no mention".to_owned());
    let said = match (name(point.predicted), point.gold == point.predicted) {
        (Some(_), true) => ", found".to_owned(),
        (Some(predicted), false) => format!(", predicted as {predicted}"),
        (None, true) => String::new(),
        (None, false) => ", missed".to_owned(),
    };
    format!("{gold}: {words}{said}")
}

fn list_of(point: &SpanPoint, labels: &LabelSet) -> SentenceList {
    let label = point.gold.or(point.predicted);
    let title = label.map_or_else(|| "A span that is no mention".to_owned(), |label| name_and_color(labels, label).0);
    let mention = label.map(|label| (point.span, label));
    SentenceList::new(title, vec![Item { sentence: point.sentence, mention }])
}

/// DSpERT's Table 4.
fn overlaps(picture: &SpanPicture) -> Sheet {
    let similarity = &picture.similarity;
    let rows = [
        ("strongly: more than half of their words", similarity.strongly_overlapping),
        ("weakly: up to half of their words", similarity.weakly_overlapping),
        ("not at all", similarity.apart),
    ];
    similarities("Similarity of overlapping spans", "A mention and a span that overlap", rows.map(row).into())
}

/// DSpERT's Table 5.
fn classes(picture: &SpanPicture) -> Sheet {
    let similarity = &picture.similarity;
    let rows = [
        ("two mentions with the same label", similarity.within_labels),
        ("two mentions with different labels", similarity.between_labels),
        ("a mention and a span that is none", similarity.to_none),
    ];
    let mut sheet = similarities("Similarity within and between labels", "Of", rows.map(row).into());
    let norm = Figure::Number(similarity.entity_norm);
    let figures = vec![norm, Figure::Count(picture.points.iter().filter(|p| p.kind == SpanKind::Mention).count())];
    sheet.rows.push(SheetRow { name: "length of the vectors of mentions (norm)".to_owned(), color: None, figures });
    sheet
}

fn row((name, mean): (&str, MeanCosine)) -> SheetRow {
    let figures = vec![Figure::Number(mean.mean()), Figure::Count(mean.pairs)];
    SheetRow { name: name.to_owned(), color: None, figures }
}

fn similarities(title: &'static str, first: &'static str, rows: Vec<SheetRow>) -> Sheet {
    let heads = vec![Head::new("Mean", "mean cosine similarity"), Head::new("Number", "how many it is of")];
    Sheet { title, first, heads, rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_points_lie_in_the_plot_and_both_axes_are_alike() {
        let place = Rect::from_min_max(pos2(10.0, 20.0), pos2(210.0, 120.0));
        let points = [[-4.0, 1.0], [4.0, 3.0], [0.0, 2.0]];
        let scale = Scale::around(points.into_iter(), place);
        let places = points.map(|point| scale.place(point));
        assert!(places.iter().all(|at| place.contains(*at)), "{places:?}");
        let [first, second, middle] = places;
        assert!((middle - place.center()).length() < 1e-3);
        assert!(((second.x - first.x) / (first.y - second.y) - 4.0).abs() < 1e-3, "{places:?}");
        let alone = Scale::around(std::iter::once([3.0, 3.0]), place);
        assert_eq!(alone.place([3.0, 3.0]), place.center());
    }
}
