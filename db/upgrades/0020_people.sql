-- People, with their roles and groups in tenants, sessions and invitations; keys of a person.

-- Persons of the server, whatever the tenants that they are members of. None of these tables has a
-- policy: helix_app sees none of them, but by the functions below.
CREATE TABLE people (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    email         text        NOT NULL UNIQUE CHECK (email <> '' AND email = lower(email)),
    name          text        NOT NULL DEFAULT '',
    password_hash text,
    created_at    timestamptz NOT NULL DEFAULT now(),
    disabled_at   timestamptz
);
ALTER TABLE people ENABLE ROW LEVEL SECURITY;
COMMENT ON COLUMN people.password_hash IS
    'argon2id, with its parameters; null: no password opens the account';

-- Who somebody is at a provider of OpenID Connect: its subject stays, an address may change hands.
CREATE TABLE identities (
    issuer     text        NOT NULL CHECK (issuer <> ''),
    subject    text        NOT NULL CHECK (subject <> ''),
    person_id  bigint      NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (issuer, subject)
);
ALTER TABLE identities ENABLE ROW LEVEL SECURITY;
CREATE INDEX identities_person ON identities (person_id);
COMMENT ON COLUMN identities.issuer IS 'a provider''s, or proxy: told by a trusted proxy';

CREATE TABLE members (
    tenant_id text        NOT NULL CHECK (tenant_id <> ''),
    person_id bigint      NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    role      text        NOT NULL CHECK (role IN ('owner', 'editor', 'reader')),
    added_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, person_id)
);
ALTER TABLE members ENABLE ROW LEVEL SECURITY;
CREATE INDEX members_person ON members (person_id);
COMMENT ON COLUMN members.role IS 'a set of scopes (helix/serving/key_scopes.py)';

CREATE TABLE groups (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id  text        NOT NULL CHECK (tenant_id <> ''),
    name       text        NOT NULL CHECK (name <> ''),
    source     text        NOT NULL DEFAULT 'local' CHECK (source <> ''),
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (tenant_id, id),
    UNIQUE (tenant_id, source, name)
);
ALTER TABLE groups ENABLE ROW LEVEL SECURITY;
COMMENT ON COLUMN groups.source IS
    'local: its members are chosen by hand; else the issuer whose claim says who they are';

-- Nobody is in a group of a tenant that they are no member of.
CREATE TABLE group_members (
    tenant_id text   NOT NULL CHECK (tenant_id <> ''),
    group_id  bigint NOT NULL,
    person_id bigint NOT NULL,
    PRIMARY KEY (tenant_id, group_id, person_id),
    FOREIGN KEY (tenant_id, group_id) REFERENCES groups (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, person_id) REFERENCES members (tenant_id, person_id) ON DELETE CASCADE
);
ALTER TABLE group_members ENABLE ROW LEVEL SECURITY;
CREATE INDEX group_members_person ON group_members (tenant_id, person_id);

-- A browser that somebody signed in with. Its token has 256 random bits, as a key has.
CREATE TABLE sessions (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    token_hash text        NOT NULL UNIQUE,
    tenant_id  text        NOT NULL CHECK (tenant_id <> ''),
    person_id  bigint      NOT NULL,
    csrf       text        NOT NULL CHECK (csrf <> ''),
    method     text        NOT NULL CHECK (method <> ''),
    id_token   text        NOT NULL DEFAULT '',
    address    text        NOT NULL DEFAULT '',
    client     text        NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now(),
    used_at    timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz,
    FOREIGN KEY (tenant_id, person_id) REFERENCES members (tenant_id, person_id) ON DELETE CASCADE
);
ALTER TABLE sessions ENABLE ROW LEVEL SECURITY;
CREATE INDEX sessions_person ON sessions (person_id);
CREATE INDEX sessions_member ON sessions (tenant_id, person_id);
CREATE INDEX sessions_end ON sessions (expires_at);
COMMENT ON COLUMN sessions.token_hash IS 'SHA-256 of the cookie''s token, in hex';
COMMENT ON COLUMN sessions.tenant_id IS 'whose documents it opens now, of those of the person';
COMMENT ON COLUMN sessions.method IS 'password, link, or the issuer that said who it is';
COMMENT ON COLUMN sessions.id_token IS 'of the provider, which is given it back at signing out';
COMMENT ON COLUMN sessions.client IS 'the browser''s name, for people to tell sessions apart';
COMMENT ON COLUMN sessions.used_at IS 'to the minute: it is not written at every request';

