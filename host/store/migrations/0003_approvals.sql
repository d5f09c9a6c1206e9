-- Commands that wait, or waited, for a person: `pending` until `expires_ms`, `approved` until `expires_ms`, `denied` or `used`.
CREATE TABLE approvals (
    id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    token_id TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    state TEXT NOT NULL,
    expires_ms BIGINT NOT NULL,
    decided_ms BIGINT,
    decided_by TEXT,
    record TEXT NOT NULL
);
CREATE INDEX approvals_of_tenant ON approvals (tenant, state);
CREATE INDEX approvals_of_fingerprint ON approvals (fingerprint, state);
CREATE INDEX approvals_over ON approvals (expires_ms);
-- What was approved for good.
CREATE TABLE remembered (
    id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    approval TEXT NOT NULL,
    record TEXT NOT NULL
);
CREATE INDEX remembered_of_tenant ON remembered (tenant);
