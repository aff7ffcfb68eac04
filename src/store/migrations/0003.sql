-- The project file, version 3: documents can be excluded, and be included again at any time.

-- What is 'excluded' is out of the corpus, but its labels stay in use. What is 'removed' is out of sight until undo
-- brings it back. The sentences and mentions of both stay.
ALTER TABLE document ADD COLUMN presence TEXT NOT NULL DEFAULT 'there'
    CHECK (presence IN ('there', 'excluded', 'removed'));
UPDATE document SET presence = 'removed' WHERE removed = 1;
ALTER TABLE document DROP COLUMN removed;

-- The log names them in edits of the kind set_presence; older entries have set_removed, which is still read.