-- A link that makes an account, or sets the password of one; it opens something once.
CREATE TABLE invitations (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    token_hash text        NOT NULL UNIQUE,
    tenant_id  text        NOT NULL CHECK (tenant_id <> ''),
    email      text        NOT NULL DEFAULT '' CHECK (email = lower(email)),
    role       text        NOT NULL CHECK (role IN ('owner', 'editor', 'reader')),
    person_id  bigint      REFERENCES people (id) ON DELETE CASCADE,
    created_by bigint      REFERENCES people (id) ON DELETE SET NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    used_at    timestamptz
);
ALTER TABLE invitations ENABLE ROW LEVEL SECURITY;
CREATE INDEX invitations_tenant ON invitations (tenant_id, id);
CREATE INDEX invitations_person ON invitations (person_id);
CREATE INDEX invitations_author ON invitations (created_by);
COMMENT ON COLUMN invitations.email IS 'empty: whoever has the link says their own';
COMMENT ON COLUMN invitations.person_id IS 'whose password it sets; null: it makes an account';

ALTER TABLE api_keys
    ADD COLUMN person_id bigint REFERENCES people (id) ON DELETE CASCADE,
    ADD COLUMN space_ids bigint[];
CREATE INDEX api_keys_person ON api_keys (person_id);
COMMENT ON COLUMN api_keys.person_id IS 'whose personal access token it is; null: the tenant''s';
COMMENT ON COLUMN api_keys.space_ids IS 'the only spaces that it opens; null: all that it may';

DROP FUNCTION opened_by_key(text); -- it tells of more columns now
-- What a key opens now; no row where it opens nothing, or no longer. A person's opens what their
-- role in the tenant allows, and nothing once they are disabled or no member.
CREATE FUNCTION opened_by_key(hashed text)
RETURNS TABLE (id bigint, tenant text, scopes text[], name text,
    person_id bigint, role text, space_ids bigint[])
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT k.id, k.tenant_id, k.scopes, k.name, k.person_id, m.role, k.space_ids
    FROM api_keys k LEFT JOIN people p ON p.id = k.person_id AND p.disabled_at IS NULL
        LEFT JOIN members m ON m.tenant_id = k.tenant_id AND m.person_id = p.id
    WHERE k.key_hash = hashed AND k.revoked_at IS NULL
        AND (k.expires_at IS NULL OR k.expires_at > now())
        AND (k.person_id IS NULL OR m.role IS NOT NULL)
$$;

-- What a session opens now; no row where it opens nothing, or no longer. ``idle`` is the longest
-- time that it may be unused.
CREATE FUNCTION opened_by_session(hashed text, idle interval)
RETURNS TABLE (id bigint, tenant text, person_id bigint, role text, name text, email text, csrf text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT s.id, s.tenant_id, s.person_id, m.role, p.name, p.email, s.csrf
    FROM sessions s JOIN members m USING (tenant_id, person_id) JOIN people p ON p.id = s.person_id
    WHERE s.token_hash = hashed AND s.revoked_at IS NULL AND p.disabled_at IS NULL
        AND s.expires_at > now() AND s.used_at + idle > now()
$$;
REVOKE ALL ON FUNCTION opened_by_key, opened_by_session FROM PUBLIC;

ALTER TABLE audit_events ADD COLUMN person_id bigint;
