//! What a score comes from: how sure a model is, what it sees in spans, and how it differs from another one.

use super::*;

const EVALUATE: [&str; 4] = ["evaluate", "s.nestling", "--split", "train"];

/// The sample project with a model of each architecture, in order, that has learned from twelve sentences.
fn sample_with(architectures: &[&str]) -> Place {
    let place = Place::new();
    place.json(0, &["sample", "--at", "s.nestling", "--no-window"]);
    for (number, architecture) in (1..).zip(architectures) {
        let train = ["train", "s.nestling", "--limit", "12", "--epochs", "30", "--set", "encoder=small"];
        let trained = place.json(0, &[&train[..], &["--architecture", architecture, "--seed", "1"]].concat());
        assert_eq!(trained["model"], number);
    }
    place
}

fn evaluate(place: &Place, more: &[&str]) -> Value {
    place.json(0, &[&EVALUATE[..], more].concat())
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no count"))
}

fn figure(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no figure"))
}

/// Lines of a table without its titles.
fn rows(place: &Place, file: &str) -> Vec<String> {
    let csv = std::fs::read_to_string(place.path(file)).unwrap();
    assert!(csv.ends_with("\r\n"), "{csv}");
    csv.trim_end().split("\r\n").skip(1).map(str::to_owned).collect()
}

#[test]
fn scores_vectors_and_differences_are_told_and_written() {
    let place = sample_with(&["smartspanner", "spanner"]);
    let first = evaluate(&place, &["--model", "1", "--by", "scores,calibration,buckets,errors,tasks"]);
    let [tp, fp, missed] = ["tp", "fp", "fn"].map(|key| count(&first["strict"]["micro"][key]));
    assert!(tp > 0 && missed > 0, "{first}");
    how_sure_it_is(&first, [tp, fp]);
    // Shares of what is wrong, as the paper has them, and what the model was made from.
    let wrong = &first["errors"]["fp"];
    for kind in ["boundary", "type"] {
        let expected = count(&wrong[kind]) as f64 / (fp + missed) as f64;
        assert!((figure(&first["errors"]["rates"][kind]) - expected).abs() < 1e-12, "{kind}");
    }
    let trained_on = &first["tasks"]["trained_on"];
    assert!(count(&trained_on["neh"]["positive"]) > 0 && count(&trained_on["span"]["negative"]) > 0, "{trained_on}");

    what_it_sees_in_spans(&place, [tp, missed]);
    how_it_differs(&place, &first);
    what_is_written(&place, [tp, fp, missed]);
}

/// Right and wrong predictions are all predictions, and each suggestion is in one bin.
fn how_sure_it_is(done: &Value, [tp, fp]: [u64; 2]) {
    let scores = &done["scores"];
    assert_eq!(["right", "wrong"].map(|side| count(&scores[side]["count"])), [tp, fp]);
    for (side, total) in [("right", tp), ("wrong", fp)] {
        let labels = scores["labels"].as_object().unwrap();
        assert_eq!(labels.values().map(|label| count(&label[side]["count"])).sum::<u64>(), total, "{side}");
        let of = &scores[side];
        let shares = ["0", "0.05", "0.25", "0.5", "0.75", "0.95", "1"];
        let density = of["density"].as_array().unwrap();
        if total == 0 {
            assert!(density.is_empty() && shares.iter().all(|share| of["quantiles"][share].is_null()), "{of}");
            continue;
        }
        let quantiles = shares.map(|share| figure(&of["quantiles"][share]));
        assert!(quantiles.is_sorted() && quantiles[0] >= 0.0 && quantiles[6] <= 1.0, "{quantiles:?}");
        let mass = density.iter().map(figure).sum::<f64>() / density.len() as f64;
        assert!(density.len() == 51 && (0.4..2.5).contains(&mass), "{mass}");
    }
    let calibration = &done["calibration"];
    let suggestions = count(&calibration["suggestions"]);
    assert!(suggestions >= tp + fp, "what is only worth showing is a suggestion, too");
    let bins = calibration["bins"].as_array().unwrap();
    assert_eq!((bins.len(), bins.iter().map(|bin| count(&bin["count"])).sum::<u64>()), (10, suggestions));
    let mut error = 0.0;
    for bin in bins.iter().filter(|bin| count(&bin["count"]) > 0) {
        let (score, right) = (figure(&bin["score"]), figure(&bin["right"]));
        let (from, to) = (figure(&bin["from"]), figure(&bin["to"]));
        assert!((from - 1e-6..=to + 1e-6).contains(&score) && (0.0..=1.0).contains(&right), "{bin}");
        error += (score - right).abs() * count(&bin["count"]) as f64 / suggestions as f64;
    }
    assert!((figure(&calibration["error"]) - error).abs() < 1e-9, "{calibration}");
}

