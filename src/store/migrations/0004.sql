-- The project file, version 4: what a sentence would teach, how good models were, and what decisions cost.

-- Packed acquisition scores (src/store/codec.rs); NULL where no model of the project said them. In the place of the one
-- that older programs knew: the model in use says them anew.
ALTER TABLE suggestion ADD COLUMN acquisition BLOB;
ALTER TABLE suggestion DROP COLUMN entropy;

-- Keys and buttons that the person pressed since the entry before.
ALTER TABLE log ADD COLUMN presses INTEGER NOT NULL DEFAULT 0;

-- One row a model and part of the project that it was scored on: the learning curve.
CREATE TABLE measurement (
    model INTEGER NOT NULL,
    split TEXT NOT NULL CHECK (split IN ('dev', 'blind')),
    time_ms INTEGER NOT NULL, -- since 1970, UTC
    train_sentences INTEGER NOT NULL,
    train_tokens INTEGER NOT NULL,
    sentences INTEGER NOT NULL, -- that were scored
    true_positives INTEGER NOT NULL,
    false_positives INTEGER NOT NULL,
    false_negatives INTEGER NOT NULL,
    low REAL NOT NULL, -- of a confidence band of 95 % around F1, in [0, 1]
    high REAL NOT NULL,
    PRIMARY KEY (model, split)
) STRICT, WITHOUT ROWID;
