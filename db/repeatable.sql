-- What every migration makes sure of, whatever the version. It changes nothing where all is there.

-- Whoever asks or uploads acts as this role, which owns nothing: row-level security holds for it,
-- and each of its transactions says in helix.tenant whose rows it may see. Roles belong to the
-- server, so another database may have made it already, or be about to.
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'helix_app') THEN
        CREATE ROLE helix_app NOLOGIN;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$;
DO $$ BEGIN
    IF NOT pg_has_role('helix_app', 'MEMBER') THEN
        EXECUTE format('GRANT helix_app TO %I', current_user);
    END IF;
    IF NOT has_schema_privilege('helix_app', current_schema(), 'USAGE') THEN
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO helix_app', current_schema());
    END IF;
END $$;

-- The second wall between tenants: whatever a statement forgets, helix_app sees and writes its
-- tenant's rows only. A dump that was restored where there was no such role has row security and
-- no policy. Keys, the audit log and what was used get none: helix_app sees nothing of them.
DO $$
DECLARE
    walled regclass;
BEGIN
    FOR walled IN SELECT oid FROM pg_class c
        WHERE relnamespace = current_schema()::regnamespace AND relrowsecurity
            AND relname <> ALL ('{api_keys,audit_events,usage_counts}')
            AND NOT EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid AND polname = 'tenant')
    LOOP
        EXECUTE format(
            'CREATE POLICY tenant ON %s TO helix_app USING'
            ' (tenant_id = (SELECT current_setting(''helix.tenant'', true)))', walled);
    END LOOP;
END $$;

GRANT SELECT, INSERT, UPDATE, DELETE ON files, loose_objects, documents, document_sources, document_pages,
    document_tables, suggested_questions, document_names, chunks, chunk_terms, term_counts, term_changes, runs, run_files,
    answers, feedback, conversations, messages, message_events, conversation_images, prompt_versions, tenant_settings,
    progress_sessions, progress_days, progress_counts, progress_totals, gate_fits,
    study_sets, study_items, study_sources, study_attempts, study_cards, study_reviews, data_chunks, embedding_space, embedding_cache TO helix_app;
GRANT SELECT ON term_statistics, embedding_change TO helix_app;
GRANT USAGE ON SEQUENCE run_changes, term_changes_made, documents_id_seq, messages_id_seq,
    study_sets_id_seq, study_items_id_seq, study_attempts_id_seq, study_reviews_id_seq TO helix_app;
GRANT EXECUTE ON FUNCTION tenant_of_key, opened_by_key, any_chunks, purge_cache, lexical_chunks TO helix_app;
GRANT SELECT ON schema_version TO PUBLIC;

-- The indexes of search. A first load drops them while there are no rows, and builds them at its
-- end (helix/storage/indexes.py, which has the same definition); a load that was killed leaves it to
-- the next migration. The graph is built in memory, by one process: several would share it through
-- /dev/shm, which containers keep small, and fail the migration.
DO $$ BEGIN
    IF to_regclass('chunks_embedding_hnsw') IS NULL THEN
        PERFORM set_config('max_parallel_maintenance_workers', '0', true), set_config(
            'maintenance_work_mem', least(greatest(count(*) * 5 / 1024, 64), 1024) || 'MB', true)
            FROM chunks;
        CREATE INDEX chunks_embedding_hnsw
            ON chunks USING hnsw ((embedding::halfvec(1536)) halfvec_cosine_ops);
    END IF;
    IF to_regclass('chunk_terms_keys') IS NULL THEN
        PERFORM build_terms();
    END IF;
END $$;
