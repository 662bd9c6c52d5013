-- The receipt of an answer that was being written while its tenant was erased is not kept after. Servers
-- of before version 38 keep it still.
CREATE TABLE erasures (
    tenant    bigint      PRIMARY KEY,
    erased_at timestamptz NOT NULL
);
COMMENT ON COLUMN erasures.tenant IS 'hashtextextended(name, 0), of the last day: its name is erased too';

-- Whether the answer to a question that was asked `seconds` ago may be kept: not if its tenant was
-- erased since, or is being erased now: to wait for that would hold a connection that others need.
-- Two statements, for the second sees what an erasure left that ended in front of the lock.
CREATE OR REPLACE FUNCTION answer_may_be_kept(tenant_id text, seconds float8) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    whose constant bigint := hashtextextended(tenant_id, 0);
BEGIN
    IF NOT pg_try_advisory_xact_lock_shared(whose) THEN
        RETURN false;
    END IF;
    RETURN NOT EXISTS (SELECT FROM erasures WHERE tenant = whose
        AND erased_at > clock_timestamp() - make_interval(secs => seconds));
END $$;

REVOKE ALL ON FUNCTION answer_may_be_kept FROM PUBLIC;
