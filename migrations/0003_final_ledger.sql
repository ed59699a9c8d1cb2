-- The Merkle trees over a final ledger (docs/storage.md#the-final-ledger,
-- src/ledger/final/). Empty unless the ledger is at FINAL_MILESTONE.

-- Up to 65,536 leaves of a tree in one row, in the order of their IDs.
CREATE TABLE final_page (
  milestone INTEGER NOT NULL,         -- the final milestone
  tree TEXT NOT NULL,                 -- outputs or nfts
  page INTEGER NOT NULL,              -- its first leaf is at place page * 65536
  first TEXT NOT NULL,                -- ID of its first leaf
  last TEXT NOT NULL,                 -- ID of its last leaf
  leaves INTEGER NOT NULL,
  amount TEXT NOT NULL,               -- base tokens on its outputs; 0 in the tree over NFTs
  nfts INTEGER NOT NULL,              -- how many of its outputs are NFTs; 0 likewise
  root TEXT NOT NULL,                 -- hash over its leaves
  sum INTEGER NOT NULL,
  ranges TEXT NOT NULL,               -- of each 256 leaves: ID of the first, hash over them
  PRIMARY KEY (milestone, tree, page)
) WITHOUT ROWID;

-- One row, once all pages are there.
CREATE TABLE final_root (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  milestone INTEGER NOT NULL,
  outputs INTEGER NOT NULL,           -- leaves of the tree over outputs
  output_root TEXT NOT NULL,
  nfts INTEGER NOT NULL,
  nft_root TEXT NOT NULL,
  root TEXT NOT NULL,                 -- commits to all of it (docs/final-ledger.md)
  sum INTEGER NOT NULL
);

-- The file that the ledger was imported from: one row, if the import was told its hash.
CREATE TABLE snapshot_file (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  sha256 TEXT NOT NULL,
  sum INTEGER NOT NULL
);
