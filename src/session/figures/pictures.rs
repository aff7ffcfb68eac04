//! Pictures of what a table does not show at a glance.

use super::breakdown::Breakdown;
use super::evaluated::{Evaluated, bucket_differences};
use crate::annotation::LabelId;
use crate::evaluation::{Bucketed, Reliability, ScoreDistribution, SpanKind, density, quantile};
use crate::figure::{
    HalfViolin, HeatMap, ReliabilityDiagram, ReliabilityLine, ReliabilityPoint, Scatter, ScatterPoint, Shades, Violin,
    Violins,
};
use std::cmp::Reverse;

/// `None` where a table says all, or there is nothing to show.
pub(super) fn picture(of: &Evaluated<'_>, by: Breakdown) -> Option<String> {
    match by {
        Breakdown::Buckets => buckets(of),
        Breakdown::Confusion => Some(confusion(of)),
        Breakdown::Scores => Some(scores(of)),
        Breakdown::Calibration => Some(calibration(of)),
        Breakdown::Vectors => vectors(of),
        Breakdown::Label
        | Breakdown::Matches
        | Breakdown::Length
        | Breakdown::Nesting
        | Breakdown::Errors
        | Breakdown::Tasks
        | Breakdown::Similarity => None,
    }
}

/// F1 of each bucket; beside another model how much more that is (Win-Win Cooperation, Table 6).
fn buckets(of: &Evaluated<'_>) -> Option<String> {
    let (mine, model) = (of.report.buckets?, of.report.model);
    let of_properties = |property: Option<Bucketed>| {
        property.iter().flat_map(Bucketed::rows).map(|(size, counts)| (size, counts.f1())).collect::<Vec<_>>()
    };
    let (title, shades, rows) = match of.against.and_then(|against| Some((against.model, against.buckets?))) {
        Some((other, buckets)) => (
            format!("F1 of model {model} less F1 of model {other}"),
            Shades::AroundZero,
            bucket_differences(&mine, &buckets),
        ),
        None => {
            let properties = mine.properties().into_iter().map(|(name, property)| (name, of_properties(property)));
            (format!("F1 of model {model}"), Shades::Greater, properties.collect())
        }
    };
    let rows: Vec<_> = rows.into_iter().filter(|(_, cells)| !cells.is_empty()).collect();
    let columns = rows.first()?.1.iter().map(|(size, _)| (*size).to_owned()).collect();
    let cells = rows.iter().map(|(_, cells)| cells.iter().map(|(_, figure)| *figure).collect()).collect();
    let rows = rows.iter().map(|(name, _)| (*name).to_owned()).collect();
    Some(HeatMap { title, rows, columns, cells, shades, digits: 3 }.svg())
}

/// The labels that occur, and none.
fn confusion(of: &Evaluated<'_>) -> String {
    let confusion = &of.report.analyses.confusion;
    let occurs = |label: &LabelId| confusion.rows().any(|(gold, said, _)| gold == Some(*label) || said == Some(*label));
    let labels = of.report.report.labels.keys().copied().filter(occurs);
    let labels: Vec<Option<LabelId>> = labels.map(Some).chain([None]).collect();
    let names = || labels.iter().map(|label| label.map_or("none", |label| of.name(label)).to_owned()).collect();
    let row = |gold: &Option<LabelId>| {
        let count = |predicted: &Option<LabelId>| Some(confusion.count(*gold, *predicted)).filter(|count| *count > 0);
        labels.iter().map(|predicted| Some(count(predicted)? as f64)).collect()
    };
    let cells = labels.iter().map(row).collect();
    let title = "gold (rows), predicted (columns), with equal boundaries".to_owned();
    HeatMap { title, rows: names(), columns: names(), cells, shades: Shades::Greater, digits: 0 }.svg()
}

/// All labels, then each by how often it was predicted (SNG, Figure 5).
fn scores(of: &Evaluated<'_>) -> String {
    let half = |scores: &[f32]| HalfViolin {
        count: scores.len(),
        density: density(scores, ScoreDistribution::POINTS),
        median: quantile(scores, 0.5),
    };
    let violin = |name: &str, distribution: &ScoreDistribution| Violin {
        name: name.to_owned(),
        left: half(&distribution.right),
        right: half(&distribution.wrong),
    };
    let all = of.report.scores_most_predicted_first();
    let name = |label: &Option<LabelId>| label.map_or("all labels", |label| of.name(label));
    let violins = all.iter().map(|(label, distribution)| violin(name(label), distribution)).collect();
    let title = format!("Scores of the predicted mentions of model {}", of.report.model);
    Violins { title, sides: ["right".to_owned(), "wrong".to_owned()], violins }.svg()
}

fn calibration(of: &Evaluated<'_>) -> String {
    let line = |name: &str, reliability: Reliability| {
        let point = |bin: &crate::evaluation::ReliabilityBin| {
            Some(ReliabilityPoint { score: bin.mean_score()?, right: bin.share_right()?, count: bin.count })
        };
        let error = reliability.error().map_or_else(String::new, |error| format!(", error {error:.4}"));
        ReliabilityLine { name: format!("{name}{error}"), points: reliability.bins.iter().filter_map(point).collect() }
    };
    let mut lines = vec![line("as the model gives them", of.report.reliability())];
    lines.extend(of.report.calibrated_reliability().map(|reliability| line("calibrated on dev", reliability)));
    let title = format!("Scores of the suggestions of model {}", of.report.model);
    ReliabilityDiagram { title, lines }.svg()
}

/// Coloured by gold labels; what was predicted wrongly or missed is crossed (DSpERT, Figure 4; SNG, Figure 4).
fn vectors(of: &Evaluated<'_>) -> Option<String> {
    let picture = of.report.vectors.as_ref()?;
    let shown = picture.shown?;
    let mut labels: Vec<LabelId> = picture.points.iter().filter_map(|point| point.gold).collect();
    labels.sort_unstable();
    labels.dedup();
    let label = |label: Option<LabelId>| label.map_or("none", |label| of.name(label));
    let point = |point: &crate::session::SpanPoint| {
        let (document, number) = of.place(point.sentence);
        let said = format!("gold {}, predicted {}", label(point.gold), label(point.predicted));
        let words = of.words(point.sentence, point.span);
        ScatterPoint {
            at: point.at,
            group: point.gold.and_then(|gold| labels.binary_search(&gold).ok()),
            is_crossed: !point.is_right(),
            about: format!("{words} ({document}, sentence {number}): {said}"),
        }
    };
    // The mentions on top.
    let mut points: Vec<_> = picture.points.iter().collect();
    points.sort_by_key(|point| Reverse(point.kind));
    let axis = |number: usize, share: f64| format!("axis {number}: {:.1} % of the variance of mentions", 100.0 * share);
    let mentions = picture.of_kind(SpanKind::Mention);
    let scatter = Scatter {
        title: format!(
            "{} spans of model {}, {} of {} mentions, seed {}",
            picture.points.len(),
            of.report.model,
            mentions.drawn,
            mentions.of,
            picture.sampling.seed
        ),
        axes: [axis(1, shown[0]), axis(2, shown[1])],
        groups: labels.iter().map(|label| of.name(*label).to_owned()).collect(),
        others: "no mention".to_owned(),
        crossed: "wrong or missed".to_owned(),
        points: points.into_iter().map(point).collect(),
    };
    Some(scatter.svg())
}
