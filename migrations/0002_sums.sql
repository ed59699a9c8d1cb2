-- Schema 2 (src/ledger/core/head.ts): sums of rows have the lengths of texts and the chains of outputs. The
-- tables are those of schema 1. A ledger of schema 1 is refused until a snapshot is imported again
-- (docs/operations.md#upgrade); a version that reads schema 1 may go on meanwhile.

-- Its sum is one of schema 1. Without a row the publisher begins with the ledger that it finds.
DELETE FROM nft_index;
