"""Progress of learners: sessions, counts by the quarter of an hour, totals."""

# Several servers note one learner's actions: sessions that touch would both be kept.
LOCK_LEARNER = "SELECT pg_advisory_xact_lock(hashtextextended(%(key)s, 0))"

# Of a person who was erased nothing is written after. An erasure is known for a day; what a server
# has counted is written sooner.
MAY_BE_KEPT = "SELECT answer_may_be_kept('learner ' || %(learner)s, 86400)"

# Sessions lie apart by more than the idle time: those that a new one touches begin at the last one
# that began before it.
MERGE_SESSION = """
WITH touched AS (
    DELETE FROM progress_sessions
    WHERE tenant_id = %(tenant)s AND learner = %(learner)s
        AND started_at <= %(ended)s::timestamptz + %(idle)s
        AND ended_at >= %(started)s::timestamptz - %(idle)s
        AND started_at >= coalesce((
            SELECT max(started_at) FROM progress_sessions
            WHERE tenant_id = %(tenant)s AND learner = %(learner)s
                AND started_at <= %(started)s), '-infinity')
    RETURNING started_at, ended_at)
INSERT INTO progress_sessions (tenant_id, learner, started_at, ended_at)
SELECT %(tenant)s, %(learner)s, least(min(started_at), %(started)s::timestamptz),
    greatest(max(ended_at), %(ended)s::timestamptz) FROM touched
"""

# Added up by the quarter of an hour: whoever reads them chooses the time zone.
ADD_COUNTS = """
INSERT INTO progress_counts AS c (tenant_id, learner, quarter, action, n)
SELECT %(tenant)s, %(learner)s, * FROM unnest(
    %(quarters)s::timestamptz[], %(actions)s::text[], %(counts)s::bigint[])
ON CONFLICT (tenant_id, learner, quarter, action) DO UPDATE SET n = c.n + excluded.n
"""

# Kept beside the counts: badges ask for them, and a learner has many quarters.
ADD_TOTALS = """
INSERT INTO progress_totals AS t (tenant_id, learner, action, n)
SELECT %(tenant)s, %(learner)s, * FROM unnest(%(actions)s::text[], %(counts)s::bigint[])
ON CONFLICT (tenant_id, learner, action) DO UPDATE SET n = t.n + excluded.n
"""

# That a learner wants it stands among the totals, so that it is exported, erased and forgotten
# with them.
IS_ON = """
SELECT FROM progress_totals
WHERE tenant_id = %(tenant)s AND learner = %(learner)s AND action = %(wanted)s
"""

# Again it changes nothing: two pages may ask at once.
TURN_ON = """
INSERT INTO progress_totals (tenant_id, learner, action, n)
VALUES (%(tenant)s, %(learner)s, %(wanted)s, 1) ON CONFLICT DO NOTHING
"""

# Only the wish goes; what was kept goes by FORGET.
TURN_OFF = """
DELETE FROM progress_totals
WHERE tenant_id = %(tenant)s AND learner = %(learner)s AND action = %(wanted)s
"""

# One learner's, table by table: no row of one refers to another's.
FORGET = (
    "DELETE FROM progress_sessions WHERE tenant_id = %(tenant)s AND learner = %(learner)s",
    "DELETE FROM progress_days WHERE tenant_id = %(tenant)s AND learner = %(learner)s",
    "DELETE FROM progress_counts WHERE tenant_id = %(tenant)s AND learner = %(learner)s",
    "DELETE FROM progress_totals WHERE tenant_id = %(tenant)s AND learner = %(learner)s",
)

# Of all tenants, where progress is switched off for the installation.
FORGET_ALL = (
    "DELETE FROM progress_sessions",
    "DELETE FROM progress_days",
    "DELETE FROM progress_counts",
    "DELETE FROM progress_totals",
)

# The totals without what came after the day: few rows are taken off, and not all added up.
TOTALS_UNTIL = """
SELECT t.action, t.n - coalesce(later.n, 0) AS n
FROM progress_totals t LEFT JOIN (
    SELECT action, sum(n)::bigint AS n FROM progress_counts
    WHERE tenant_id = %(tenant)s AND learner = %(learner)s
        AND quarter >= (%(until)s::date + 1)::timestamp AT TIME ZONE %(zone)s
    GROUP BY action) later ON later.action = t.action
WHERE t.tenant_id = %(tenant)s AND t.learner = %(learner)s ORDER BY t.action
"""

