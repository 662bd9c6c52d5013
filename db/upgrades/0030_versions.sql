-- Versions of documents that were replaced, kept for HELIX_KEEP_VERSIONS_DAYS, and read by questions of
-- a moment alone (helix/storage/statements/moments.py). They go with their document.
CREATE TABLE document_versions (
    tenant_id    text        NOT NULL CHECK (tenant_id <> ''),
    document_id  bigint      NOT NULL,
    valid_from   timestamptz NOT NULL,
    valid_to     timestamptz NOT NULL CHECK (valid_to > valid_from),
    title        text        NOT NULL,
    source_uri   text        NOT NULL,
    file_name    text        NOT NULL,
    content_hash text        NOT NULL,
    text         text        NOT NULL,
    media        text        NOT NULL,
    language     text        NOT NULL,
    outline      jsonb       NOT NULL,
    facts        jsonb       NOT NULL,
    names        jsonb       NOT NULL,
    PRIMARY KEY (tenant_id, document_id, valid_to),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);
ALTER TABLE document_versions ENABLE ROW LEVEL SECURITY;
CREATE INDEX document_versions_valid_to ON document_versions (valid_to);
COMMENT ON COLUMN document_versions.names IS 'kind and name of each, as document_names had them';

-- The chunks of such a version, with their ids of then and what BM25 needs of them.
CREATE TABLE chunk_versions (
    tenant_id   text         NOT NULL CHECK (tenant_id <> ''),
    document_id bigint       NOT NULL,
    valid_to    timestamptz  NOT NULL,
    id          bigint       NOT NULL,
    node_id     text         NOT NULL,
    content     text         NOT NULL,
    embedding   vector(1536) NOT NULL,
    metadata_   jsonb        NOT NULL,
    ordinal     integer      NOT NULL,
    start_char  integer,
    end_char    integer,
    length      integer,
    keys        bigint[],
    impacts     sparsevec(1000000000),
    PRIMARY KEY (tenant_id, document_id, valid_to, id),
    FOREIGN KEY (tenant_id, document_id, valid_to)
        REFERENCES document_versions (tenant_id, document_id, valid_to) ON DELETE CASCADE
);
ALTER TABLE chunk_versions ENABLE ROW LEVEL SECURITY;
CREATE INDEX chunk_versions_id ON chunk_versions (tenant_id, id);

-- Where the writer keeps versions (helix.keep_versions): the document as it is replaced, before its
-- chunks are.
CREATE FUNCTION keep_version() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO document_versions (tenant_id, document_id, valid_from, valid_to, title, source_uri,
        file_name, content_hash, text, media, language, outline, facts, names)
    SELECT OLD.tenant_id, OLD.id, OLD.updated_at, NEW.updated_at, OLD.title, OLD.source_uri,
        OLD.file_name, OLD.content_hash, OLD.text, OLD.media, OLD.language, OLD.outline, OLD.facts,
        (SELECT coalesce(jsonb_agg(jsonb_build_object('kind', n.kind, 'name', n.name)), '[]')
         FROM document_names n WHERE (n.tenant_id, n.document_id) = (OLD.tenant_id, OLD.id));
    INSERT INTO chunk_versions (tenant_id, document_id, valid_to, id, node_id, content, embedding,
        metadata_, ordinal, start_char, end_char, length, keys, impacts)
    SELECT c.tenant_id, c.document_id, NEW.updated_at, c.id, c.node_id, c.content, c.embedding,
        c.metadata_, c.ordinal, c.start_char, c.end_char, t.length, t.keys, t.impacts
    FROM chunks c LEFT JOIN chunk_terms t ON t.chunk_id = c.id
    WHERE (c.tenant_id, c.document_id) = (OLD.tenant_id, OLD.id);
    RETURN NULL;
END $$;
CREATE TRIGGER documents_version_kept AFTER UPDATE OF text ON documents FOR EACH ROW
    WHEN (OLD.status = 'ready' AND NEW.updated_at > OLD.updated_at
        AND current_setting('helix.keep_versions', true) = 'on') EXECUTE FUNCTION keep_version();

-- An erasure tells of them too.
CREATE OR REPLACE FUNCTION document_counts(tenant text, document bigint) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT coalesce(jsonb_object_agg(name, n), '{}') FROM (
        SELECT 'documents', count(*) FROM documents WHERE (tenant_id, id) = (tenant, document)
        UNION ALL SELECT 'chunks', count(*) FROM chunks WHERE (tenant_id, document_id) = (tenant, document)
        UNION ALL SELECT 'document_versions', count(*) FROM document_versions
            WHERE (tenant_id, document_id) = (tenant, document)
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

REVOKE ALL ON FUNCTION keep_version FROM PUBLIC;
