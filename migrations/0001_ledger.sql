-- All tables of the ledger and of the NFT index (docs/storage.md#d1-tables, src/ledger/).
--
-- IDs are lower-case hex without 0x, bytes are base64, lists are JSON, amounts are decimal text: D1
-- rounds 64-bit integers and returns BLOBs as arrays of numbers. Blocks and outputs have
-- numbers, which are never reused. A column `sum` has the sum of others in its row
-- (src/ledger/core/row-sum.ts).

-- Where the ledger stands: one row, after a snapshot was imported.
CREATE TABLE head (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  schema INTEGER NOT NULL,            -- version of these tables (src/ledger/core/head.ts)
  generation TEXT NOT NULL,           -- names the import that this ledger grew from
  genesis INTEGER NOT NULL,           -- genesis milestone index
  start INTEGER NOT NULL,             -- ledger index of the imported snapshot
  snapshot TEXT NOT NULL,             -- SHA-256 of its file, '' if the import was not told it
  ledger INTEGER NOT NULL,            -- ledger index now
  treasury_milestone TEXT NOT NULL,
  treasury_amount TEXT NOT NULL,
  next_block INTEGER NOT NULL,        -- numbers from these on are free, unless a live pack
  next_output INTEGER NOT NULL,       -- names higher ones
  unreferenced INTEGER NOT NULL,      -- unreferenced blocks with numbers below next_block
  dropped INTEGER NOT NULL,           -- how many times unreferenced blocks were dropped
  id_tables TEXT NOT NULL,            -- JSON: [table, first milestone] of those in use, oldest first
  forgotten INTEGER NOT NULL,         -- IDs of milestones up to this one were dropped
  indexed TEXT NOT NULL,              -- the kinds in output_detail: '' NFTs alone, 'all' every kind,
                                      -- else every kind up to this ID of an output
  history INTEGER NOT NULL,           -- from this milestone on nft_past has what is not kept else;
                                      -- 0: it has nothing
  integrity TEXT NOT NULL,            -- JSON: fingerprints and the scrub's position
                                      -- (src/ledger/core/row-sum.ts)
  sum INTEGER NOT NULL
);

-- The ledger's milestone and those before it whose states can be queried.
CREATE TABLE milestone (
  idx INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  timestamp INTEGER NOT NULL,         -- Unix seconds
  blocks INTEGER NOT NULL,            -- how many it references; 0 for one of a snapshot
  nft_changes INTEGER NOT NULL,       -- of NFTs, from the import to this milestone: all of them are
                                      -- in nft_change (docs/storage.md#changes-of-nfts)
  payload TEXT,                       -- NULL where a snapshot names the milestone without it
  sum INTEGER NOT NULL
);

-- Packs: up to 256 blocks in one row, in the order in which they were stored. A block stays in its
-- pack until it is dropped or pruned.
CREATE TABLE pack (
  key INTEGER PRIMARY KEY,            -- the number of its first block
  live INTEGER NOT NULL,              -- 1 while one of its blocks is unreferenced, else 0
  staged INTEGER,                     -- the milestone for whose past cone its blocks were fetched,
                                      -- while requests must not see them; else NULL
  stored_at INTEGER NOT NULL,         -- ledger index when its first block was stored
  last_milestone INTEGER NOT NULL,    -- the last one that references a block of it, 0 for none
  next_block INTEGER NOT NULL,        -- numbers from these on were free when it was written
  next_output INTEGER NOT NULL,
  sums TEXT NOT NULL,                 -- JSON: checksums of records, statuses, states,
                                      -- and next_block less next_output
  records TEXT NOT NULL,              -- src/ledger/packs/block-record.ts, one after another
  statuses TEXT NOT NULL,             -- of each block: which milestone references it
  states TEXT NOT NULL,               -- of outputs that they consume: number, created, spent
  unresolved TEXT NOT NULL,           -- JSON: IDs of outputs that blocks without a verdict wait for
  blocks TEXT NOT NULL,               -- JSON: [number, ID, payload type, sum] of each block
  outputs TEXT NOT NULL               -- JSON: of each block, what its transaction consumes and creates
);
CREATE INDEX live_pack ON pack (live, staged) WHERE live = 1;
-- Few packs, if any: to look for them in the others takes reading most of each.
CREATE INDEX unresolved_pack ON pack (live) WHERE live = 1 AND unresolved <> '[]';

-- What the blocks of a pack contain, beside it: most of the bytes. SQLite rewrites a whole row, and
-- a milestone changes all packs whose blocks it references.
CREATE TABLE pack_content (
  key INTEGER PRIMARY KEY REFERENCES pack (key) ON DELETE CASCADE,
  bytes TEXT NOT NULL,                -- JSON: of each block, its bytes
  outputs TEXT NOT NULL,              -- JSON: of each block, the outputs that its transaction creates
  details TEXT NOT NULL               -- JSON: the same, what they are listed by
);

-- What a milestone references and spends, in parts below 2 MB.
CREATE TABLE milestone_part (
  key INTEGER PRIMARY KEY,            -- milestone * 4096 + part
  packs TEXT NOT NULL,                -- JSON: keys of the packs that hold these blocks
  blocks TEXT NOT NULL,               -- numbers of its blocks, in white-flag order
  spent TEXT NOT NULL,                -- JSON: the outputs that it spent
  sum INTEGER NOT NULL
);

-- Unspent outputs.
CREATE TABLE output (
  id TEXT PRIMARY KEY,
  bytes TEXT NOT NULL,                -- and a checksum (src/ledger/core/output-bytes.ts)
  rest INTEGER,                       -- key in output_rest, NULL where `bytes` has all
  chain TEXT,                         -- ID of its alias, foundry or NFT (TIP-18)
  block TEXT NOT NULL,                -- the block that created it, all zero for migrated outputs
  created INTEGER NOT NULL,           -- milestone
  created_time INTEGER NOT NULL,      -- Unix seconds
  sum INTEGER NOT NULL
) WITHOUT ROWID;

-- Long contents of outputs beside their rows (docs/storage.md#long-contents): what follows the first
-- 12 characters of contents that are longer than 768.
CREATE TABLE output_rest (
  key INTEGER PRIMARY KEY,            -- of the number of the output, or of its place in the snapshot
                                      -- (src/ledger/core/output-bytes.ts)
  bytes TEXT NOT NULL
);

-- Every NFT since the import: its unspent output, NULL if it was burned.
CREATE TABLE nft (
  id TEXT PRIMARY KEY,
  output TEXT,
  changed INTEGER NOT NULL            -- milestone of its last change
) WITHOUT ROWID;

-- The NFTs that each milestone changed, for the index in KV.
CREATE TABLE nft_change (
  milestone INTEGER NOT NULL,
  part INTEGER NOT NULL,
  nfts TEXT NOT NULL,                 -- JSON: IDs
  PRIMARY KEY (milestone, part)
) WITHOUT ROWID;

-- Outputs that held NFTs and that milestones spent whose states are not kept any more
-- (docs/storage.md#histories-of-nfts). IDs are bytes, half as long as hex: it only grows.
CREATE TABLE nft_past (
  id BLOB PRIMARY KEY,                -- of the NFT, 32 bytes; key of the part of the milestone that
                                      -- spent it, 6 bytes; place there, 2 bytes: oldest first
  output BLOB NOT NULL,
  conditions BLOB NOT NULL,           -- its unlock conditions
  block BLOB NOT NULL,                -- that created it
  created INTEGER NOT NULL,           -- milestone
  created_time INTEGER NOT NULL,      -- Unix seconds
  spender BLOB NOT NULL,              -- the transaction that spent it
  burned_block BLOB,                  -- where that burned the NFT: its block, and the time of the
  burned_time INTEGER,                -- milestone, Unix seconds; else both are NULL
  sum INTEGER NOT NULL
) WITHOUT ROWID;

-- What outputs are listed by (docs/storage.md#lists): one row for each unspent NFT output, and for
-- each other one where `head.indexed` says so; in the order of every list of its kind. IDs, addresses
-- and tags are bytes, half as long as hex: a network has millions of outputs.
CREATE TABLE output_detail (
  kind INTEGER NOT NULL,              -- type of the output
  created_time INTEGER NOT NULL,      -- of the milestone that created it
  output BLOB NOT NULL,
  address BLOB NOT NULL,              -- of an alias the state controller, of a foundry its alias
  governor BLOB,
  issuer BLOB,
  sender BLOB,
  tag BLOB,
  deposit_return BLOB,                -- return address of the storage deposit
  expiration_return BLOB,             -- this and the next column are NULL together
  expiration INTEGER,
  timelock INTEGER,
  native_tokens INTEGER NOT NULL,     -- number of different native tokens
  chain BLOB,                         -- ID of an alias or a foundry; the table nft has those of NFTs
  PRIMARY KEY (kind, created_time, output)
) WITHOUT ROWID;

-- Each index entry also contains the primary key: the entries of one kind with one value are in the
-- order of lists. D1 bills an entry as a row written: partial indexes have no entry for what an
-- output lacks.
CREATE INDEX detail_by_address ON output_detail (address);
CREATE INDEX detail_by_governor ON output_detail (governor) WHERE governor IS NOT NULL;
CREATE INDEX detail_by_issuer ON output_detail (issuer) WHERE issuer IS NOT NULL;
CREATE INDEX detail_by_sender ON output_detail (sender) WHERE sender IS NOT NULL;
CREATE INDEX detail_by_sender_tag ON output_detail (sender, tag)
  WHERE sender IS NOT NULL AND tag IS NOT NULL;
CREATE INDEX detail_by_deposit_return ON output_detail (deposit_return)
  WHERE deposit_return IS NOT NULL;
CREATE INDEX detail_by_expiration_return ON output_detail (expiration_return)
  WHERE expiration_return IS NOT NULL;
CREATE UNIQUE INDEX detail_by_chain ON output_detail (chain) WHERE chain IS NOT NULL;

-- Protocol parameters, by the milestone from which on they are in force.
CREATE TABLE parameters (
  target INTEGER PRIMARY KEY,
  bytes TEXT NOT NULL,                -- the milestone option
  sum INTEGER NOT NULL
);

-- Receipts of the milestones that were applied here (docs/contract.md#receipts-and-treasury). They
-- are few, and never pruned.
CREATE TABLE receipt (
  migrated_at INTEGER NOT NULL,       -- the legacy network's milestone
  milestone INTEGER NOT NULL,         -- that contained it
  bytes TEXT NOT NULL,                -- the milestone option
  sum INTEGER NOT NULL,
  PRIMARY KEY (migrated_at, milestone)
) WITHOUT ROWID;

-- The index of IDs (src/ledger/core/id-index.ts): which milestone references a block, or spent an
-- output. Milestones fill one table after the other; the oldest is dropped whole. `block`: the
-- block's number, 0 for solid entry points and outputs.
CREATE TABLE id_0 (
  id TEXT PRIMARY KEY, milestone INTEGER NOT NULL, block INTEGER NOT NULL,
  sum INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE id_1 (
  id TEXT PRIMARY KEY, milestone INTEGER NOT NULL, block INTEGER NOT NULL,
  sum INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE id_2 (
  id TEXT PRIMARY KEY, milestone INTEGER NOT NULL, block INTEGER NOT NULL,
  sum INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE id_3 (
  id TEXT PRIMARY KEY, milestone INTEGER NOT NULL, block INTEGER NOT NULL,
  sum INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE id_4 (
  id TEXT PRIMARY KEY, milestone INTEGER NOT NULL, block INTEGER NOT NULL,
  sum INTEGER NOT NULL
) WITHOUT ROWID;

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

-- Up to 256 leaves of a tree in one row, so that many proofs read few leaves each.
CREATE TABLE final_range (
  milestone INTEGER NOT NULL,
  tree TEXT NOT NULL,
  first TEXT NOT NULL,                -- ID of its first leaf
  groups TEXT NOT NULL,               -- of each 8 leaves: ID of the first, hash over them
  PRIMARY KEY (milestone, tree, first)
) WITHOUT ROWID;

-- One row, once all pages are there.
CREATE TABLE final_root (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  milestone INTEGER NOT NULL,
  outputs INTEGER NOT NULL,           -- leaves of the tree over outputs
  output_root TEXT NOT NULL,
  nfts INTEGER NOT NULL,
  nft_root TEXT NOT NULL,
  root TEXT NOT NULL                  -- commits to all of it (docs/final-ledger.md)
);

-- The follower's state, for health and info: one row, after its first pass.
CREATE TABLE follower (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  state TEXT NOT NULL,                -- following, stopped, failing or diverged
  reason TEXT,
  upstream_index INTEGER,             -- the newest milestone that an upstream named
  upstream_timestamp INTEGER,         -- Unix seconds
  upstream_id TEXT,
  blocks_by TEXT,                     -- feed or polling
  newest_block INTEGER                -- Unix seconds when the newest block was stored
);

-- The publisher's state (src/nft-index/publisher-state.ts). The index in KV is a projection of D1,
-- so its state is stored here, beside its source.
CREATE TABLE nft_index (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  token TEXT NOT NULL,                -- changes with every write of the row: compare-and-swap
  generation TEXT NOT NULL,           -- of the ledger that the state is about (head.generation)
  state TEXT NOT NULL,                -- JSON
  sum INTEGER NOT NULL
);

-- About no ledger yet.
INSERT INTO nft_index (one, token, generation, state, sum) VALUES (1, '', '', '{}', 371);
