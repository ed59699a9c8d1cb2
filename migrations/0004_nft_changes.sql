-- Changes of NFTs without a gap (docs/storage.md#changes-of-nfts): how many there were up to each
-- milestone.

-- JSON [since, total, sum]: `total` changes of NFTs after milestone `since` and up to this one, all
-- of which are in nft_change (src/ledger/core/nft-change-count.ts). NULL where an earlier release
-- applied the milestone.
ALTER TABLE milestone ADD COLUMN nft_changes TEXT;
