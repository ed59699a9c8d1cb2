-- The fingerprint of the ledger, and where the scrub stands (docs/storage.md#damage-on-disk).

-- JSON (src/ledger/core/row-sum.ts); empty where an earlier release wrote the row.
ALTER TABLE head ADD COLUMN integrity TEXT NOT NULL DEFAULT '';
