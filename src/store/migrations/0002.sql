-- The project file, version 2: sentences are split, joined and found by their words, documents can be removed, and
-- what a file says besides mentions is kept. src/store/search.rs fills the index of the sentences that are there.

-- Ids of sentences are never used again, also those of sentences that were joined to others.
ALTER TABLE project ADD COLUMN next_sentence INTEGER NOT NULL DEFAULT 0;
UPDATE project SET next_sentence = (SELECT count(*) FROM sentence);

ALTER TABLE document ADD COLUMN kept TEXT; -- {"format id":"text",…}; NULL for nothing
-- Out of sight until undo brings it back; its sentences and mentions stay.
ALTER TABLE document ADD COLUMN removed INTEGER NOT NULL DEFAULT 0 CHECK (removed IN (0, 1));

-- The order of the sentences of a document is that of their first tokens, no longer that of their ids.

-- As before, with what the file called it, and without the reference to the label: that of a mention in a removed
-- document may be gone.
CREATE TABLE mention_2 (
    sentence INTEGER NOT NULL REFERENCES sentence (id),
    id INTEGER NOT NULL,
    label INTEGER NOT NULL,
    start_token INTEGER NOT NULL, -- of the first fragment
    end_token INTEGER NOT NULL CHECK (start_token < end_token), -- of the last fragment
    fragments TEXT, -- [[start,end],…]; NULL for a contiguous mention
    attributes TEXT, -- {"name":"value",…}; NULL for none
    note TEXT NOT NULL,
    provenance TEXT NOT NULL CHECK (provenance IN ('person', 'import', 'rule', 'accepted')),
    model INTEGER CHECK ((model IS NOT NULL) = (provenance = 'accepted')),
    source_id TEXT,
    PRIMARY KEY (sentence, id)
) STRICT, WITHOUT ROWID;
INSERT INTO mention_2
    SELECT sentence, id, label, start_token, end_token, fragments, attributes, note, provenance, model, NULL
    FROM mention;
DROP TABLE mention;
ALTER TABLE mention_2 RENAME TO mention;

-- The terms of each sentence (src/text/search.rs) parted by blanks; the row id is the sentence's id. Only an index:
-- the words themselves are in the documents.
CREATE VIRTUAL TABLE search USING fts5 (
    terms,
    content = '',
    contentless_delete = 1,
    tokenize = "unicode61 remove_diacritics 2 categories 'L* M* N* S* Co'"
);
