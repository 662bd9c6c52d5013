-- From version 1, the schema of commit 3066d80, which had no version row.

CREATE TABLE schema_version (
    only_row   boolean     PRIMARY KEY DEFAULT true CHECK (only_row),
    version    integer     NOT NULL CHECK (version > 0),
    applied_at timestamptz NOT NULL DEFAULT now()
);

-- Of these comments two named files that have moved, and one was missing.
COMMENT ON COLUMN documents.media IS 'what the bytes are: a name of helix/domain/file_kinds.py';
COMMENT ON COLUMN documents.language IS
    'in which its words are stemmed: english, or simple for not at all';
COMMENT ON COLUMN gate_fits.model IS
    'as helix/retrieval/calibration/model.py writes it; null: none fitted';
