//! How dialogs name what was scored, and the difference of two scores.

use crate::evaluation::F1Difference;
use crate::session::Part;

/// Inside a sentence.
pub(super) fn part_name(part: Part) -> &'static str {
    match part {
        Part::Train => "train",
        Part::Dev => "dev",
        Part::Test => "test",
        Part::Blind => "the blind set",
        Part::Pool => "incomplete sentences",
    }
}

/// Which of two is better, and how sure that is.
pub(super) fn difference_in_words(first: &str, second: &str, of: F1Difference) -> String {
    // Told from the side of the better one, which is `ahead`.
    let F1Difference { difference, interval, p } = of;
    let is_second = difference > 0.0;
    let (ahead, behind) = if is_second { (second, first) } else { (first, second) };
    let (low, high) = if is_second { (interval.low, interval.high) } else { (-interval.high, -interval.low) };
    let points = |share: f64| format!("{:.1}", 100.0 * share + 0.0).replace("-0.0", "0.0");
    let (by, low, high) = (points(difference.abs()), points(low), points(high));
    let p = if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") };
    if difference == 0.0 {
        return format!(
            "{first} and {second} have the same F1 (95 % confidence interval of the difference {low} to {high})."
        );
    }
    let sure = format!("(95 % confidence interval {low} to {high}, {p})");
    match of.p < 0.05 {
        true => format!("{ahead} is better than {behind} by {by} points of F1 {sure}."),
        false => format!("{ahead} is ahead of {behind} by {by} points of F1, which may be chance {sure}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::ConfidenceInterval;
    use expect_test::expect;

    #[test]
    fn a_difference_is_told_from_the_side_of_the_better_one() {
        let of = |difference, low, high, p| F1Difference { difference, interval: ConfidenceInterval { low, high }, p };
        let say = |of| difference_in_words("SpanNER", "SmartSpanNER", of);
        expect![
            "SmartSpanNER is better than SpanNER by 1.2 points of F1 (95 % confidence interval 0.4 to 2.1, p = 0.010)."
        ]
        .assert_eq(&say(of(0.012, 0.004, 0.021, 0.01)));
        expect![
            "SpanNER is better than SmartSpanNER by 1.2 points of F1 (95 % confidence interval 0.4 to 2.1, p < 0.001)."
        ]
        .assert_eq(&say(of(-0.012, -0.021, -0.004, 0.0009)));
        expect![
            "SmartSpanNER is ahead of SpanNER by 0.3 points of F1, which may be chance (95 % confidence interval -1.0 to 1.6, p = 0.640)."
        ]
        .assert_eq(&say(of(0.003, -0.01, 0.016, 0.64)));
        expect!["SpanNER and SmartSpanNER have the same F1 (95 % confidence interval of the difference 0.0 to 0.0)."]
            .assert_eq(&say(of(0.0, 0.0, 0.0, 1.0)));
    }
}
