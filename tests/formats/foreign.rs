//! Files of other programs: they are told by what is in them, and the message says the way.

use crate::helpers::*;
use expect_test::{Expect, expect};
use nestling::format::*;

/// Content of other programs, with a name that says little.
const FOREIGN: &[(&str, &[u8])] = &[
    ("webanno", b"#FORMAT=WebAnno TSV 3.3\n#T_SP=custom.Span|label\n\n#Text=Ada sang\n1-1\t0-3\tAda\tPER\t\n"),
    ("xmi", b"<?xml version=\"1.0\"?>\n<xmi:XMI xmlns:xmi=\"http://www.omg.org/XMI\"></xmi:XMI>"),
    ("cas", b"{\n  \"%TYPES\" : { },\n  \"%FEATURE_STRUCTURES\" : [ ]\n}"),
    ("inception", b"PK\x03\x04\x14\0\0\0exportedproject.json"),
    ("docbin", b"\x78\x9c\xeb\x5c\x5e\x96\x5a\x54\x9c\x99\x9f\xb7\xd8\x40"),
    ("label studio", b"[{\"id\":1,\"data\":{\"text\":\"Ada\"},\"annotations\":[{\"result\":[{\"from_name\":\"label\",\"to_name\":\"text\"}]}]}]"),
    ("label studio min", b"[{\"id\":1,\"text\":\"Ada\",\"label\":[{\"start\":0,\"end\":3,\"text\":\"Ada\",\"labels\":[\"PER\"]}],\"annotator\":1}]"),
    ("spacy", b"[{\"id\":0,\"paragraphs\":[{\"sentences\":[{\"tokens\":[{\"orth\":\"Ada\",\"ner\":\"U-PER\"}]}]}]}]"),
    ("pubannotation", b"{\"text\":\"Ada sang\",\"denotations\":[{\"span\":{\"begin\":0,\"end\":3},\"obj\":\"PER\"}]}"),
    ("bioc json", b"{\"source\":\"x\",\"documents\":[{\"id\":\"1\",\"infons\":{},\"passages\":[{\"offset\":0,\"text\":\"Ada\"}]}]}"),
    ("bioc", b"<?xml version=\"1.0\"?><!DOCTYPE collection SYSTEM \"BioC.dtd\"><collection><source>x</source></collection>"),
    ("genia", b"<?xml version=\"1.0\"?><set><article><sentence><cons lex=\"IL-2\" sem=\"G#DNA\">IL-2</cons></sentence></article></set>"),
    ("apf", b"<?xml version=\"1.0\"?><!DOCTYPE source_file SYSTEM \"apf.v5.1.1.dtd\"><source_file><document><entity/></document></source_file>"),
    ("sgm", b"<DOC>\n<DOCID> x </DOCID>\n<BODY>\nAda sang.\n</BODY>\n</DOC>\n"),
    ("gliner", b"[{\"tokenized_text\":[\"Ada\"],\"ner\":[[0,0,\"person\"]]}]"),
    ("array", b"[\n  {\"text\": \"Ada\", \"label\": [[0, 3, \"PER\"]]}\n]\n"),
    ("spread", b"{\n  \"tokens\": [\"Ada\"],\n  \"entities\": []\n}\n"),
    ("config", b"{\"name\":\"x\",\"version\":1}"),
    ("table", b"1\tAda sang.\n2\tIt rained.\n3\tBo fell.\n4\tAll slept.\n5\tNobody came.\n6\tEnd.\n"),
    ("kaggle", b"Sentence #,Word,POS,Tag\nSentence: 1,Ada,NNP,B-per\n,sang,VBD,O\n"),
    ("docx", b"PK\x03\x04\x14\0\0\0word/document.xml"),
    ("xlsx", b"PK\x03\x04\x14\0\0\0xl/workbook.xml"),
    ("zip", b"PK\x03\x04\x14\0\0\0a.txt"),
    ("pdf", b"%PDF-1.7\n"),
    ("parquet", b"PAR1\x15\x04\x15"),
    ("database", b"SQLite format 3\0"),
    ("gzip", b"\x1f\x8b\x08\0"),
    ("html", b"<!DOCTYPE html><html><body>Ada</body></html>"),
    ("rtf", b"{\\rtf1\\ansi Ada}"),
    ("picture", b"\x89PNG\r\n\x1a\n"),
];

