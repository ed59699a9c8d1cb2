-- The ledger in packs (docs/storage.md#d1-tables): one row a milestone instead of hundreds.
--
-- IDs are lower-case hex without 0x, bytes are base64, lists are JSON, amounts are decimal text: D1
-- rounds 64-bit integers and hands BLOBs out as arrays of numbers. Blocks and outputs have numbers
-- that are never given twice.

-- A ledger of version 0.1 is not destroyed, nor read: its tables wait under other names until the
-- next import removes them (docs/upgrading.md).
ALTER TABLE head RENAME TO v1_head;
ALTER TABLE milestone RENAME TO v1_milestone;
ALTER TABLE block RENAME TO v1_block;
ALTER TABLE block_bytes RENAME TO v1_block_bytes;
ALTER TABLE output RENAME TO v1_output;
ALTER TABLE input RENAME TO v1_input;
ALTER TABLE waiting RENAME TO v1_waiting;
ALTER TABLE spent RENAME TO v1_spent;
ALTER TABLE nft RENAME TO v1_nft;
ALTER TABLE nft_change RENAME TO v1_nft_change;
ALTER TABLE parameters RENAME TO v1_parameters;
ALTER TABLE receipt RENAME TO v1_receipt;

-- One row once a snapshot was imported: where the ledger stands.
CREATE TABLE head (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  schema INTEGER NOT NULL,            -- of these tables (src/ledger/schema.ts)
  generation TEXT NOT NULL,           -- names the import that this ledger grew from
  genesis INTEGER NOT NULL,           -- genesis milestone index
  start INTEGER NOT NULL,             -- ledger index that the import brought
  ledger INTEGER NOT NULL,            -- ledger index now
  treasury_milestone TEXT NOT NULL,
  treasury_amount TEXT NOT NULL,
  next_block INTEGER NOT NULL,        -- numbers from these on are free, as far as the live packs
  next_output INTEGER NOT NULL,       -- do not name higher ones
  dropped INTEGER NOT NULL,           -- how many times unreferenced blocks were dropped
  id_tables TEXT NOT NULL,            -- JSON: [table, first milestone] of those in use, oldest first
  forgotten INTEGER NOT NULL          -- IDs of milestones up to this one are forgotten
);

-- The ledger's milestone and those before it whose states can still be asked for.
CREATE TABLE milestone (
  idx INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  timestamp INTEGER NOT NULL,
  payload TEXT                        -- absent where a snapshot names the milestone without it
);

-- Packs: up to 256 blocks in one row, in the order in which they were stored. A block stays in its
-- pack until it is dropped or pruned. The columns that a walk reads come first: SQLite does not
-- touch the pages behind them.
CREATE TABLE pack (
  key INTEGER PRIMARY KEY,            -- the number of its first block
  live INTEGER NOT NULL,              -- 1 while one of its blocks is unreferenced, else 0
  staged INTEGER,                     -- the milestone for whose past cone its blocks were fetched,
                                      -- while requests must not see them; else NULL
  stored_at INTEGER NOT NULL,         -- ledger index when its first block was stored
  last_milestone INTEGER NOT NULL,    -- the last one that references a block of it, 0 for none
  next_block INTEGER NOT NULL,        -- numbers from these on were free when it was written
  next_output INTEGER NOT NULL,
  sums TEXT NOT NULL,                 -- JSON: checksums of records, statuses and states
  records TEXT NOT NULL,              -- src/stardust/white-flag/block-record.ts, one after another
  statuses TEXT NOT NULL,             -- of each block: which milestone references it
  states TEXT NOT NULL,               -- of outputs that they consume: number, created, spent
  unresolved TEXT NOT NULL,           -- JSON: IDs of outputs that blocks without a verdict wait for
  blocks TEXT NOT NULL,               -- JSON: [number, ID, payload type] of each block
  outputs TEXT NOT NULL,              -- JSON: of each block, what its transaction consumes and creates
  bytes TEXT NOT NULL                 -- JSON: the bytes of each block
);
CREATE INDEX live_pack ON pack (live) WHERE live = 1;

-- What a milestone references and spends, in parts below 2 MB.
CREATE TABLE milestone_part (
  key INTEGER PRIMARY KEY,            -- milestone * 4096 + part
  packs TEXT NOT NULL,                -- JSON: keys of the packs that hold these blocks
  blocks TEXT NOT NULL,               -- numbers of its blocks, in white-flag order
  spent TEXT NOT NULL                 -- JSON: the outputs that it spent, whole
);

-- Unspent outputs.
CREATE TABLE output (
  id TEXT PRIMARY KEY,
  bytes TEXT NOT NULL,
  nft TEXT,                           -- the NFT's ID where the output is one
  block TEXT NOT NULL,                -- the block that created it, all zero for migrated outputs
  created INTEGER NOT NULL,           -- milestone
  created_time INTEGER NOT NULL
) WITHOUT ROWID;

-- Every NFT that ever was since the import: its unspent output, NULL when it was burned.
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

-- Protocol parameters by the milestone from which on they are in force.
CREATE TABLE parameters (
  target INTEGER PRIMARY KEY,
  bytes TEXT NOT NULL                 -- the milestone option
);

-- The index of IDs (src/ledger/id-index.ts): which milestone references a block, or spent an
-- output. Milestones fill one table after the other; the oldest is dropped whole. `block`: the
-- block's number, 0 of solid entry points and outputs.
CREATE TABLE id_0 (
  id TEXT PRIMARY KEY, milestone INTEGER NOT NULL, block INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE id_1 (
  id TEXT PRIMARY KEY, milestone INTEGER NOT NULL, block INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE id_2 (
  id TEXT PRIMARY KEY, milestone INTEGER NOT NULL, block INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE id_3 (
  id TEXT PRIMARY KEY, milestone INTEGER NOT NULL, block INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE id_4 (
  id TEXT PRIMARY KEY, milestone INTEGER NOT NULL, block INTEGER NOT NULL
) WITHOUT ROWID;
