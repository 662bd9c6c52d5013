-- Usage of people and keys, and its limits.
-- What people and keys have used, by the day (UTC), the space and the model; no text
-- (docs/usage.md). Like usage_counts it has no policy.
CREATE TABLE usage_days (
    tenant_id      text   NOT NULL CHECK (tenant_id <> ''),
    day            date   NOT NULL,
    person_id      bigint REFERENCES people (id) ON DELETE CASCADE,
    key_id         bigint,
    space_id       bigint,
    model          text   NOT NULL,
    questions      bigint NOT NULL DEFAULT 0 CHECK (questions >= 0),
    refusals       bigint NOT NULL DEFAULT 0 CHECK (refusals >= 0),
    votes_up       bigint NOT NULL DEFAULT 0 CHECK (votes_up >= 0),
    votes_down     bigint NOT NULL DEFAULT 0 CHECK (votes_down >= 0),
    calls          bigint NOT NULL DEFAULT 0 CHECK (calls >= 0),
    unpriced       bigint NOT NULL DEFAULT 0 CHECK (unpriced >= 0),
    input_tokens   bigint NOT NULL DEFAULT 0 CHECK (input_tokens >= 0),
    output_tokens  bigint NOT NULL DEFAULT 0 CHECK (output_tokens >= 0),
    cached_tokens  bigint NOT NULL DEFAULT 0 CHECK (cached_tokens >= 0),
    thought_tokens bigint NOT NULL DEFAULT 0 CHECK (thought_tokens >= 0),
    nano_usd       bigint NOT NULL DEFAULT 0 CHECK (nano_usd >= 0),
    UNIQUE NULLS NOT DISTINCT (tenant_id, day, person_id, key_id, space_id, model)
);
ALTER TABLE usage_days ENABLE ROW LEVEL SECURITY;
CREATE INDEX usage_days_person ON usage_days (person_id);
CREATE INDEX usage_days_day ON usage_days (day);
COMMENT ON COLUMN usage_days.key_id IS 'null: a session; with a person: a token of theirs';
COMMENT ON COLUMN usage_days.space_id IS 'null: all that could be read, or of several spaces';
COMMENT ON COLUMN usage_days.model IS 'its service''s name for it; empty: a question under way';
COMMENT ON COLUMN usage_days.unpriced IS 'of calls, those whose cost nobody knows';
COMMENT ON COLUMN usage_days.nano_usd IS 'the cost of the other calls, in 1e-9 US dollars';

-- The most that a person or a key may use; without either: each member who has no limits of their own.
CREATE TABLE usage_limits (
    tenant_id       text    NOT NULL CHECK (tenant_id <> ''),
    person_id       bigint  REFERENCES people (id) ON DELETE CASCADE,
    key_id          bigint  REFERENCES api_keys (id) ON DELETE CASCADE,
    questions_day   bigint  CHECK (questions_day >= 0),
    questions_month bigint  CHECK (questions_month >= 0),
    tokens_day      bigint  CHECK (tokens_day >= 0),
    tokens_month    bigint  CHECK (tokens_month >= 0),
    cost_usd_day    numeric CHECK (cost_usd_day >= 0),
    cost_usd_month  numeric CHECK (cost_usd_month >= 0),
    UNIQUE NULLS NOT DISTINCT (tenant_id, person_id, key_id),
    CHECK (num_nonnulls(person_id, key_id) < 2)
);
ALTER TABLE usage_limits ENABLE ROW LEVEL SECURITY;
CREATE INDEX usage_limits_person ON usage_limits (person_id);
CREATE INDEX usage_limits_key ON usage_limits (key_id);

-- The limits that hold for somebody: their own, or those of each member, and their key's; null: none.
CREATE FUNCTION limits_of(tenant text, person bigint, key bigint) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT jsonb_agg(to_jsonb(l)) FROM usage_limits l WHERE l.tenant_id = tenant AND (
        l.key_id = key OR l.person_id = person
        OR person IS NOT NULL AND l.person_id IS NULL AND l.key_id IS NULL AND NOT EXISTS (
            SELECT FROM usage_limits o WHERE o.tenant_id = tenant AND o.person_id = person))
$$;
REVOKE ALL ON FUNCTION limits_of FROM PUBLIC;
