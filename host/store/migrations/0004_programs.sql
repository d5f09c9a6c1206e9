-- Programs that run with credentials. What is sealed opens only beside the columns that stood there when it was sealed.
CREATE TABLE programs (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    settings TEXT NOT NULL,
    key_id TEXT NOT NULL,
    sealed TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX programs_of_name ON programs (tenant, name);
CREATE TABLE program_grants (
    tenant TEXT NOT NULL,
    program TEXT NOT NULL,
    agent TEXT NOT NULL,
    settings TEXT NOT NULL,
    key_id TEXT NOT NULL,
    sealed TEXT NOT NULL,
    PRIMARY KEY (tenant, program, agent)
);
-- `holder_kind` is `agent` or `user`; `slot` is the type of the credential and where it goes.
CREATE TABLE program_credentials (
    tenant TEXT NOT NULL,
    program TEXT NOT NULL,
    holder_kind TEXT NOT NULL,
    holder TEXT NOT NULL,
    slot TEXT NOT NULL,
    key_id TEXT NOT NULL,
    sealed TEXT NOT NULL,
    PRIMARY KEY (tenant, program, holder_kind, holder, slot)
);
