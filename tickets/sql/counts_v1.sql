-- Counters of conversations, kept by the database, so that they hold whatever path a change takes (services, the ingest's
-- statements, a merge, plain SQL). Every change adds rows; tickets_fold_counts_v1 puts them together.
CREATE FUNCTION tickets_count_thread_v1() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND (OLD.inbox_id, OLD.status, OLD.assignee_id, OLD.first_unanswered_inbound_at IS NULL,
            OLD.merged_into_id IS NULL) IS NOT DISTINCT FROM (NEW.inbox_id, NEW.status, NEW.assignee_id,
            NEW.first_unanswered_inbound_at IS NULL, NEW.merged_into_id IS NULL) THEN
        RETURN NULL;
    END IF;
    IF TG_OP <> 'INSERT' AND OLD.merged_into_id IS NULL THEN
        INSERT INTO tickets_threadcount (workspace_id, inbox_id, status, assignee_id, unanswered, tag_id, threads)
        SELECT OLD.workspace_id, OLD.inbox_id, OLD.status, OLD.assignee_id,
            OLD.first_unanswered_inbound_at IS NOT NULL, t.tag_id, -1
        FROM (SELECT NULL::uuid AS tag_id UNION ALL SELECT tag_id FROM tickets_threadtag WHERE thread_id = OLD.id) t;
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.merged_into_id IS NULL THEN
        INSERT INTO tickets_threadcount (workspace_id, inbox_id, status, assignee_id, unanswered, tag_id, threads)
        SELECT NEW.workspace_id, NEW.inbox_id, NEW.status, NEW.assignee_id,
            NEW.first_unanswered_inbound_at IS NOT NULL, t.tag_id, 1
        FROM (SELECT NULL::uuid AS tag_id UNION ALL SELECT tag_id FROM tickets_threadtag WHERE thread_id = NEW.id) t;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER tickets_count_thread AFTER INSERT OR DELETE
    OR UPDATE OF inbox_id, status, assignee_id, first_unanswered_inbound_at, merged_into_id ON inbox_thread
    FOR EACH ROW EXECUTE FUNCTION tickets_count_thread_v1();

-- The conversation is locked first: its own change counts its labels, and must not miss one that comes meanwhile.
CREATE FUNCTION tickets_count_tag_v1() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    r record;
    v_by int := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
    IF TG_OP = 'INSERT' THEN r := NEW; ELSE r := OLD; END IF;
    PERFORM 1 FROM inbox_thread WHERE id = r.thread_id FOR NO KEY UPDATE;
    INSERT INTO tickets_threadcount (workspace_id, inbox_id, status, assignee_id, unanswered, tag_id, threads)
    SELECT workspace_id, inbox_id, status, assignee_id, first_unanswered_inbound_at IS NOT NULL, r.tag_id, v_by
    FROM inbox_thread WHERE id = r.thread_id AND merged_into_id IS NULL;
    RETURN NULL;
END $$;

CREATE TRIGGER tickets_count_tag AFTER INSERT OR DELETE ON tickets_threadtag
    FOR EACH ROW EXECUTE FUNCTION tickets_count_tag_v1();

-- One row for each kind again. Rows that come meanwhile are not seen, and stay for the next time.
CREATE FUNCTION tickets_fold_counts_v1() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_gone bigint;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended('tickets_fold_counts', 0)) THEN
        RETURN 0;
    END IF;
    WITH many AS (
        SELECT workspace_id, inbox_id, status, assignee_id, unanswered, tag_id FROM tickets_threadcount
        GROUP BY 1, 2, 3, 4, 5, 6 HAVING count(*) > 1 OR sum(threads) = 0
    ), gone AS (
        DELETE FROM tickets_threadcount c USING many m
        WHERE c.workspace_id = m.workspace_id AND c.inbox_id = m.inbox_id AND c.status = m.status
            AND c.assignee_id IS NOT DISTINCT FROM m.assignee_id AND c.unanswered = m.unanswered
            AND c.tag_id IS NOT DISTINCT FROM m.tag_id
        RETURNING c.*
    ), sums AS (
        INSERT INTO tickets_threadcount (workspace_id, inbox_id, status, assignee_id, unanswered, tag_id, threads)
        SELECT workspace_id, inbox_id, status, assignee_id, unanswered, tag_id, sum(threads) FROM gone
        GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(threads) <> 0
    )
    SELECT count(*) INTO v_gone FROM gone;
    RETURN v_gone;
END $$;
