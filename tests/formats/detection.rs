//! Telling formats apart, refusals, and sinks with wishes of their own.

use crate::helpers::*;
use expect_test::expect;
use nestling::format::*;

#[test]
fn formats_are_told_apart() {
    let check = |name: &str, bytes: &[u8]| {
        let (_, extension) = name.rsplit_once('.').unwrap_or_default();
        match detect(name, &Sample { extension, bytes }) {
            Ok(detected) => format!("{name}: {detected:?}"),
            Err(error) => error.to_string(),
        }
    };
    let shown = [
        check("a.jsonl", b"\xEF\xBB\xBF{\"nestling\":1}\n"),
        check("a.json", b"\n{\"tokens\":[\"a\"],\"entities\":[]}\n"),
        check("a.txt", b"{\"tokens\":[\"a\"],\"ner_tags\":[0]}\n"),
        check("a.jsonl", b"{\"text\":\"a\"}\n"),
        check("a.txt", b"Anna Berg\n"),
        check("-", b"Anna Berg\n"),
        check("a.txt", b"\xFF\xFEA\0"),
        check("a.json", b"[{\"tokens\":[\"a\"]}]"),
        check("a.xml", b"<doc/>"),
        check("a.conll", b"Anna\tB-PER\n"),
        check("a", b"PK\x03\x04\0\0"),
        check("a.docx", b"PK\x03\x04\0\0"),
        check("a.csv", b"id;text\n1;Anna met Bo.\n"),
        check("a.pdf", b"%PDF-1.7\n"),
        check("a.jsonl", b"{\"text\":\"Anna\",\"label\":[[0,4,\"PER\"]]}\n"),
        check(
            "a.jsonl",
            b"{\"text\":\"Anna\",\"tokens\":[\"Anna\"],\"entities\":[{\"start\":0,\"end\":1,\"label\":\"PER\"}]}\n",
        ),
    ];
    expect![[r#"
        a.jsonl: jsonl (JSON lines of this program)
        a.json: jsonl (JSON lines with tokens)
        a.txt: jsonl (JSON lines with tokens and tags)
        a.jsonl: jsonl (JSON lines with text)
        a.txt: text (plain text)
        -: text (plain text)
        a.txt: text (plain text in UTF-16)
        a JSON array can't be read; each element goes on a line of its own, as an object with `text` or `tokens` (docs/formats.md), for example with `jq -c '.[] | {text: .text}' FILE.json > FILE.jsonl`: a.json
        the format was not recognised (it is XML or HTML); choose one of jsonl, brat, conll, text as the format: a.xml
        a.conll: conll (columns of tokens and tags)
        a ZIP archive can't be read; unpack it, and import the files in it: a
        a document of a word processor can't be read; save it there as plain text (.txt, in UTF-8): a.docx
        a table can't be read; save the column that holds the text as a .txt file, one text a line: a.csv
        a PDF can't be read; save it as plain text (.txt), for example with `pdftotext -layout file.pdf`: a.pdf
        a.jsonl: jsonl (JSON lines with mentions in texts)
        a.jsonl: jsonl (JSON lines with tokens)"#]]
    .assert_eq(&shown.join("\n"));
}

#[test]
fn refusals_say_what_to_do() {
    let dir = tempfile::TempDir::new().unwrap();
    let input = |name: &str| read_file("jsonl", &dir.path().join(name), &[]).unwrap_err().to_string();
    std::fs::write(dir.path().join("empty.jsonl"), "").unwrap();
    let option = |key: &str, value: &str, formats: &[&dyn Format]| {
        Options::new([(key.to_owned(), value.to_owned())], formats).unwrap_err().to_string()
    };
    let (jsonl, text) = (by_id("jsonl").unwrap(), by_id("text").unwrap());
    let shown = [
        input("missing.jsonl"),
        input("empty.jsonl"),
        input("."),
        by_id("xlsx").map(|_| ()).unwrap_err().to_string(),
        option("endd", "inclusive", &[jsonl, text]),
        option("end", "inclusive", &[text]),
        option("end", "maybe", &[jsonl, text]),
        read("jsonl", "Anna Berg met the mayor.\n", &[]).unwrap_err().to_string(),
        read("jsonl", "[\n {\"tokens\": [\"a\"]}\n]\n", &[]).unwrap_err().to_string(),
        read("jsonl", "{\"tokens\":[\"Anna\",\"Be", &[]).unwrap_err().to_string(),
        read("jsonl", "{\"nestling\":1}\n", &[]).unwrap_err().to_string(),
        read("jsonl", "{\"nestling\":2}\n", &[]).unwrap_err().to_string(),
        read("jsonl", "\n \n", &[]).unwrap_err().to_string(),
        read("text", "\u{feff}\r\n", &[]).unwrap_err().to_string(),
        read("text", b"one\nna\xEFve\n".to_vec(), &[]).unwrap_err().to_string(),
        read("text", b"a\0b\0".to_vec(), &[]).unwrap_err().to_string(),
        read("text", b"\xFF\xFEa\0b".to_vec(), &[]).unwrap_err().to_string(),
    ];
    let shown = shown.join("\n").replace(&dir.path().display().to_string(), "DIR");
    expect![[r#"
        there is no such file; check the name: DIR/missing.jsonl
        the file is empty; nothing can be imported from it: DIR/empty.jsonl
        this is a folder; choose a file in it: DIR/.
        there is no format "xlsx"; choose one of jsonl, brat, conll, text
        no such option "endd"; jsonl has end=auto|exclusive|inclusive and offsets=auto|chars|utf16|bytes|graphemes and names=… and scheme=auto|io|iob1|iob2|ioe1|ioe2|bioes|bilou|bmes|bmewo|none and label=… and unit=auto|lines|prose and tokens=words|blanks and header=yes|no; text has unit=auto|lines|prose and tokens=words|blanks
        no such option "end"; text has unit=auto|lines|prose and tokens=words|blanks
        the option end can't be "maybe"; use one of auto, exclusive, inclusive
        this is no JSON lines file (line 1: it does not begin with {, so it is not a JSON object); choose another format: input
        a JSON array can't be read; each element goes on a line of its own, as an object with `text` or `tokens` (docs/formats.md), for example with `jq -c '.[] | {text: .text}' FILE.json > FILE.jsonl`: input
        this is no JSON lines file (line 1: the JSON object is cut off); choose another format: input
        there is no sentence in the file, only white space or invisible characters: input
        the file was written by a newer program (its version is 2, this program knows 1); update the program: input
        there is no sentence in the file, only white space or invisible characters: input
        there is no sentence in the file, only white space or invisible characters: input
        byte 6 (line 2) is not UTF-8; convert the file to UTF-8, for example with `iconv -f latin1 -t utf-8`: input
        byte 1 is NUL, so this is not text but a binary file or UTF-16 without its mark; save it as UTF-8 text: input
        the file is not whole UTF-16 as its first bytes say; save it as UTF-8: input"#]].assert_eq(&shown);
}

#[test]
fn a_long_document_comes_in_parts_for_who_wants_them() {
    struct Parts(Vec<(String, usize)>);
    impl Sink for Parts {
        fn document(&mut self, part: ImportedDocument) -> std::ops::ControlFlow<()> {
            self.0.push((part.text.to_string(), part.sentences.len()));
            std::ops::ControlFlow::Continue(())
        }
        fn longest_document(&self) -> usize {
            2
        }
        fn label(&mut self, _: ImportedLabel) {}
        fn warning(&mut self, _: Warning) {}
        fn note(&mut self, _: String) {}
    }
    let lines: String = ["a", "b", "c", "d", "e"].iter().map(|word| format!("{{\"tokens\":[\"{word}\"]}}\n")).collect();
    let mut sink = Parts(Vec::new());
    let input = Input::bytes("input", lines).unwrap();
    by_id("jsonl").unwrap().read(input, &Options::default(), &mut sink).unwrap();
    assert_eq!(sink.0, [("a\nb\n".to_owned(), 2), ("c\nd\n".to_owned(), 2), ("e\n".to_owned(), 1)]);
}

#[test]
fn a_sink_can_stop_a_reader() {
    struct One(usize);
    impl Sink for One {
        fn document(&mut self, _: ImportedDocument) -> std::ops::ControlFlow<()> {
            self.0 += 1;
            std::ops::ControlFlow::Break(())
        }
        fn label(&mut self, _: ImportedLabel) {}
        fn warning(&mut self, _: Warning) {}
        fn note(&mut self, _: String) {}
    }
    let mut sink = One(0);
    let input = Input::file(&fixture("everything.jsonl")).unwrap();
    let stopped = by_id("jsonl").unwrap().read(input, &Options::default(), &mut sink);
    assert!(matches!(stopped, Err(FormatError::Stopped { .. })) && sink.0 == 1);
}
