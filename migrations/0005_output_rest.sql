-- Long contents of outputs beside their rows (docs/storage.md#long-contents).

-- What follows the first 12 characters of contents that are longer than 768.
CREATE TABLE output_rest (
  key INTEGER PRIMARY KEY,            -- a number of the output, or its place in the snapshot
  bytes TEXT NOT NULL
);

-- Key in output_rest, NULL where `bytes` has all: always where an earlier release wrote the row.
ALTER TABLE output ADD COLUMN rest INTEGER;
