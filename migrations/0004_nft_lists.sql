-- Lists of NFTs by what their outputs say (docs/storage.md#nft-lists): one row an unspent NFT
-- output, in the order of every list. Addresses are hex of their 33 bytes, times Unix seconds.
CREATE TABLE nft_detail (
  created_time INTEGER NOT NULL,      -- of the milestone that created the output
  output TEXT NOT NULL,
  address TEXT NOT NULL,
  issuer TEXT,
  sender TEXT,
  tag TEXT,                           -- hex digits
  deposit_return TEXT,                -- return address of the storage deposit
  expiration_return TEXT,             -- both columns are NULL, or none
  expiration INTEGER,
  timelock INTEGER,
  native_tokens INTEGER NOT NULL,     -- how many kinds
  PRIMARY KEY (created_time, output)
) WITHOUT ROWID;

-- Each entry also holds the primary key, and so is in the order of lists. An entry is billed as a
-- row when it is written: there are none for what an output does not have.
CREATE INDEX nft_by_address ON nft_detail (address);
CREATE INDEX nft_by_issuer ON nft_detail (issuer) WHERE issuer IS NOT NULL;
CREATE INDEX nft_by_sender ON nft_detail (sender) WHERE sender IS NOT NULL;
CREATE INDEX nft_by_sender_tag ON nft_detail (sender, tag)
  WHERE sender IS NOT NULL AND tag IS NOT NULL;
CREATE INDEX nft_by_deposit_return ON nft_detail (deposit_return)
  WHERE deposit_return IS NOT NULL;
CREATE INDEX nft_by_expiration_return ON nft_detail (expiration_return)
  WHERE expiration_return IS NOT NULL;

-- How far the lists are: nft_detail was kept up to this ledger index, NULL where it was not begun.
ALTER TABLE head ADD COLUMN listed INTEGER;
-- It has the NFTs with IDs up to this one, NULL where it has all.
ALTER TABLE head ADD COLUMN listed_nfts TEXT;
