-- What is known of deleted documents, for the marks of answers that rested on them and for records of
-- erasure; and the backups that still have them. Of documents deleted before there is no row.
CREATE TABLE removals (
    tenant_id   text        NOT NULL CHECK (tenant_id <> '')
                DEFAULT coalesce(nullif(current_setting('helix.tenant', true), ''), 'default'),
    document_id bigint      NOT NULL,
    spaces      bigint[]    NOT NULL,
    added_at    timestamptz NOT NULL,
    removed_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    text_sha256 text        NOT NULL,
    file_sha256 text        NOT NULL,
    characters  integer     NOT NULL,
    counts      jsonb       NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant_id, document_id)
);
ALTER TABLE removals ENABLE ROW LEVEL SECURITY;
CREATE INDEX removals_removed_at ON removals (removed_at);
COMMENT ON COLUMN removals.spaces IS 'in which it stood: whoever may not read any of them sees no row';

CREATE FUNCTION record_removals() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO removals (tenant_id, document_id, spaces, added_at, text_sha256, file_sha256, characters)
    SELECT tenant_id, id, spaces, created_at, encode(sha256(convert_to(text, 'UTF8')), 'hex'),
        content_hash, char_length(text) FROM gone
    ON CONFLICT (tenant_id, document_id) DO UPDATE SET spaces = excluded.spaces,
        added_at = excluded.added_at, removed_at = excluded.removed_at,
        text_sha256 = excluded.text_sha256, file_sha256 = excluded.file_sha256,
        characters = excluded.characters, counts = '{}';
    RETURN NULL;
END $$;
CREATE TRIGGER documents_removed AFTER DELETE ON documents
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION record_removals();

-- Backups that `helix backup` wrote: what was deleted since is still in them. Nobody's rows.
CREATE TABLE backups (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    file       text        NOT NULL CHECK (file <> ''),
    made_at    timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    gone_at    timestamptz
);
COMMENT ON COLUMN backups.file IS 'its name, without its folder';
COMMENT ON COLUMN backups.expires_at IS 'when whoever made it means to delete it; null: not told';

-- An answer that follows others may have words of what they rested on.
CREATE OR REPLACE FUNCTION response_without(response jsonb, gone bigint[]) RETURNS jsonb
LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT without_documents(response, gone) || '{"closest": null, "suggested_scope": null,
        "reason_text": null}' || CASE WHEN jsonb_typeof(response -> 'turn') = 'object'
            THEN jsonb_build_object('turn', response -> 'turn'
                || '{"understood_as": null, "from_history": []}')
            ELSE '{}' END
$$;

-- How many rows of which table hold something of a document, before it is deleted. With the owner's
-- rights, for under row-level security an array may not be looked up in its index.
CREATE FUNCTION document_counts(tenant text, document bigint) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT coalesce(jsonb_object_agg(name, n), '{}') FROM (
        SELECT 'documents', count(*) FROM documents WHERE (tenant_id, id) = (tenant, document)
        UNION ALL SELECT 'chunks', count(*) FROM chunks WHERE (tenant_id, document_id) = (tenant, document)
        UNION ALL SELECT 'document_sources', count(*) FROM document_sources
            WHERE (tenant_id, document_id) = (tenant, document)
        UNION ALL SELECT 'document_pages', count(*) FROM document_pages
            WHERE (tenant_id, document_id) = (tenant, document)
        UNION ALL SELECT 'document_tables', count(*) FROM document_tables
            WHERE (tenant_id, document_id) = (tenant, document)
        UNION ALL SELECT 'document_names', count(*) FROM document_names
            WHERE (tenant_id, document_id) = (tenant, document)
        UNION ALL SELECT 'document_values', count(*) FROM document_values
            WHERE (tenant_id, document_id) = (tenant, document)
        UNION ALL SELECT 'suggested_questions', count(*) FROM suggested_questions
            WHERE (tenant_id, document_id) = (tenant, document)
        UNION ALL SELECT 'study_items', count(DISTINCT item_id) FROM study_sources
            WHERE (tenant_id, document_id) = (tenant, document)
        UNION ALL SELECT 'run_files', count(*) FROM run_files
            WHERE (tenant_id, document_id) = (tenant, document)
        UNION ALL SELECT 'answers', count(*) FROM answers
            WHERE tenant_id = tenant AND document_ids @> ARRAY[document]
        UNION ALL SELECT 'messages', count(*) FROM messages
            WHERE tenant_id = tenant AND document_ids @> ARRAY[document]
    ) counted (name, n)
    WHERE n > 0 AND tenant = coalesce(nullif(current_setting('helix.tenant', true), ''), tenant)
$$;

REVOKE ALL ON FUNCTION record_removals, document_counts FROM PUBLIC;
