-- The network's token as an upstream named it, in JSON: {"network": its name, "baseToken": …}.
ALTER TABLE follower ADD COLUMN token TEXT;
