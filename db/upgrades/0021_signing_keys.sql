-- Answers are signed for strangers, and found by their text.
ALTER TABLE answers ADD COLUMN answer_sha256 text;
CREATE INDEX answers_text ON answers (tenant_id, answer_sha256, created_at)
    WHERE answer_sha256 IS NOT NULL;
COMMENT ON COLUMN answers.answer_sha256 IS
    'of its text, by which one without an id is found; null: of an earlier release';

CREATE TABLE signing_keys (
    id            text        PRIMARY KEY CHECK (id ~ '^[0-9a-f]{16}$'),
    public_key    text        NOT NULL UNIQUE CHECK (public_key ~ '^[0-9a-f]{64}$'),
    first_used_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN signing_keys.id IS 'the beginning of the key''s SHA-256, in hex';
CREATE TABLE signing_secret (
    only_row    boolean     PRIMARY KEY DEFAULT true CHECK (only_row),
    private_key text        NOT NULL CHECK (private_key ~ '^[0-9a-f]{64}$'),
    created_at  timestamptz NOT NULL DEFAULT now()
);