# A day of UTC is cut where the zone's date changes: the quarters before are one day's, the others
# the next one's.
ACTIVE_DAYS = """
WITH dated AS (
    SELECT active, sessions, lasted, begins, (begins AT TIME ZONE %(zone)s)::date AS first,
        ((begins + interval '24 hours' - interval '1 us') AT TIME ZONE %(zone)s)::date AS last
    FROM progress_days, LATERAL (SELECT day::timestamp AT TIME ZONE 'UTC') AS utc (begins)
    WHERE tenant_id = %(tenant)s AND learner = %(learner)s AND day <= %(until)s::date + 1),
cut AS (
    SELECT active, first, last, CASE WHEN first = last THEN 96 ELSE (extract(
        epoch FROM last::timestamp AT TIME ZONE %(zone)s - begins) / 900)::int END AS quarters
    FROM dated),
halves AS (
    SELECT first AS day FROM cut WHERE position(B'1' IN substring(active FROM 1 FOR quarters)) > 0
    UNION SELECT last FROM cut WHERE position(B'1' IN substring(active FROM quarters + 1)) > 0),
days AS (SELECT day FROM halves WHERE day <= %(until)s),
streaks AS (
    SELECT count(*) AS length, max(day) AS last FROM (
        SELECT day, day - (row_number() OVER (ORDER BY day))::int AS streak FROM days) d
    GROUP BY streak)
SELECT (SELECT coalesce(sum(d.sessions), 0) FROM dated d) AS sessions,
    (SELECT floor(coalesce(extract(epoch FROM sum(d.lasted)), 0) / 60) FROM dated d)::bigint
        AS minutes,
    (SELECT count(*) FROM days) AS days_active,
    (SELECT coalesce(max(s.length), 0) FROM streaks s) AS longest,
    (SELECT coalesce(max(s.length), 0) FROM streaks s
     WHERE s.last >= %(until)s::date - 1) AS current
"""

# Late is from ten in the evening to four, early from four to seven.
SESSIONS_UNTIL = """
WITH bounds AS (SELECT (%(until)s::date + 1)::timestamp AT TIME ZONE %(zone)s AS ends),
begun AS (
    SELECT least(ended_at, ends) - started_at AS lasted,
        extract(hour FROM started_at AT TIME ZONE %(zone)s) AS hour
    FROM progress_sessions, bounds
    WHERE tenant_id = %(tenant)s AND learner = %(learner)s AND started_at < ends),
asked AS (
    SELECT sum(n)::bigint AS n FROM progress_counts, bounds
    WHERE tenant_id = %(tenant)s AND learner = %(learner)s AND quarter < ends
        AND action = 'question_asked'
    GROUP BY (quarter AT TIME ZONE %(zone)s)::date)
SELECT count(*) AS sessions, count(*) FILTER (WHERE hour >= 22 OR hour < 4) AS late_sessions,
    count(*) FILTER (WHERE hour >= 4 AND hour < 7) AS early_sessions,
    floor(coalesce(extract(epoch FROM sum(lasted)), 0) / 60)::bigint AS minutes,
    floor(coalesce(extract(epoch FROM max(lasted)), 0) / 60)::bigint AS longest_session,
    (SELECT coalesce(max(n), 0) FROM asked) AS questions_in_a_day
FROM begun
"""

# The sessions since the first day begin at the last one that began before it: they do not overlap.
RECENT_DAYS = """
WITH span AS (
    SELECT (%(now)s::timestamptz AT TIME ZONE %(zone)s)::date - %(days)s::int + 1 AS first,
        (%(now)s::timestamptz AT TIME ZONE %(zone)s)::date AS today),
recent AS (
    SELECT s.started_at, s.ended_at FROM progress_sessions s, span
    WHERE tenant_id = %(tenant)s AND learner = %(learner)s AND started_at >= coalesce((
        SELECT max(started_at) FROM progress_sessions
        WHERE tenant_id = %(tenant)s AND learner = %(learner)s
            AND started_at <= span.first::timestamp AT TIME ZONE %(zone)s), '-infinity')),
parts AS (
    SELECT d::date AS day,
        least(ended_at, (d + interval '1 day') AT TIME ZONE %(zone)s)
            - greatest(started_at, d AT TIME ZONE %(zone)s) AS length
    FROM recent, generate_series(
        date_trunc('day', started_at AT TIME ZONE %(zone)s),
        ended_at AT TIME ZONE %(zone)s, interval '1 day') d)
SELECT d::date AS day, count(p.day) AS sessions,
    coalesce(extract(epoch FROM sum(p.length)), 0)::float8 AS seconds
FROM span, generate_series(first::timestamp, today::timestamp, interval '1 day') d
LEFT JOIN parts p ON p.day = d::date
GROUP BY d ORDER BY d
"""

# A session that goes on from the day before, or into the next, is cut at midnight.
SESSIONS_OF_DAY = """
WITH bounds AS (
    SELECT %(day)s::date::timestamp AT TIME ZONE %(zone)s AS begins,
        (%(day)s::date + 1)::timestamp AT TIME ZONE %(zone)s AS ends)
SELECT greatest(started_at, begins) AS started_at, least(ended_at, ends) AS ended_at
FROM progress_sessions, bounds
WHERE tenant_id = %(tenant)s AND learner = %(learner)s AND started_at < ends
    AND ended_at >= begins ORDER BY started_at
"""

# By the bounds of the zone's day: an index of quarters finds them.
ACTIONS_OF_DAY = """
SELECT action, sum(n)::bigint AS n FROM progress_counts
WHERE tenant_id = %(tenant)s AND learner = %(learner)s
    AND quarter >= %(day)s::date::timestamp AT TIME ZONE %(zone)s
    AND quarter < (%(day)s::date + 1)::timestamp AT TIME ZONE %(zone)s
GROUP BY action ORDER BY action
"""
