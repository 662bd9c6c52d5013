-- Printed pages, tables, other sources, and what documents say of themselves. Pages and tables of
-- what is stored come with its next ingestion: the recipe of the readers has changed.

ALTER TABLE documents
    ADD COLUMN file_name text  NOT NULL DEFAULT '',
    ADD COLUMN facts     jsonb NOT NULL DEFAULT '{}',
    ADD COLUMN edits     jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN documents.file_name IS 'of the source, without its folders; empty: not known';
COMMENT ON COLUMN documents.facts IS
    'what the document says of itself: company, period, kind and the like';
COMMENT ON COLUMN documents.edits IS
    'what people changed: title, file_name, facts; it stays when the source is read again';
UPDATE documents SET file_name = regexp_replace(source_uri, '^.*[/\\]', '')
    WHERE source_uri !~ '^https?://';

-- Where else the bytes of a document came from: an upload of a file that had been ingested by its
-- path, or the other way round, is the same document (docs/decisions/0034).
CREATE TABLE document_sources (
    tenant_id    text        NOT NULL CHECK (tenant_id <> '')
                 DEFAULT coalesce(nullif(current_setting('helix.tenant', true), ''), 'default'),
    source_uri   text        NOT NULL CHECK (source_uri <> ''),
    document_id  bigint      NOT NULL,
    content_hash text        NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, source_uri),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);
ALTER TABLE document_sources ENABLE ROW LEVEL SECURITY;
CREATE INDEX document_sources_document ON document_sources (tenant_id, document_id);
COMMENT ON COLUMN document_sources.source_uri IS 'not the one that documents.source_uri is';
COMMENT ON COLUMN document_sources.content_hash IS 'of the bytes that came from there';

-- The printed pages of a PDF: their sizes in points, as shown, and where each word is.
CREATE TABLE document_pages (
    tenant_id   text    NOT NULL CHECK (tenant_id <> '')
                DEFAULT coalesce(nullif(current_setting('helix.tenant', true), ''), 'default'),
    document_id bigint  NOT NULL,
    number      integer NOT NULL CHECK (number > 0),
    label       text    NOT NULL DEFAULT '',
    width       real    NOT NULL CHECK (width > 0),
    height      real    NOT NULL CHECK (height > 0),
    start_char  integer NOT NULL CHECK (start_char >= 0),
    end_char    integer NOT NULL CHECK (end_char >= start_char),
    first_word  integer,
    last_word   integer CHECK (last_word >= first_word),
    furniture   jsonb   NOT NULL DEFAULT '[]',
    words       bytea   NOT NULL DEFAULT '',
    PRIMARY KEY (tenant_id, document_id, number),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);
-- words are compressed already
ALTER TABLE document_pages ALTER COLUMN words SET STORAGE EXTERNAL;
ALTER TABLE document_pages ENABLE ROW LEVEL SECURITY;
COMMENT ON COLUMN document_pages.label IS 'the page number that is printed on it; may be empty';
COMMENT ON COLUMN document_pages.start_char IS 'of documents.text, as end_char; they are half-open';
COMMENT ON COLUMN document_pages.first_word IS
    'least start of its words, null where it has none; a repeated header maps to its place as well';
COMMENT ON COLUMN document_pages.last_word IS 'largest end of its words';
COMMENT ON COLUMN document_pages.furniture IS
    'running headers, footers and page numbers, which documents.text is without';
COMMENT ON COLUMN document_pages.words IS
    'zlib of pack_words (helix/domain/pages.py): a span of documents.text and a rectangle each';

-- The tables of a document, cell by cell; each cell is a span of documents.text.
CREATE TABLE document_tables (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id    text    NOT NULL CHECK (tenant_id <> '')
                 DEFAULT coalesce(nullif(current_setting('helix.tenant', true), ''), 'default'),
    document_id  bigint  NOT NULL,
    ordinal      integer NOT NULL CHECK (ordinal >= 0),
    start_char   integer NOT NULL CHECK (start_char >= 0),
    end_char     integer NOT NULL CHECK (end_char >= start_char),
    page         integer CHECK (page > 0),
    caption      text    NOT NULL DEFAULT '',
    units        text    NOT NULL DEFAULT '',
    row_paths    jsonb   NOT NULL DEFAULT '[]',
    column_paths jsonb   NOT NULL DEFAULT '[]',
    cells        jsonb   NOT NULL DEFAULT '[]',
    UNIQUE (tenant_id, document_id, ordinal),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);
ALTER TABLE document_tables ENABLE ROW LEVEL SECURITY;
COMMENT ON COLUMN document_tables.page IS 'that it begins on, where its format has pages';
COMMENT ON COLUMN document_tables.units IS 'the scale of its numbers as printed ("in millions")';
COMMENT ON COLUMN document_tables.row_paths IS 'headers of each row from the outermost inwards';
COMMENT ON COLUMN document_tables.cells IS
    '[row, column, start, end] of each cell that is not empty; rows and columns count from 0';

-- Questions that a tenant's documents suggest, each asked once when they changed.
CREATE TABLE suggested_questions (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id    text    NOT NULL CHECK (tenant_id <> '')
                 DEFAULT coalesce(nullif(current_setting('helix.tenant', true), ''), 'default'),
    document_id  bigint  NOT NULL,
    question     text    NOT NULL CHECK (question <> ''),
    is_supported boolean NOT NULL,
    library      text    NOT NULL,
    UNIQUE (tenant_id, question),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);
ALTER TABLE suggested_questions ENABLE ROW LEVEL SECURITY;
CREATE INDEX suggested_questions_document ON suggested_questions (tenant_id, document_id);
COMMENT ON COLUMN suggested_questions.document_id IS 'that suggested it';
COMMENT ON COLUMN suggested_questions.is_supported IS
    'every statement of its answer was; the others are kept so as not to be asked again';
COMMENT ON COLUMN suggested_questions.library IS
    'the tenant''s documents when it was asked: how many, and the last change of one';

-- What questions may call a document: its company, authors, title, file, periods and identifiers,
-- in folded words (helix/domain/names.py), and its facts of a few values to narrow a search by.
CREATE TABLE document_names (
    tenant_id   text   NOT NULL CHECK (tenant_id <> '')
                DEFAULT coalesce(nullif(current_setting('helix.tenant', true), ''), 'default'),
    document_id bigint NOT NULL,
    kind        text   NOT NULL,
    name        text   NOT NULL CHECK (name <> ''),
    PRIMARY KEY (tenant_id, document_id, kind, name),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);
ALTER TABLE document_names ENABLE ROW LEVEL SECURITY;
CREATE INDEX document_names_name ON document_names (tenant_id, name, kind, document_id);
