"""Usage of people and keys by the day, and its limits; all with the owner's rights."""

from helix.storage.statements import compose

# Servers add what each has counted. Of a person who was erased meanwhile nothing is kept. A
# question that is taken back may have been deleted with its row: no count goes below 0.
ADD = """
INSERT INTO usage_days AS u (tenant_id, day, person_id, key_id, space_id, model, questions,
    refusals, votes_up, votes_down, calls, unpriced, input_tokens, output_tokens, cached_tokens,
    thought_tokens, nano_usd)
SELECT %(tenant)s, %(day)s, %(person)s, %(key)s, %(space)s, %(model)s,
    greatest(%(questions)s, 0), %(refusals)s, %(votes_up)s, %(votes_down)s, %(calls)s, %(unpriced)s,
    %(input_tokens)s, %(output_tokens)s, %(cached_tokens)s, %(thought_tokens)s, %(nano_usd)s
WHERE %(person)s::bigint IS NULL OR EXISTS (SELECT FROM people WHERE id = %(person)s)
ON CONFLICT (tenant_id, day, person_id, key_id, space_id, model) DO UPDATE SET
    questions = greatest(u.questions + %(questions)s, 0), refusals = u.refusals + excluded.refusals,
    votes_up = u.votes_up + excluded.votes_up, votes_down = u.votes_down + excluded.votes_down,
    calls = u.calls + excluded.calls, unpriced = u.unpriced + excluded.unpriced,
    input_tokens = u.input_tokens + excluded.input_tokens,
    output_tokens = u.output_tokens + excluded.output_tokens,
    cached_tokens = u.cached_tokens + excluded.cached_tokens,
    thought_tokens = u.thought_tokens + excluded.thought_tokens,
    nano_usd = u.nano_usd + excluded.nano_usd
"""

# A question under way leaves a row of zeros once its model is known.
DELETE_EMPTY = """
DELETE FROM usage_days WHERE day < %(before)s AND (questions, refusals, votes_up, votes_down, calls)
    = (0, 0, 0, 0, 0)
"""

# The running month is kept for the limits, whatever the setting.
DELETE_OLD = "DELETE FROM usage_days WHERE day < %(before)s"

# One after the other for each holder of a limit: of two the second sees what the first took.
LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%(holder)s, 25))"

# By a person, whatever the key, or by one key; thoughts cost as answers do.
USED = """
SELECT coalesce(sum(questions) FILTER (WHERE day = %(day)s), 0)::bigint AS questions_day,
    coalesce(sum(questions), 0)::bigint AS questions_month,
    coalesce(sum(input_tokens + output_tokens + thought_tokens) FILTER (WHERE day = %(day)s), 0)
        ::bigint AS tokens_day,
    coalesce(sum(input_tokens + output_tokens + thought_tokens), 0)::bigint AS tokens_month,
    coalesce(sum(nano_usd) FILTER (WHERE day = %(day)s), 0)::bigint AS nano_usd_day,
    coalesce(sum(nano_usd), 0)::bigint AS nano_usd_month
FROM usage_days
WHERE tenant_id = %(tenant)s AND day BETWEEN date_trunc('month', %(day)s::date)::date AND %(day)s
    AND (person_id = %(person)s OR %(person)s::bigint IS NULL AND key_id = %(key)s)
"""

# Fragment: the sums of a group of rows.
SUMS = ", ".join(
    f"sum({name})::bigint AS {name}"
    for name in (
        "questions", "refusals", "votes_up", "votes_down", "calls", "unpriced", "input_tokens",
        "output_tokens", "cached_tokens", "thought_tokens", "nano_usd",
    )
)  # fmt: skip