/// All spans are drawn where there is room, and else some, by their seed.
fn what_it_sees_in_spans(place: &Place, [tp, missed]: [u64; 2]) {
    let look = |more: &[&str]| {
        let by = ["--model", "1", "--by", "vectors,similarity"];
        evaluate(place, &[&by[..], more].concat())
    };
    let all = look(&["--spans", "100000"]);
    let vectors = &all["vectors"];
    let points = vectors["points"].as_array().unwrap();
    let kinds = ["mention", "made_up", "overlapping", "apart"].map(|kind| &vectors["kinds"][kind]);
    assert_eq!(kinds.map(|kind| count(&kind["drawn"])).iter().sum::<u64>(), points.len() as u64);
    assert!(kinds.iter().all(|kind| count(&kind["drawn"]) <= count(&kind["of"])), "{vectors}");
    assert_eq!(kinds[0]["of"], kinds[0]["drawn"], "there is room for all");
    let right = |point: &&Value| point["kind"] == "mention" && point["gold"] == point["predicted"];
    // No span of the sample has two labels.
    let mentions = points.iter().filter(|point| point["kind"] == "mention").count() as u64;
    assert_eq!((points.iter().filter(right).count() as u64, mentions), (tp, tp + missed));
    for point in points {
        let (start, end) = (count(&point["start"]), count(&point["end"]));
        assert!(start < end && !point["words"].as_str().unwrap().is_empty(), "{point}");
        assert!(figure(&point["x"]).is_finite() && figure(&point["y"]).is_finite());
        assert_eq!(point["gold"].is_null(), point["kind"] != "mention", "{point}");
    }
    let shown = [0, 1].map(|axis| figure(&vectors["shown"][axis]));
    assert!(shown[0] >= shown[1] && shown[1] > 0.0 && shown[0] + shown[1] <= 1.0 + 1e-9, "{shown:?}");
    let similarity = &all["similarity"];
    for key in ["non_overlapping", "strongly_overlapping", "within_labels", "between_labels", "to_none"] {
        let cosine = figure(&similarity[key]["cosine"]);
        assert!((-1.0..=1.0).contains(&cosine) && count(&similarity[key]["pairs"]) > 0, "{key}: {similarity}");
    }
    assert!(figure(&similarity["within_labels"]["cosine"]) > figure(&similarity["between_labels"]["cosine"]));
    assert!(figure(&similarity["entity_norm"]) > 0.0);

    let some = look(&["--spans", "40", "--seed", "7"]);
    assert_eq!(some["vectors"]["points"].as_array().unwrap().len(), 40);
    assert!(count(&some["vectors"]["sentences"]["drawn"]) < count(&some["vectors"]["sentences"]["of"]));
    assert_eq!(look(&["--spans", "40", "--seed", "7"])["vectors"]["points"], some["vectors"]["points"]);
    assert_ne!(look(&["--spans", "40", "--seed", "8"])["vectors"]["points"], some["vectors"]["points"]);
    assert_eq!(some["strict"], all["strict"], "what is drawn changes no score");

    let text = place.run(&[&EVALUATE[..], &["--model", "1", "--by", "vectors", "--spans", "40"]].concat());
    let text = String::from_utf8(text.stdout).unwrap();
    let of = format!("of {} sentences, drawn with seed 42", count(&some["vectors"]["sentences"]["of"]));
    assert!(text.contains("40 spans from") && text.contains(&of), "{text}");
}

/// The difference of two models is that of their scores, bucket by bucket.
fn how_it_differs(place: &Place, first: &Value) {
    let second = evaluate(place, &["--model", "2", "--by", "buckets", "--against", "1"]);
    let against = &second["against"];
    assert_eq!((&against["model"], &against["strict"]), (&1.into(), &first["strict"]));
    let f1 = |of: &Value| figure(&of["strict"]["micro"]["f1"]);
    let difference = figure(&against["f1_difference"]);
    assert!((difference - (f1(&second) - f1(first))).abs() < 1e-12, "{against}");
    assert!(figure(&against["low"]) <= difference && difference <= figure(&against["high"]));
    let mut cells = 0;
    for property in ["eLen", "tLen", "eCon", "eDen"] {
        for size in ["XS", "S", "L", "XL"] {
            let [mine, other] = [&second, first].map(|of| of["buckets"][property][size]["f1"].as_f64());
            let expected = mine.zip(other).map(|(mine, other)| mine - other);
            let got = against["bucket_differences"][property][size].as_f64();
            assert_eq!(got.is_some(), expected.is_some(), "{property} {size}");
            assert!(
                got.zip(expected).is_none_or(|(got, expected)| (got - expected).abs() < 1e-12),
                "{property} {size}"
            );
            cells += usize::from(expected.is_some());
        }
    }
    assert!(cells > 6, "{against}");
    let same = evaluate(place, &["--model", "1", "--against", "1"]);
    assert_eq!((figure(&same["against"]["f1_difference"]), figure(&same["against"]["p"])), (0.0, 1.0));
    assert!(same["against"]["bucket_differences"].is_null());
}

