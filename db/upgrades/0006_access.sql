-- Keys have scopes, an end and a last use; an audit log, and what was used of daily limits. A key
-- that is there keeps all it had.
ALTER TABLE api_keys
    ADD COLUMN scopes text[] NOT NULL DEFAULT '{ask,read,write,admin}'
        CHECK (scopes <> '{}' AND scopes <@ '{ask,read,write,admin}'),
    ADD COLUMN expires_at timestamptz,
    ADD COLUMN used_at timestamptz;
COMMENT ON COLUMN api_keys.used_at IS 'to the minute: it is not written at every request';

-- What a key opens now; no row where it opens nothing, or no longer.
CREATE FUNCTION opened_by_key(hashed text)
RETURNS TABLE (id bigint, tenant text, scopes text[])
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT k.id, k.tenant_id, k.scopes FROM api_keys k
    WHERE k.key_hash = hashed AND k.revoked_at IS NULL
        AND (k.expires_at IS NULL OR k.expires_at > now())
$$;

-- The same for a server of version 6 or earlier, which knows no scopes and may still be running
-- during an upgrade: to it a key opens all or nothing.
CREATE OR REPLACE FUNCTION tenant_of_key(hashed text) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT k.tenant FROM opened_by_key(hashed) k
    WHERE k.scopes @> '{ask,read,write,admin}'
$$;
REVOKE ALL ON FUNCTION opened_by_key FROM PUBLIC;

-- Who changed what, which key came from where, and who was refused; no text, no question
-- (helix/library/audit.py). Like api_keys it has no policy: helix_app sees none of it.
CREATE TABLE audit_events (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id text        NOT NULL CHECK (tenant_id <> ''),
    at        timestamptz NOT NULL DEFAULT now(),
    kind      text        NOT NULL
              CHECK (kind IN ('write', 'key_use', 'refusal', 'command', 'dropped')),
    key_id    bigint,
    address   text        NOT NULL DEFAULT '',
    action    text        NOT NULL,
    object    text        NOT NULL DEFAULT '',
    status    integer,
    n         bigint      NOT NULL DEFAULT 1 CHECK (n > 0)
);
ALTER TABLE audit_events ENABLE ROW LEVEL SECURITY;
CREATE INDEX audit_events_at ON audit_events (at);
COMMENT ON COLUMN audit_events.tenant_id IS '- where nobody is known: a request without a key';
COMMENT ON COLUMN audit_events.action IS 'method and route, such as DELETE /v1/documents/{document_id}';
COMMENT ON COLUMN audit_events.object IS 'ids of what was changed, or why it was refused';
COMMENT ON COLUMN audit_events.n IS 'how many alike came within the same seconds';

-- What a tenant, a key or an address has used of what is limited by the day (UTC). No policy either.
CREATE TABLE usage_counts (
    tenant_id text   NOT NULL CHECK (tenant_id <> ''),
    subject   text   NOT NULL CHECK (subject <> ''),
    kind      text   NOT NULL CHECK (kind IN ('tokens', 'upload_bytes')),
    day       date   NOT NULL,
    n         bigint NOT NULL CHECK (n >= 0),
    PRIMARY KEY (tenant_id, subject, kind, day)
);
ALTER TABLE usage_counts ENABLE ROW LEVEL SECURITY;
COMMENT ON COLUMN usage_counts.subject IS 'tenant, key and its id, or address and what it is';