# By whatever is asked for; a key that is nobody's token stands where its person would.
REPORT = compose(
    """
WITH grouped AS (
    SELECT CASE WHEN %(by_who)s THEN person_id END AS person_id,
        CASE WHEN %(by_key)s OR %(by_who)s AND person_id IS NULL THEN key_id END AS key_id,
        CASE WHEN %(by_space)s THEN space_id END AS space_id,
        CASE WHEN %(by_model)s THEN model END AS model, CASE WHEN %(by_day)s THEN day END AS day,
        {sums}
    FROM usage_days
    WHERE tenant_id = %(tenant)s AND day BETWEEN %(first)s AND %(last)s
        AND (%(person)s::bigint IS NULL OR person_id = %(person)s)
        AND (%(key)s::bigint IS NULL OR key_id = %(key)s)
    GROUP BY 1, 2, 3, 4, 5)
SELECT g.person_id, coalesce(nullif(p.name, ''), p.email) AS person, p.email, g.key_id,
    k.name AS key, g.space_id,
    CASE WHEN g.space_id = 0 THEN coalesce(s.name, 'Library') ELSE s.name END AS space,
    g.model, g.day, g.questions, g.refusals, g.votes_up, g.votes_down, g.calls, g.unpriced,
    g.input_tokens, g.output_tokens, g.cached_tokens, g.thought_tokens, g.nano_usd
FROM grouped g LEFT JOIN people p ON p.id = g.person_id
    LEFT JOIN api_keys k ON k.id = g.key_id AND k.tenant_id = %(tenant)s
    LEFT JOIN spaces s ON s.tenant_id = %(tenant)s AND s.id = g.space_id
WHERE (g.questions, g.refusals, g.votes_up, g.votes_down, g.calls) <> (0, 0, 0, 0, 0)
ORDER BY g.day, g.nano_usd DESC, g.questions DESC, person, g.key_id, g.space_id, g.model
""",
    sums=SUMS,
)

# Those of a tenant, with the names of their holders.
LIMITS = """
SELECT l.person_id, coalesce(nullif(p.name, ''), p.email) AS person, p.email, l.key_id,
    k.name AS key, l.questions_day, l.questions_month, l.tokens_day, l.tokens_month,
    l.cost_usd_day::float8 AS cost_usd_day, l.cost_usd_month::float8 AS cost_usd_month
FROM usage_limits l LEFT JOIN people p ON p.id = l.person_id LEFT JOIN api_keys k ON k.id = l.key_id
WHERE l.tenant_id = %(tenant)s ORDER BY p.email NULLS FIRST, l.key_id NULLS FIRST
"""

# Whom limits can be drawn for: members, and keys that are nobody's token.
HOLDERS = """
SELECT p.id AS person_id, coalesce(nullif(p.name, ''), p.email) AS person, p.email,
    NULL::bigint AS key_id, NULL AS key
FROM members m JOIN people p ON p.id = m.person_id WHERE m.tenant_id = %(tenant)s
UNION ALL SELECT NULL, NULL, NULL, id, name FROM api_keys
WHERE tenant_id = %(tenant)s AND person_id IS NULL AND revoked_at IS NULL
ORDER BY person, key_id
"""

# Those that hold for one person or key.
LIMITS_OF = "SELECT limits_of(%(tenant)s, %(person)s, %(key)s) AS limits"

# A member of the tenant, or a key of it that is nobody's token; none of either: everybody.
HOLDER = """
SELECT CASE WHEN %(person)s::bigint IS NOT NULL THEN EXISTS (
        SELECT FROM members WHERE tenant_id = %(tenant)s AND person_id = %(person)s)
    WHEN %(key)s::bigint IS NOT NULL THEN EXISTS (
        SELECT FROM api_keys WHERE tenant_id = %(tenant)s AND id = %(key)s)
    ELSE true END
"""

# All six at once: what is not named has no limit.
SET_LIMITS = """
INSERT INTO usage_limits (tenant_id, person_id, key_id, questions_day, questions_month, tokens_day,
    tokens_month, cost_usd_day, cost_usd_month)
VALUES (%(tenant)s, %(person)s, %(key)s, %(questions_day)s, %(questions_month)s, %(tokens_day)s,
    %(tokens_month)s, %(cost_usd_day)s, %(cost_usd_month)s)
ON CONFLICT (tenant_id, person_id, key_id) DO UPDATE SET
    questions_day = excluded.questions_day, questions_month = excluded.questions_month,
    tokens_day = excluded.tokens_day, tokens_month = excluded.tokens_month,
    cost_usd_day = excluded.cost_usd_day, cost_usd_month = excluded.cost_usd_month
"""

# Of a person: those of everybody hold again.
DELETE_LIMITS = """
DELETE FROM usage_limits WHERE tenant_id = %(tenant)s
    AND person_id IS NOT DISTINCT FROM %(person)s AND key_id IS NOT DISTINCT FROM %(key)s
"""
