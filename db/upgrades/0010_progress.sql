-- Prompts of a tenant's own, and what its learners did; a key also says what it is called.

-- What a tenant put in place of prompts that Helix ships. The highest version of a name counts;
-- none is changed or taken away, for receipts name them.
CREATE TABLE prompt_versions (
    tenant_id  text        NOT NULL CHECK (tenant_id <> '')
               DEFAULT coalesce(nullif(current_setting('helix.tenant', true), ''), 'default'),
    name       text        NOT NULL CHECK (name ~ '^[a-z][a-z_]*$'),
    version    integer     NOT NULL CHECK (version > 0),
    text       text,
    author     text        NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, name, version)
);
ALTER TABLE prompt_versions ENABLE ROW LEVEL SECURITY;
COMMENT ON COLUMN prompt_versions.text IS 'null: the shipped prompt counts again';
COMMENT ON COLUMN prompt_versions.author IS 'the key or command that wrote it, for people';

-- When somebody was at it: actions that follow each other within the idle gap are one session.
CREATE TABLE progress_sessions (
    tenant_id  text        NOT NULL CHECK (tenant_id <> '')
               DEFAULT coalesce(nullif(current_setting('helix.tenant', true), ''), 'default'),
    learner    text        NOT NULL,
    started_at timestamptz NOT NULL,
    ended_at   timestamptz NOT NULL CHECK (ended_at >= started_at),
    PRIMARY KEY (tenant_id, learner, started_at)
);
ALTER TABLE progress_sessions ENABLE ROW LEVEL SECURITY;
COMMENT ON COLUMN progress_sessions.learner IS
    'the name of the API key that was used; empty: everybody of the tenant whose key has none';

-- How often somebody did what, by the quarter of an hour: every time zone's days begin at one.
CREATE TABLE progress_counts (
    tenant_id  text        NOT NULL CHECK (tenant_id <> '')
               DEFAULT coalesce(nullif(current_setting('helix.tenant', true), ''), 'default'),
    learner    text        NOT NULL,
    quarter    timestamptz NOT NULL,
    action     text        NOT NULL CHECK (action <> ''),
    n          bigint      NOT NULL CHECK (n > 0),
    PRIMARY KEY (tenant_id, learner, quarter, action)
);
ALTER TABLE progress_counts ENABLE ROW LEVEL SECURITY;

-- The same, of all time.
CREATE TABLE progress_totals (
    tenant_id  text        NOT NULL CHECK (tenant_id <> '')
               DEFAULT coalesce(nullif(current_setting('helix.tenant', true), ''), 'default'),
    learner    text        NOT NULL,
    action     text        NOT NULL CHECK (action <> ''),
    n          bigint      NOT NULL CHECK (n > 0),
    PRIMARY KEY (tenant_id, learner, action)
);
ALTER TABLE progress_totals ENABLE ROW LEVEL SECURITY;

DROP FUNCTION opened_by_key (text);
CREATE FUNCTION opened_by_key(hashed text)
RETURNS TABLE (id bigint, tenant text, scopes text[], name text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT k.id, k.tenant_id, k.scopes, k.name FROM api_keys k
    WHERE k.key_hash = hashed AND k.revoked_at IS NULL
        AND (k.expires_at IS NULL OR k.expires_at > now())
$$;
REVOKE ALL ON FUNCTION opened_by_key FROM PUBLIC;