#[test]
fn each_is_told_by_its_content_and_the_way_is_said() {
    let refused = |extension: &str, bytes: &[u8]| {
        detect("x", &Sample { extension, bytes }).map(|_| ()).map_err(|e| e.to_string())
    };
    let mut shown = Vec::new();
    for (name, bytes) in FOREIGN {
        let message = refused("", bytes).expect_err(name);
        // The name changes nothing.
        assert_eq!(refused("txt", bytes).expect_err(name), message, "{name}");
        shown.push(format!("{name}: {}", message.split("; ").next().unwrap()));
        // And neither does a format that is asked for.
        let formats: &[&str] = if *name == "table" { &["text"] } else { &["jsonl", "conll", "text"] };
        for format in formats {
            let asked = read(format, *bytes, &[]).expect_err(name).to_string();
            let (what, _) = message.split_once(" can't be read").unwrap();
            assert!(asked.contains(what), "{name} as {format}: {asked}");
        }
    }
    expect![[r#"
        webanno: WebAnno TSV (of INCEpTION or WebAnno) can't be read
        xmi: a UIMA CAS (XMI), as INCEpTION, WebAnno and DKPro write it can't be read
        cas: a UIMA CAS (JSON), as INCEpTION writes it can't be read
        inception: a project of INCEpTION or WebAnno (.zip) can't be read
        docbin: compressed data, as spaCy's DocBin is (.spacy) can't be read
        label studio: an export of Label Studio (JSON) can't be read
        label studio min: an export of Label Studio (JSON-MIN) can't be read
        spacy: training data of spaCy 2 (JSON) can't be read
        pubannotation: PubAnnotation JSON can't be read
        bioc json: BioC JSON can't be read
        bioc: BioC XML can't be read
        genia: GENIA XML can't be read
        apf: ACE annotations (APF) can't be read
        sgm: a text with markup (SGML or XML) can't be read
        gliner: training data of GLiNER (JSON) can't be read
        array: a JSON array can't be read
        spread: JSON that is spread over several lines can't be read
        config: JSON with other keys can't be read
        table: a table can't be read
        kaggle: a table can't be read
        docx: a document of a word processor (.docx) can't be read
        xlsx: a table can't be read
        zip: a ZIP archive can't be read
        pdf: a PDF can't be read
        parquet: a Parquet table can't be read
        database: a database (SQLite), as projects of this program are can't be read
        gzip: a compressed file (gzip) can't be read
        html: a web page (HTML) can't be read
        rtf: a document of a word processor (RTF) can't be read
        picture: a picture can't be read"#]]
    .assert_eq(&shown.join("\n"));
}

#[test]
fn json_with_other_keys_names_them_and_the_way() {
    let check = |text: &str, want: Expect| {
        let sample = Sample { extension: "jsonl", bytes: text.as_bytes() };
        want.assert_eq(&detect("x", &sample).unwrap_err().to_string());
    };
    check(
        "{\"id\":1,\"column_data\":\"Ada sang.\",\"column_label\":[[0,3,\"PER\"]]}\n",
        expect![
            "JSON with other keys can't be read; its objects have the keys `column_data`, `column_label` and `id`, and those that are read are `text` or `tokens`, and `label` or `entities` (docs/formats.md), one object per line: rename them, for example with `jq -c '{text: .column_data, label: .column_label}' FILE > FILE.jsonl`: x"
        ],
    );
    check(
        "[{\"my words\":\"Ada's\"}]",
        expect![
            "JSON with other keys can't be read; its objects have the keys `my words`, and those that are read are `text` or `tokens`, and `label` or `entities` (docs/formats.md), one object per line: rename them, for example with `jq -c '.[] | {text: .[\"my words\"]}' FILE > FILE.jsonl`: x"
        ],
    );
    check(
        "{\"version\":1}",
        expect![
            "JSON with other keys can't be read; its objects have the keys `version`, and those that are read are `text` or `tokens`, and `label` or `entities` (docs/formats.md), one object per line: x"
        ],
    );
}

#[test]
fn prose_that_begins_like_code_is_read() {
    let check = |text: &str| match detect("x", &Sample { extension: "txt", bytes: text.as_bytes() }) {
        Ok(detected) => detected.format.id(),
        Err(error) => panic!("{text}: {error}"),
    };
    for text in [
        "[Illustration]\n\nChapter I.\n",
        "[1] See the note.\n",
        "[[File:x.png]] Hull is a city.\n",
        "{Anna laughs} And then?\n",
        "<3 you all\n",
        "<unk> the cat sat\n",
        "\"Ada\", she said.\n",
        "#hashtag of the day\n",
        "A\tB\nC\n",
        "PK was here.\n",
    ] {
        assert_eq!(check(text), "text", "{text}");
    }
    let json = "[{\"text\":\"Ada\"}]";
    let error = read("text", json, &[]).unwrap_err().to_string();
    assert!(error.ends_with("set the option unit=prose or unit=lines: input"), "{error}");
    assert!(read("text", json, &[("unit", "lines")]).is_ok());
    let columns = read("text", "Ada B-PER\nsang O\nIt O\n", &[]).unwrap_err().to_string();
    assert!(columns.contains("choose the format conll"), "{columns}");
    // A table may be asked for as lines.
    assert!(read("text", "1\tAda\n2\tBo\n3\tIda\n4\tIo\n5\tEd\n6\tAl\n", &[("unit", "lines")]).is_ok());
}
