//! CoNLL-U and its kin.

use crate::helpers::*;
use expect_test::expect;
use nestling::format::*;

fn check(text: &str, given: &[(&str, &str)]) -> String {
    match read("conll", text, given) {
        Ok(read) => show(&read),
        Err(error) => error.to_string(),
    }
}

/// A row of ten columns.
fn row(id: &str, form: &str, misc: &str) -> String {
    format!("{id}\t{form}\t{form}\tX\t_\t_\t0\troot\t_\t{misc}\n")
}

#[test]
fn words_text_and_entities_are_read() {
    let text = [
        "# newdoc id = tale\n# global.Entity = eid-etype-head-other\n# sent_id = 1\n# text = Ana vive  en Hull.\n"
            .to_owned(),
        row("1", "Ana", "Entity=(e1-person-1)"),
        row("2", "vive", "_"),
        row("3", "en", "Entity=(e2[1/2]-place-1"),
        row("4", "Hull", "SpaceAfter=No|Entity=(e3-city-1)e2[1/2])"),
        row("5", ".", "Entity=(e2[2/2]-place-1)"),
        "\n# newpar\n# text = Dámelo del ya\n".to_owned(),
        row("1-3", "Dámelo", "_"),
        row("1", "Dá", "_"),
        row("2", "me", "Entity=(e1-person-1)"),
        row("3", "lo", "_"),
        row("4-5", "del", "_"),
        row("4", "de", "_"),
        row("5", "el", "Entity=(e4-thing-1-a%2Db"),
        row("5.1", "_", "Entity=(e9-person-1)"),
        row("6", "ya", "Entity=e4)"),
        "\n# newdoc id = other\n".to_owned(),
        row("1", "Es", "SpaceAfter=No"),
        row("2", "!", "Entity=(e5-x-1"),
        row("bad", "row", "_"),
    ]
    .concat();
    expect![[r#"
    "#]]
    .assert_eq(&check(&text, &[]));
    assert!(check(&text, &[("tags", "none")]).contains("\"Ana\" \"vive\" \"en\" \"Hull\" \".\""));
    let sample = Sample { extension: "conll", bytes: text.as_bytes() };
    assert_eq!(format!("{:?}", detect("x", &sample).unwrap()), "conll (CoNLL-U)");
}

#[test]
fn tags_in_misc_and_in_columns_are_read() {
    let misc =
        [row("1", "Ada", "name=B-PER|SpaceAfter=No"), row("2", "Berg", "name=I-PER"), row("3", "sang", "name=O")]
            .concat();
    let last = [row("1", "Ada", "S-PER"), row("2", "sang", "O")].concat();
    let plus = "# global.columns = ID FORM UPOS MISC NE MWE\n1\tAda\tX\t_\tB-PER\t*\n2\ttook\tX\t_\tO\t1:LVC\n3\ta\tX\t_\tO\t*\n4\twalk\tX\t_\tO\t1;2:N\n";
    let none = [row("1", "Ada", "_"), row("2", "sang", "SpaceAfter=No")].concat();
    let untyped =
        "# global.Entity = eid-etype-head\n".to_owned() + &row("1", "Ada", "Entity=(e1--1)") + &row("2", "sang", "_");
    let shown = [
        check(&misc, &[]),
        check(&last, &[]),
        check(plus, &[]),
        check(&none, &[]),
        check(&untyped, &[]),
        check(&untyped, &[("label", "entity")]),
    ];
    expect![[r#"
    "#]]
    .assert_eq(&shown.join("\n\n"));
}
