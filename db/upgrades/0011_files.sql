-- The bytes of a file may be an object of a bucket instead of in its row.
ALTER TABLE files ALTER COLUMN size DROP EXPRESSION;
ALTER TABLE files
    ALTER COLUMN size SET NOT NULL,
    ALTER COLUMN data DROP NOT NULL,
    ADD COLUMN place text CHECK (place <> ''),
    ADD CONSTRAINT files_kept_once CHECK ((data IS NULL) <> (place IS NULL)),
    ADD CONSTRAINT files_size CHECK (size = octet_length(data));
CREATE UNIQUE INDEX files_place ON files (place) WHERE place IS NOT NULL;
CREATE INDEX files_in_rows ON files (created_at) WHERE data IS NOT NULL;
COMMENT ON COLUMN files.content_hash IS 'SHA-256 of the bytes, in hex';
COMMENT ON COLUMN files.place IS 'the object with the bytes, s3://bucket/key; null: they are in data';

-- Objects that no row of `files` names: about to be put and not taken up yet, or let go of. One that
-- is due is deleted (helix/storage/file_moves.py), so none is lost track of, whoever dies when.
CREATE TABLE loose_objects (
    place        text        PRIMARY KEY CHECK (place <> ''),
    tenant_id    text        NOT NULL CHECK (tenant_id <> '')
                 DEFAULT coalesce(nullif(current_setting('helix.tenant', true), ''), 'default'),
    content_hash text        NOT NULL,
    due_at       timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE loose_objects ENABLE ROW LEVEL SECURITY;
CREATE INDEX loose_objects_due ON loose_objects (due_at);
CREATE INDEX loose_objects_file ON loose_objects (tenant_id, content_hash);

CREATE FUNCTION let_go_of_object() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO loose_objects (place, tenant_id, content_hash)
        VALUES (OLD.place, OLD.tenant_id, OLD.content_hash);
    RETURN NULL;
END $$;
CREATE TRIGGER files_object_let_go AFTER DELETE ON files
    FOR EACH ROW WHEN (OLD.place IS NOT NULL) EXECUTE FUNCTION let_go_of_object();
