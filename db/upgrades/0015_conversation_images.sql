-- Images that questions of a conversation are about, each once: `id` is SHA-256 of `data`, in hex.
CREATE TABLE conversation_images (
    tenant_id       text        NOT NULL CHECK (tenant_id <> '')
                    DEFAULT coalesce(nullif(current_setting('helix.tenant', true), ''), 'default'),
    conversation_id text        NOT NULL,
    id              text        NOT NULL CHECK (id ~ '^[0-9a-f]{64}$'),
    name            text        NOT NULL,
    media           text        NOT NULL CHECK (media LIKE 'image/%'),
    data            bytea       NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, conversation_id, id),
    FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id)
        ON DELETE CASCADE
);
ALTER TABLE conversation_images ENABLE ROW LEVEL SECURITY;
ALTER TABLE conversation_images ALTER data SET STORAGE EXTERNAL;
COMMENT ON COLUMN conversation_images.media IS 'the MIME type, by its bytes';
COMMENT ON COLUMN messages.attachments IS
    'the images that the question is about: id, name, media and bytes of each';
