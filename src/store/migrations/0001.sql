-- The project file, version 1. Append-only: a released migration is never edited, the next one changes what it made.

-- The one row of what the whole project counts.
CREATE TABLE project (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    revision INTEGER NOT NULL,
    next_mention INTEGER NOT NULL,
    next_label INTEGER NOT NULL
) STRICT;

CREATE TABLE setting (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE label (
    id INTEGER PRIMARY KEY,
    position INTEGER NOT NULL,
    name TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    color TEXT NOT NULL, -- #RRGGBB
    key TEXT
) STRICT;

CREATE TABLE document (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    text TEXT NOT NULL -- as it came: line ends, byte order mark and normalisation form untouched
) STRICT;

CREATE TABLE sentence (
    id INTEGER PRIMARY KEY, -- ascending with the document
    document INTEGER NOT NULL REFERENCES document (id),
    tokens BLOB NOT NULL, -- a pair of LEB128 numbers a token: bytes since the last token's end, bytes of the token
    status TEXT NOT NULL CHECK (status IN ('untouched', 'in_progress', 'complete', 'skipped', 'flagged')),
    split TEXT NOT NULL CHECK (split IN ('rest', 'dev', 'test', 'blind'))
) STRICT;

-- Token positions are half-open.
CREATE TABLE mention (
    sentence INTEGER NOT NULL REFERENCES sentence (id),
    id INTEGER NOT NULL,
    label INTEGER NOT NULL REFERENCES label (id),
    start_token INTEGER NOT NULL, -- of the first fragment
    end_token INTEGER NOT NULL CHECK (start_token < end_token), -- of the last fragment
    fragments TEXT, -- [[start,end],…]; NULL for a contiguous mention
    attributes TEXT, -- {"name":"value",…}; NULL for none
    note TEXT NOT NULL,
    provenance TEXT NOT NULL CHECK (provenance IN ('person', 'import', 'rule', 'accepted')),
    model INTEGER CHECK ((model IS NOT NULL) = (provenance = 'accepted')),
    PRIMARY KEY (sentence, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mention_by_label ON mention (label);

-- The label of a rejected suggestion may be gone.
CREATE TABLE rejected (
    sentence INTEGER NOT NULL REFERENCES sentence (id),
    start_token INTEGER NOT NULL,
    end_token INTEGER NOT NULL CHECK (start_token < end_token),
    label INTEGER NOT NULL,
    PRIMARY KEY (sentence, start_token, end_token, label)
) STRICT, WITHOUT ROWID;

CREATE TABLE model (
    id INTEGER PRIMARY KEY,
    directory TEXT NOT NULL, -- name inside NAME.models/
    manifest TEXT NOT NULL, -- JSON
    created_ms INTEGER NOT NULL,
    is_current INTEGER NOT NULL CHECK (is_current IN (0, 1))
) STRICT;
CREATE UNIQUE INDEX one_current_model ON model (is_current) WHERE is_current = 1;

-- What one model says of a sentence: made again at any time, so packed (src/store/codec.rs).
CREATE TABLE suggestion (
    sentence INTEGER PRIMARY KEY REFERENCES sentence (id),
    model INTEGER NOT NULL,
    entropy REAL,
    heads BLOB NOT NULL,
    spans BLOB NOT NULL
) STRICT;

-- The audit trail.
CREATE TABLE log (
    seq INTEGER PRIMARY KEY,
    revision INTEGER NOT NULL, -- of the project after this entry
    step TEXT NOT NULL CHECK (step IN ('do', 'undo', 'redo', 'import')),
    intent TEXT NOT NULL,
    edits TEXT NOT NULL, -- JSON (src/store/json.rs)
    inverse TEXT NOT NULL, -- JSON; [] for an import
    author TEXT NOT NULL,
    time_ms INTEGER NOT NULL, -- since 1970, UTC
    active_ms INTEGER NOT NULL, -- that the person worked since the entry before
    visible TEXT NOT NULL, -- JSON: the suggestions on screen
    receipt TEXT CHECK ((receipt IS NOT NULL) = (step = 'import')) -- JSON: what came from where, what was left out
) STRICT;
CREATE TRIGGER log_is_never_changed BEFORE UPDATE ON log
BEGIN
    SELECT RAISE(ABORT, 'the log is append-only');
END;
CREATE TRIGGER log_is_never_shortened BEFORE DELETE ON log
BEGIN
    SELECT RAISE(ABORT, 'the log is append-only');
END;
