-- The ledger (docs/storage.md#d1-tables, src/ledger/).
--
-- IDs are lower-case hex without 0x, bytes are base64, amounts are decimal text: D1 rounds 64-bit integers and hands BLOBs out as arrays of numbers.
-- Blocks and outputs have row numbers; everything between them goes by row number.

-- One row once a snapshot was imported: where the ledger stands.
CREATE TABLE head (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  generation TEXT NOT NULL,           -- names the import that this ledger grew from; a new import, a new name
  genesis INTEGER NOT NULL,           -- genesis milestone index
  start INTEGER NOT NULL,             -- ledger index that the import brought
  ledger INTEGER NOT NULL,            -- ledger index now
  treasury_milestone TEXT NOT NULL,
  treasury_amount TEXT NOT NULL,
  imported INTEGER NOT NULL           -- unix milliseconds of the import
);

-- The ledger's milestone and those before it, as far as their states can still be asked for.
CREATE TABLE milestone (
  idx INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  timestamp INTEGER NOT NULL,
  payload TEXT                        -- absent where a snapshot names the milestone without its payload
);

-- Blocks: referenced, not yet referenced, and those that are known to be referenced and nothing more.
CREATE TABLE block (
  row INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  milestone INTEGER,                  -- the milestone that references it, NULL while none does; solid entry points carry the snapshot's index; -1: dropped (src/ledger/orphans.ts)
  position INTEGER,                   -- white-flag index in that milestone
  reason INTEGER,                     -- conflict reason of its transaction, 0 where it was applied
  tx TEXT,                            -- transaction ID
  record TEXT,                        -- what the white flag needs of it (src/stardust/white-flag/block-record.ts); NULL for solid entry points and after pruning
  seen INTEGER NOT NULL               -- ledger index when it was stored
);
CREATE INDEX block_milestone ON block (milestone);

CREATE TABLE block_bytes (
  row INTEGER PRIMARY KEY,
  bytes TEXT NOT NULL
);

-- Outputs that the ledger holds or held, and those that only a transaction not yet applied creates or consumes.
CREATE TABLE output (
  row INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  bytes TEXT,                         -- NULL while no block that creates it is known
  nft TEXT,                           -- the NFT's ID where the output is one
  block TEXT,                         -- the block that created it, all zero for migrated outputs
  created INTEGER,                    -- milestone, NULL while not in the ledger
  created_time INTEGER,
  spent INTEGER,                      -- milestone, NULL while unspent
  spent_time INTEGER,
  spent_tx TEXT,
  seen INTEGER NOT NULL               -- row of the block that was the last to mention it, 0 or anything where it came otherwise
);

-- Which outputs the transaction of a block consumes.
CREATE TABLE input (
  block INTEGER NOT NULL,
  output INTEGER NOT NULL,
  PRIMARY KEY (block, output)
) WITHOUT ROWID;

-- Blocks whose transaction cannot be judged yet because an output that it consumes is not known.
CREATE TABLE waiting (
  output INTEGER NOT NULL,
  block INTEGER NOT NULL,
  PRIMARY KEY (output, block)
) WITHOUT ROWID;

-- What each milestone created and spent, for pruning.
CREATE TABLE spent (
  milestone INTEGER NOT NULL,
  output INTEGER NOT NULL,
  PRIMARY KEY (milestone, output)
) WITHOUT ROWID;

-- Every NFT that ever was since the import: its unspent output, NULL when it was burned.
CREATE TABLE nft (
  id TEXT PRIMARY KEY,
  output TEXT,
  changed INTEGER NOT NULL            -- milestone of its last change
) WITHOUT ROWID;

-- Every change of an NFT, milestone by milestone, for the index in KV.
CREATE TABLE nft_change (
  milestone INTEGER NOT NULL,
  nft TEXT NOT NULL,
  PRIMARY KEY (milestone, nft)
) WITHOUT ROWID;

-- Protocol parameters by the milestone from which on they are in force.
CREATE TABLE parameters (
  target INTEGER PRIMARY KEY,
  announced INTEGER NOT NULL,         -- milestone that announced them; the snapshot's index for those that it brought
  bytes TEXT NOT NULL                 -- the milestone option
);

CREATE TABLE receipt (
  milestone INTEGER PRIMARY KEY,
  bytes TEXT NOT NULL                 -- the receipt option
);

-- How following goes, for health and info. One row once it was tried.
CREATE TABLE follower (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  state TEXT NOT NULL,                -- following, stopped or diverged
  reason TEXT,
  upstream_index INTEGER,             -- the newest milestone that an upstream named
  upstream_timestamp INTEGER,
  upstream_id TEXT
);
