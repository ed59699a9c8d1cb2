-- Receipts of the milestones that were applied here, as the routes that list them answer them
-- (docs/contract.md#receipts-and-treasury). Milestones are pruned, receipts are not: there are few.
CREATE TABLE receipt (
  migrated_at INTEGER NOT NULL,       -- the legacy network's milestone
  milestone INTEGER NOT NULL,         -- that brought it
  bytes TEXT NOT NULL,                -- the milestone option
  PRIMARY KEY (migrated_at, milestone)
) WITHOUT ROWID;
