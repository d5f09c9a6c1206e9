-- The size of a kept output beside its tenant, so that a tenant's sum is read from the index alone.
ALTER TABLE kept ADD COLUMN size BIGINT NOT NULL DEFAULT 0;
UPDATE kept SET size = length(body);
CREATE INDEX kept_of_tenant ON kept (tenant, expires_ms, size);
-- The seal of the newest audit record of each node: what was cut off the chain's end shows.
CREATE TABLE audit_head (
    node TEXT NOT NULL PRIMARY KEY,
    number BIGINT NOT NULL,
    seal TEXT NOT NULL
);
