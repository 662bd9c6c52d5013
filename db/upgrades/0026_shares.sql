-- Answers and conversations shared with people, groups, the tenant or by a public link; comments.
-- Answers and conversations that a person shows to others of the tenant: a conversation's active
-- path, or one message of it. Like members, none of these has a policy
-- (docs/decisions/0094-sharing.md).
CREATE TABLE shares (
    tenant_id       text        NOT NULL CHECK (tenant_id <> ''),
    id              text        NOT NULL CHECK (id ~ '^[0-9a-f]{32}$'),
    person_id       bigint      NOT NULL,
    conversation_id text        NOT NULL,
    message_id      bigint,
    everyone        boolean     NOT NULL DEFAULT false,
    words           boolean     NOT NULL DEFAULT false,
    created_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    UNIQUE NULLS NOT DISTINCT (tenant_id, conversation_id, message_id, person_id),
    FOREIGN KEY (tenant_id, person_id) REFERENCES members (tenant_id, person_id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id)
        ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, conversation_id, message_id)
        REFERENCES messages (tenant_id, conversation_id, id) ON DELETE CASCADE
);
ALTER TABLE shares ENABLE ROW LEVEL SECURITY;
CREATE INDEX shares_person ON shares (tenant_id, person_id);
COMMENT ON COLUMN shares.person_id IS 'whose conversation it is, by whose rights its words are read';
COMMENT ON COLUMN shares.message_id IS 'null: the whole conversation';
COMMENT ON COLUMN shares.everyone IS 'true: every member of the tenant reads it';
COMMENT ON COLUMN shares.words IS
    'true: its answers are shown to whoever may not read all that they were made of, without sources';

CREATE TABLE share_readers (
    tenant_id text   NOT NULL CHECK (tenant_id <> ''),
    share_id  text   NOT NULL,
    person_id bigint,
    group_id  bigint,
    UNIQUE (tenant_id, share_id, person_id),
    UNIQUE (tenant_id, share_id, group_id),
    FOREIGN KEY (tenant_id, share_id) REFERENCES shares (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, person_id) REFERENCES members (tenant_id, person_id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, group_id) REFERENCES groups (tenant_id, id) ON DELETE CASCADE,
    CHECK (num_nonnulls(person_id, group_id) = 1)
);
ALTER TABLE share_readers ENABLE ROW LEVEL SECURITY;
CREATE INDEX share_readers_person ON share_readers (tenant_id, person_id);
CREATE INDEX share_readers_group ON share_readers (tenant_id, group_id);

-- Public links, each to one answer. A token has 256 random bits, as a key has.
CREATE TABLE share_links (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id  text        NOT NULL CHECK (tenant_id <> ''),
    share_id   text        NOT NULL,
    token_hash text        NOT NULL UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    FOREIGN KEY (tenant_id, share_id) REFERENCES shares (tenant_id, id) ON DELETE CASCADE
);
ALTER TABLE share_links ENABLE ROW LEVEL SECURITY;
CREATE INDEX share_links_share ON share_links (tenant_id, share_id);
COMMENT ON COLUMN share_links.token_hash IS 'SHA-256 of the token, in hex';

-- What readers of a share say of an answer; it goes with the share.
CREATE TABLE comments (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id  text        NOT NULL CHECK (tenant_id <> ''),
    share_id   text        NOT NULL,
    message_id bigint      NOT NULL,
    person_id  bigint      NOT NULL,
    text       text        NOT NULL CHECK (text <> ''),
    created_at timestamptz NOT NULL DEFAULT now(),
    edited_at  timestamptz,
    FOREIGN KEY (tenant_id, share_id) REFERENCES shares (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, person_id) REFERENCES members (tenant_id, person_id) ON DELETE CASCADE
);
ALTER TABLE comments ENABLE ROW LEVEL SECURITY;
CREATE INDEX comments_share ON comments (tenant_id, share_id, id);
CREATE INDEX comments_person ON comments (tenant_id, person_id);
COMMENT ON COLUMN comments.message_id IS 'the answer that it is about, of the share''s conversation';
