-- Passkeys of people: a key that an authenticator holds, and opens after it knew its person.
CREATE TABLE passkeys (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    person_id     bigint      NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    name          text        NOT NULL CHECK (name <> ''),
    credential_id bytea       NOT NULL UNIQUE CHECK (length(credential_id) BETWEEN 1 AND 1023),
    public_key    bytea       NOT NULL,
    user_handle   bytea       NOT NULL CHECK (length(user_handle) BETWEEN 1 AND 64),
    sign_count    bigint      NOT NULL CHECK (sign_count >= 0),
    created_at    timestamptz NOT NULL DEFAULT now(),
    used_at       timestamptz
);
ALTER TABLE passkeys ENABLE ROW LEVEL SECURITY;
CREATE INDEX passkeys_person ON passkeys (person_id);
COMMENT ON COLUMN passkeys.public_key IS 'as the authenticator gave it, by COSE';
COMMENT ON COLUMN passkeys.user_handle IS 'random, the same for all passkeys of the person';
COMMENT ON COLUMN passkeys.sign_count IS 'of the last use; 0: the authenticator does not count';

-- What an authenticator is asked to sign, once, for the browser that asked; no state of a process.
CREATE TABLE passkey_challenges (
    challenge    bytea       PRIMARY KEY CHECK (length(challenge) >= 32),
    browser_hash text        NOT NULL,
    person_id    bigint      REFERENCES people (id) ON DELETE CASCADE,
    user_handle  bytea,
    expires_at   timestamptz NOT NULL,
    CHECK ((person_id IS NULL) = (user_handle IS NULL))
);
ALTER TABLE passkey_challenges ENABLE ROW LEVEL SECURITY;
CREATE INDEX passkey_challenges_end ON passkey_challenges (expires_at);
CREATE INDEX passkey_challenges_person ON passkey_challenges (person_id);
COMMENT ON COLUMN passkey_challenges.browser_hash IS 'SHA-256 of a cookie''s secret, in hex';
COMMENT ON COLUMN passkey_challenges.person_id IS 'who adds a passkey; null: somebody signs in';

COMMENT ON COLUMN sessions.method IS 'password, passkey, link, or the issuer that said who it is';
