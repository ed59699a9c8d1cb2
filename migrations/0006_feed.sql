-- Whether blocks come by feed or by polling, and when the newest one came, for health and info.
ALTER TABLE follower ADD COLUMN blocks_by TEXT;        -- feed or polling
ALTER TABLE follower ADD COLUMN newest_block INTEGER;  -- Unix seconds, as of a few seconds ago
