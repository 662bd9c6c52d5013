-- Which model answers: of a tenant's questions, and of a conversation's.
CREATE TABLE tenant_settings (
    tenant_id text NOT NULL PRIMARY KEY CHECK (tenant_id <> '')
              DEFAULT coalesce(nullif(current_setting('helix.tenant', true), ''), 'default'),
    model     text NOT NULL
);
ALTER TABLE tenant_settings ENABLE ROW LEVEL SECURITY;
COMMENT ON COLUMN tenant_settings.model IS
    'the name of the model that answers where a question chooses none; empty: that of HELIX_LLM';

ALTER TABLE conversations ADD COLUMN model text NOT NULL DEFAULT '';
COMMENT ON COLUMN conversations.model IS
    'the name of the model that answers its questions; empty: the tenant''s';
