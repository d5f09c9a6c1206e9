-- Read by SQLite; Postgres reads it with BYTEA for BLOB. Times are milliseconds since 1970; JSON is text; a tenant of '' is everybody's.
CREATE TABLE plugins (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (tenant, name)
);
CREATE TABLE grants (
    tenant TEXT NOT NULL,
    plugin TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (tenant, plugin)
);
CREATE TABLE settings (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (tenant, name)
);
CREATE TABLE secrets (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    bindings TEXT NOT NULL,
    key_id TEXT NOT NULL,
    sealed TEXT NOT NULL,
    PRIMARY KEY (tenant, name)
);
CREATE TABLE tokens (
    id TEXT NOT NULL PRIMARY KEY,
    hash TEXT NOT NULL,
    principal TEXT NOT NULL
);
CREATE TABLE kept (
    reference TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    agent TEXT,
    user_name TEXT,
    tool TEXT NOT NULL,
    content_type TEXT NOT NULL,
    lines BIGINT NOT NULL,
    body BLOB NOT NULL,
    expires_ms BIGINT NOT NULL
);
CREATE INDEX kept_expires ON kept (expires_ms);
CREATE TABLE audit (
    number BIGINT NOT NULL PRIMARY KEY,
    event TEXT NOT NULL,
    digest TEXT NOT NULL,
    checkpoint TEXT
);
