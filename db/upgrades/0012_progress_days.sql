-- The sessions by the day of UTC, as a trigger keeps them: what all of a learner's years come to is
-- read from a row a day, however much was done in them.
CREATE TABLE progress_days (
    tenant_id  text        NOT NULL CHECK (tenant_id <> '')
               DEFAULT coalesce(nullif(current_setting('helix.tenant', true), ''), 'default'),
    learner    text        NOT NULL,
    day        date        NOT NULL,
    active     bit(96)     NOT NULL,
    sessions   integer     NOT NULL CHECK (sessions >= 0),
    lasted     interval    NOT NULL CHECK (lasted >= '0'),
    PRIMARY KEY (tenant_id, learner, day)
);
ALTER TABLE progress_days ENABLE ROW LEVEL SECURITY;
COMMENT ON COLUMN progress_days.active IS
    'a bit for each quarter of an hour that a session reaches into: every time zone''s days begin at one';
COMMENT ON COLUMN progress_days.sessions IS 'sessions that begin on this day';
COMMENT ON COLUMN progress_days.lasted IS 'how long these sessions are, to their ends';

-- One session as rows of progress_days.
CREATE FUNCTION days_of_session(started_at timestamptz, ended_at timestamptz)
RETURNS TABLE (day date, active bit(96), sessions integer, lasted interval)
LANGUAGE sql IMMUTABLE AS $$
    SELECT midnight::date,
        (repeat('0', first) || repeat('1', last - first + 1) || repeat('0', 95 - last))::bit(96),
        CASE WHEN midnight <= begun THEN 1 ELSE 0 END,
        CASE WHEN midnight <= begun THEN ended - begun ELSE interval '0' END
    FROM (SELECT started_at AT TIME ZONE 'UTC', ended_at AT TIME ZONE 'UTC') AS s (begun, ended),
        generate_series(date_trunc('day', begun), ended, interval '1 day') AS midnight,
        LATERAL (SELECT
            floor(extract(epoch FROM greatest(begun, midnight) - midnight) / 900)::integer,
            least(floor(extract(epoch FROM ended - midnight) / 900), 95)::integer
        ) AS quarters (first, last)
$$;

-- Sessions only grow together, so a quarter that was active stays so.
CREATE FUNCTION count_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        UPDATE progress_days d SET sessions = d.sessions - g.sessions, lasted = d.lasted - g.lasted
        FROM (SELECT tenant_id, learner, p.day, sum(p.sessions) AS sessions, sum(p.lasted) AS lasted
            FROM before, days_of_session(started_at, ended_at) p GROUP BY 1, 2, 3) g
        WHERE (d.tenant_id, d.learner, d.day) = (g.tenant_id, g.learner, g.day) AND g.sessions > 0;
        RETURN NULL;
    END IF;
    INSERT INTO progress_days AS d (tenant_id, learner, day, active, sessions, lasted)
        SELECT tenant_id, learner, p.day, bit_or(p.active), sum(p.sessions), sum(p.lasted)
        FROM after, days_of_session(started_at, ended_at) p GROUP BY 1, 2, 3
        ON CONFLICT (tenant_id, learner, day) DO UPDATE SET active = d.active | excluded.active,
            sessions = d.sessions + excluded.sessions, lasted = d.lasted + excluded.lasted;
    RETURN NULL;
END $$;
CREATE TRIGGER progress_sessions_inserted AFTER INSERT ON progress_sessions
    REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION count_sessions();
CREATE TRIGGER progress_sessions_deleted AFTER DELETE ON progress_sessions
    REFERENCING OLD TABLE AS before FOR EACH STATEMENT EXECUTE FUNCTION count_sessions();

INSERT INTO progress_days (tenant_id, learner, day, active, sessions, lasted)
    SELECT tenant_id, learner, p.day, bit_or(p.active), sum(p.sessions), sum(p.lasted)
    FROM progress_sessions, days_of_session(started_at, ended_at) p GROUP BY 1, 2, 3;
