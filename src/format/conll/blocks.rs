//! Lines of a file of columns: rows in blocks between blank lines, comments, and where documents begin.

use crate::wording::counted;

/// Begins a document.
pub(super) const DOCSTART: &str = "-DOCSTART-";

/// What is between two blank lines, or between a line that begins a document and a blank one.
#[derive(Debug, Default)]
pub(super) struct Block<'t> {
    /// The number of each line, from 1, and the line without its end.
    pub(super) lines: Vec<(usize, &'t str)>,
    /// It begins a document, perhaps with a name.
    pub(super) begins: Option<Option<String>>,
}

/// All blocks of a text that hold lines or begin a document.
pub(super) fn blocks(text: &str) -> impl Iterator<Item = Block<'_>> {
    let mut lines =
        text.split('\n').zip(1..).map(|(line, number)| (number, line.strip_suffix('\r').unwrap_or(line))).peekable();
    std::iter::from_fn(move || {
        let mut block = Block::default();
        while let Some((number, line)) = lines.peek().copied() {
            if line.trim().is_empty() {
                lines.next();
                if !block.lines.is_empty() {
                    break;
                }
                continue;
            }
            if let Some(name) = begins_document(line).filter(|_| !has_row(&block)) {
                lines.next();
                block.begins = Some(name);
            } else if line.starts_with("#end document") {
                lines.next();
            } else {
                if starts_at(line) && has_row(&block) {
                    break; // no blank line before the next document
                }
                lines.next();
                block.lines.push((number, line));
            }
        }
        (!block.lines.is_empty() || block.begins.is_some()).then_some(block)
    })
}

/// True where one line cannot be but the first of a document, wherever it stands.
fn starts_at(line: &str) -> bool {
    line.starts_with("#begin document") || newdoc(line).is_some()
}

fn has_row(block: &Block<'_>) -> bool {
    block.lines.iter().any(|(_, line)| !line.starts_with('#'))
}

/// Whether a line begins a document, and what it is called.
fn begins_document(line: &str) -> Option<Option<String>> {
    if line.split_whitespace().next() == Some(DOCSTART) {
        return Some(None);
    }
    if let Some(rest) = line.strip_prefix("#begin document") {
        let (name, part) = rest.trim().split_once(");").unwrap_or((rest.trim(), ""));
        let name = name.trim_matches(['(', ')', ';', ' ']);
        let part: String = part.chars().filter(char::is_ascii_digit).collect();
        let name = if part.is_empty() { name.to_owned() } else { format!("{name}_{part}") };
        return Some(Some(name).filter(|name| !name.is_empty()));
    }
    newdoc(line)
}

/// `# newdoc id = NAME` of CoNLL-U.
fn newdoc(line: &str) -> Option<Option<String>> {
    if let Some(id) = comment_value(line, "newdoc id") {
        return Some(Some(id.to_owned()).filter(|id| !id.is_empty()));
    }
    (line.strip_prefix('#')?.trim() == "newdoc").then_some(None)
}

/// The value of a comment such as `# text = It rained.`
pub(super) fn comment_value<'t>(line: &'t str, key: &str) -> Option<&'t str> {
    let rest = line.strip_prefix('#')?.trim_start().strip_prefix(key)?.trim_start().strip_prefix('=')?;
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

/// What is wrong with a row of another number of columns.
pub(super) fn unlike(columns: usize, expected: usize) -> String {
    format!("the row has {}, expected {expected}", counted(columns, "column", "columns"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Vec<String> {
        let shown = |block: Block<'_>| {
            let lines: Vec<_> = block.lines.iter().map(|(number, line)| format!("{number} {line}")).collect();
            format!("{:?} {}", block.begins, lines.join("|"))
        };
        blocks(text).map(shown).collect()
    }

    #[test]
    fn documents_begin_in_several_ways() {
        let text = "-DOCSTART- -X- O\n\na O\r\nb O\n\n\n#begin document (nw/a); part 003\nc O\n#end document\n#begin document (nw/b)\nd O";
        assert_eq!(
            check(text),
            ["Some(None) 3 a O|4 b O", "Some(Some(\"nw/a_003\")) 8 c O", "Some(Some(\"nw/b\")) 11 d O"]
        );
        let text = "# newdoc id = x\n# sent_id = 1\n1\ta\n# newdoc\n1\tb\n";
        assert_eq!(check(text), ["Some(Some(\"x\")) 2 # sent_id = 1|3 1\ta", "Some(None) 5 1\tb"]);
        assert_eq!(comment_value("# text =  a b", "text"), Some(" a b"));
        assert_eq!(comment_value("# text_en = a", "text"), None);
    }
}