/// A table for each breakdown and a picture for some; what else is in the folder stays.
fn what_is_written(place: &Place, [tp, fp, missed]: [u64; 3]) {
    let all = "label,matches,length,nesting,buckets,errors,confusion,tasks,scores,calibration,vectors,similarity";
    std::fs::create_dir(place.path("figures")).unwrap();
    place.write("figures/notes.txt", "mine");
    place.write("figures/label.csv", "of before");
    let write = ["--model", "1", "--by", all, "--against", "2", "--spans", "60", "--output", "figures"];
    let done = evaluate(place, &write);
    let listed: Vec<&str> = done["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap()).collect();
    let tables = all.split(',').map(|name| format!("{name}.csv"));
    let pictures = ["buckets", "confusion", "scores", "calibration", "vectors"].map(|name| format!("{name}.svg"));
    let expected: std::collections::BTreeSet<String> = tables.chain(pictures).collect();
    let there = std::fs::read_dir(place.path("figures")).unwrap();
    let mut there: std::collections::BTreeSet<String> =
        there.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(there.remove("notes.txt"));
    assert_eq!(std::fs::read_to_string(place.path("figures/notes.txt")).unwrap(), "mine");
    assert_eq!(there, expected);
    assert_eq!(listed.len(), expected.len());

    let sum = |file: &str| {
        let last = |row: String| row.rsplit(',').next().unwrap().parse::<u64>().unwrap();
        rows(place, file).into_iter().map(last).sum::<u64>()
    };
    let errors = rows(place, "figures/errors.csv");
    assert_eq!(errors.len() as u64, fp + missed);
    assert_eq!(errors.iter().filter(|row| row.contains(",gold,")).count() as u64, missed);
    let confused: u64 = done["confusion"].as_array().unwrap().iter().map(|cell| cell["count"].as_u64().unwrap()).sum();
    assert_eq!(sum("figures/confusion.csv"), confused);
    assert!(confused >= tp);
    assert_eq!(rows(place, "figures/label.csv").len(), done["strict"]["labels"].as_object().unwrap().len());
    assert_eq!(rows(place, "figures/vectors.csv").len(), done["vectors"]["points"].as_array().unwrap().len());
    assert_eq!(rows(place, "figures/similarity.csv").len(), 7);
    assert_eq!(rows(place, "figures/buckets.csv").len(), 16);
    assert!(rows(place, "figures/calibration.csv").len() >= 10 && rows(place, "figures/scores.csv").len() >= 2);
    for name in ["buckets", "confusion", "scores", "calibration", "vectors"] {
        let svg = std::fs::read_to_string(place.path(&format!("figures/{name}.svg"))).unwrap();
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && !svg.contains("NaN"), "{name}: {svg}");
    }
    let heat_map = std::fs::read_to_string(place.path("figures/buckets.svg")).unwrap();
    assert!(heat_map.contains("F1 of model 1 less F1 of model 2"), "{heat_map}");
    let points = std::fs::read_to_string(place.path("figures/vectors.svg")).unwrap();
    assert!(points.matches("<title>").count() == 60, "a point for each span");

    // What is there under one of the names and is no plain file is not replaced.
    #[cfg(unix)]
    {
        std::fs::create_dir(place.path("linked")).unwrap();
        std::os::unix::fs::symlink(place.path("figures/notes.txt"), place.path("linked/label.csv")).unwrap();
        let refused = place.refused(&[&EVALUATE[..], &["--model", "1", "--output", "linked"]].concat());
        assert!(refused.contains("a link"), "{refused}");
        assert_eq!(std::fs::read_to_string(place.path("figures/notes.txt")).unwrap(), "mine");
    }
}

#[test]
fn what_a_model_has_not_got_is_refused_before_it_is_asked() {
    let place = sample_with(&["seqlab", "span_typing"]);
    let refused = |more: &[&str]| place.refused(&[&EVALUATE[..], more].concat());
    for by in ["vectors", "similarity"] {
        let message = refused(&["--model", "1", "--by", by]);
        assert!(message.contains("model 1 tags words") && message.contains("another architecture"), "{message}");
    }
    // Tags have scores all the same.
    let tags = evaluate(&place, &["--model", "1", "--by", "scores,calibration"]);
    assert_eq!(tags["scores"]["right"]["count"], tags["strict"]["micro"]["tp"]);

    // Of given words it is known how sure the model is, and what it sees in them.
    let given = evaluate(&place, &["--model", "2", "--by", "scores,vectors,similarity,confusion"]);
    let sides = ["right", "wrong"].map(|side| count(&given["scores"][side]["count"]));
    assert_eq!((sides[0], sides[0] + sides[1]), (count(&given["right"]), count(&given["given"])), "{given}");
    let points = given["vectors"]["points"].as_array().unwrap();
    assert!(points.iter().all(|point| point["kind"] == "mention" && !point["predicted"].is_null()), "no span beside");
    assert!(!points.is_empty() && given["similarity"]["to_none"]["cosine"].is_null());
    let message = refused(&["--model", "1", "--against", "2"]);
    assert!(message.contains("model 2") && message.contains("--against"), "{message}");
    let message = refused(&["--model", "2", "--by", "scores,nesting"]);
    assert!(message.contains("finds no mentions"), "{message}");
}
