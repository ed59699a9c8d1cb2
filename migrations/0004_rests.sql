-- Schema 3 (src/ledger/core/head.ts): the long content of a spent output stays in output_rest, and
-- its row in milestone_part has the key of the rest behind it. Rows of schema 2 are read as they
-- are; a version that reads schema 2 would call those of schema 3 damaged.
UPDATE head SET sum = sum + 3 - schema, schema = 3 WHERE schema = 2;
