-- Metadata of one's own: of each document, of a file that is brought in, and where conditions look.
ALTER TABLE documents ADD COLUMN metadata jsonb NOT NULL DEFAULT '{}'
    CHECK (jsonb_typeof(metadata) = 'object');
COMMENT ON COLUMN documents.metadata IS
    'values by key, as helix/domain/metadata.py has them; searched by document_values';
COMMENT ON COLUMN documents.edits IS
    'what people changed: title, file_name, facts, metadata; given: metadata that came with the source';
ALTER TABLE run_files ADD COLUMN metadata jsonb;
COMMENT ON COLUMN run_files.metadata IS 'for its document, beside what that has; null: none';

-- Each value of documents.metadata, typed, for conditions and orders. A table and no index over the
-- jsonb: under row-level security `@>` may not be looked up in one (docs/decisions/0090-metadata.md).
CREATE TABLE document_values (
    tenant_id    text    NOT NULL CHECK (tenant_id <> '')
                 DEFAULT coalesce(nullif(current_setting('helix.tenant', true), ''), 'default'),
    document_id  bigint  NOT NULL,
    key          text    NOT NULL CHECK (key <> ''),
    n            integer NOT NULL CHECK (n > 0),
    text_value   text    COLLATE "C",
    number_value float8,
    date_value   timestamptz,
    PRIMARY KEY (tenant_id, key, document_id, n),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT document_values_one CHECK (num_nonnulls(text_value, number_value, date_value) = 1)
);
ALTER TABLE document_values ENABLE ROW LEVEL SECURITY;
CREATE INDEX document_values_document ON document_values (tenant_id, document_id);
CREATE INDEX document_values_text ON document_values (tenant_id, key, text_value, document_id)
    WHERE text_value IS NOT NULL;
CREATE INDEX document_values_number ON document_values (tenant_id, key, number_value, document_id)
    WHERE number_value IS NOT NULL;
CREATE INDEX document_values_date ON document_values (tenant_id, key, date_value, document_id)
    WHERE date_value IS NOT NULL;
COMMENT ON COLUMN document_values.n IS 'of the items of a list, from 1; 1 where it is none';
COMMENT ON COLUMN document_values.date_value IS 'of a day its first moment in UTC';

CREATE FUNCTION index_metadata() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM document_values WHERE tenant_id = NEW.tenant_id AND document_id = NEW.id;
    INSERT INTO document_values (tenant_id, document_id, key, n, text_value, number_value, date_value)
    SELECT NEW.tenant_id, NEW.id, key, n,
           CASE WHEN NOT is_number AND NOT is_date THEN told END,
           CASE WHEN is_number THEN told::float8 END,
           CASE WHEN is_date THEN (told || CASE WHEN told LIKE '%Z' THEN '' ELSE 'T00:00Z' END)::timestamptz END
    FROM (
        SELECT entry.key, item.n, jsonb_typeof(item.value) = 'number' AS is_number,
               jsonb_typeof(item.value) = 'string'
                   AND item.value #>> '{}' ~ '^\d{4}-\d\d-\d\d(T[\d:.]{8,15}Z)?$' AS is_date,
               CASE jsonb_typeof(item.value) WHEN 'object' THEN item.value ->> 'text'
                    ELSE item.value #>> '{}' END AS told
        FROM jsonb_each(NEW.metadata) AS entry (key, value)
        CROSS JOIN LATERAL jsonb_array_elements(
            CASE jsonb_typeof(entry.value) WHEN 'array' THEN entry.value
                 ELSE jsonb_build_array(entry.value) END) WITH ORDINALITY AS item (value, n)
    ) told;
    RETURN NULL;
END $$;
CREATE TRIGGER documents_metadata_added AFTER INSERT ON documents
    FOR EACH ROW WHEN (NEW.metadata <> '{}') EXECUTE FUNCTION index_metadata();
CREATE TRIGGER documents_metadata_changed AFTER UPDATE OF metadata ON documents
    FOR EACH ROW WHEN (OLD.metadata <> NEW.metadata) EXECUTE FUNCTION index_metadata();
