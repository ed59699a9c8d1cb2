-- The publisher's own state (src/nft-index/publisher-state.ts). The index in KV is only a projection
-- of D1, so what is known about it is kept here, beside its source.
CREATE TABLE nft_index (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  token TEXT NOT NULL,                -- another one with every change of the row: of two publishers at once, one moves on
  generation TEXT NOT NULL,           -- of the ledger that the state tells of (head.generation)
  state TEXT NOT NULL                 -- JSON
);

-- Of no ledger yet.
INSERT INTO nft_index (one, token, generation, state) VALUES (1, '', '', '{}');
