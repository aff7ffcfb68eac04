//! Finding sentences by their words, in an index of the file (FTS5).
//!
//! Sentences and queries are cut into the same terms ([`search_terms`]); a query finds the sentences that hold its
//! terms in a row, the last one as the beginning of a word. Case and diacritics don't matter. Chinese, Japanese and
//! Thai are found by any piece, because each of their characters is a term.

use super::codec::unpack_tokens;
use super::row_error::RowError;
use crate::annotation::{Sentence, SentenceId};
use crate::text::{TextRange, search_terms};
use rusqlite::types::Type;
use rusqlite::{Connection, params};

/// Makes a sentence findable.
pub(super) fn insert(tx: &Connection, sentence: &Sentence, text: &str) -> Result<(), RowError> {
    Ok(insert_terms(tx, sentence.id().0.into(), text, sentence.tokens())?)
}

/// Makes a sentence that is no more unfindable.
pub(super) fn remove(tx: &Connection, sentence: SentenceId) -> Result<(), RowError> {
    tx.prepare_cached("DELETE FROM search WHERE rowid = ?1")?.execute([sentence.0])?;
    Ok(())
}

/// Makes the index from nothing. Holds one document in memory at a time.
pub(super) fn index_all(tx: &Connection) -> rusqlite::Result<()> {
    tx.execute("INSERT INTO search (search) VALUES ('delete-all')", [])?;
    let mut texts = tx.prepare("SELECT text FROM document WHERE id = ?1")?;
    let mut sentences = tx.prepare("SELECT id, document, tokens FROM sentence ORDER BY document")?;
    let (mut document, mut text) = (-1, String::new());
    let mut rows = sentences.query([])?;
    while let Some(row) = rows.next()? {
        let of = row.get(1)?;
        if of != document {
            (document, text) = (of, texts.query_row([of], |row| row.get(0))?);
        }
        let malformed = |error| rusqlite::Error::FromSqlConversionFailure(2, Type::Blob, Box::new(error));
        let tokens = unpack_tokens(row.get_ref(2)?.as_blob()?).map_err(malformed)?;
        insert_terms(tx, row.get(0)?, &text, &tokens)?;
    }
    Ok(())
}

fn insert_terms(tx: &Connection, id: i64, text: &str, tokens: &[TextRange]) -> rusqlite::Result<()> {
    let whole = tokens.first().zip(tokens.last()).and_then(|(f, l)| TextRange::new(f.start(), l.end()));
    let terms = joined(whole.map_or("", |whole| whole.of(text)));
    tx.prepare_cached("INSERT INTO search (rowid, terms) VALUES (?1, ?2)")?.execute(params![id, terms])?;
    Ok(())
}

fn joined(text: &str) -> String {
    let mut terms = String::with_capacity(text.len() + text.len() / 4);
    for term in search_terms(text) {
        terms.push_str(term);
        terms.push(' ');
    }
    terms
}

/// The sentences that hold the words of `query` in a row, by their ids. None for a query without a word.
pub(super) fn find(connection: &Connection, query: &str) -> rusqlite::Result<Vec<SentenceId>> {
    let terms = joined(query);
    if terms.is_empty() {
        return Ok(Vec::new());
    }
    // The terms hold no quotes: they are letters, digits and emoji.
    let phrase = format!("\"{}\" *", terms.trim_end());
    let mut statement = connection.prepare_cached("SELECT rowid FROM search WHERE search MATCH ?1 ORDER BY rowid")?;
    let ids = statement.query_map([phrase], |row| row.get::<_, u32>(0))?;
    ids.map(|id| Ok(SentenceId(id?))).collect()
}
