-- The network's token as an upstream named it: {"network": its name, "baseToken": …} as JSON, behind
-- which stands a checksum; all of it in base64 (src/ledger/core/output-bytes.ts).
ALTER TABLE follower ADD COLUMN token TEXT;
