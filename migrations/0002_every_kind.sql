-- Lists and lookups of every kind of output (docs/storage.md#lists-of-every-kind), where INDEX or a
-- final ledger asks for them; else the table is empty.

-- How far output_detail is filled: '' where nothing keeps it; an output's ID while it is filled, up
-- to which it is; 'all' when it is whole.
ALTER TABLE head ADD COLUMN indexed TEXT NOT NULL DEFAULT '';

-- What basic, alias and foundry outputs are listed by: one row for each unspent one, in the order of
-- every list of its kind. IDs, addresses and tags are bytes, half as long as hex: a network has
-- millions of these outputs. NFTs are in nft_detail.
CREATE TABLE output_detail (
  kind INTEGER NOT NULL,              -- type of the output
  created_time INTEGER NOT NULL,      -- of the milestone that created it
  output BLOB NOT NULL,
  address BLOB NOT NULL,              -- of an alias the state controller, of a foundry its alias
  governor BLOB,
  issuer BLOB,
  sender BLOB,
  tag BLOB,
  deposit_return BLOB,
  expiration_return BLOB,             -- this and the next column are NULL together
  expiration INTEGER,
  timelock INTEGER,
  native_tokens INTEGER NOT NULL,
  chain BLOB,                         -- ID of the alias or foundry
  sum INTEGER NOT NULL,
  PRIMARY KEY (kind, created_time, output)
) WITHOUT ROWID;

-- Each index entry also contains the primary key: the entries of one kind with one value are in the
-- order of lists.
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
