-- The project file, version 5: models belong to their project, and a write-ahead log to its file.

-- Random, made once: a copy of the file keeps it. Written into the manifests of the project's models.
ALTER TABLE project ADD COLUMN id TEXT NOT NULL DEFAULT '';
UPDATE project SET id = lower(hex(randomblob(16)));

-- Random, made anew each time a program opens the file to write it, and in the lock file too: tells whether a
-- write-ahead log that was left behind belongs to this very file.
ALTER TABLE project ADD COLUMN opening TEXT NOT NULL DEFAULT '';

-- SHA-256 of the model's manifest.json, in hexadecimal digits, which itself has those of all its files; NULL for a
-- model of an older program.
ALTER TABLE model ADD COLUMN manifest_sha256 TEXT;
