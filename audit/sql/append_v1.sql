-- The only way into the audit tables. Runs as inbox_audit, which alone may write there; takes the chain's head last
-- and once, whatever the number of entries, so that concurrent work of one workspace forms one line without a gap.
-- pg_temp stands last in the search path: unnamed it would come first, and a caller's temporary table of the same name
-- would swallow what belongs here.
-- Handing a function over asks CREATE of its new owner, for that moment only.
GRANT CREATE ON SCHEMA public TO inbox_audit;

-- p_workspace is that of all entries; NULL when each names its own.
CREATE FUNCTION audit_append_v1(p_workspace uuid, p_entries jsonb) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_wanted uuid[] := ARRAY[p_workspace];
    -- The chains, side by side.
    v_workspaces uuid[];
    v_sequences bigint[];
    v_heads bytea[];
    v_chain int;
    v_entry record;
    v_row audit_auditevent;
    v_rows audit_auditevent[];
    v_now timestamptz;
BEGIN
    IF p_workspace IS NULL THEN
        SELECT array_agg(DISTINCT e.workspace_id) INTO v_wanted FROM jsonb_to_recordset(p_entries) AS e(workspace_id uuid);
    END IF;
    FOR v_try IN 1..2 LOOP
        -- In one order everywhere, so that two units that touch the same chains cannot wait for each other.
        WITH locked AS MATERIALIZED (
            SELECT c.workspace_id, c.sequence, c.head FROM audit_auditchain c WHERE c.workspace_id = ANY (v_wanted)
            ORDER BY c.workspace_id FOR NO KEY UPDATE
        )
        SELECT array_agg(l.workspace_id), array_agg(l.sequence), array_agg(l.head)
        INTO v_workspaces, v_sequences, v_heads FROM locked l;
        EXIT WHEN v_try = 2 OR cardinality(v_workspaces) = cardinality(v_wanted);
        INSERT INTO audit_auditchain (workspace_id, sequence, head)
        SELECT w, 0, sha256(w::text::bytea) FROM unnest(v_wanted) w ORDER BY w ON CONFLICT (workspace_id) DO NOTHING;
    END LOOP;
    v_now := clock_timestamp();
    FOR v_entry IN
        SELECT coalesce(p_workspace, e.workspace_id) AS workspace, e.*,
            sha256(convert_to(e.payload::text, 'UTF8')) AS payload_hash, raw.entry ? 'after_hash' AS is_followed
        FROM jsonb_array_elements(p_entries) AS raw(entry), jsonb_to_record(raw.entry) AS e(workspace_id uuid, id uuid,
            action text, outcome text, actor_kind text, actor_id text, actor_label text, resource_kind text,
            resource_id text, request_id text, execution_id uuid, payload jsonb, after_hash text)
    LOOP
        v_chain := array_position(v_workspaces, v_entry.workspace);
        v_row.workspace_id := v_entry.workspace;
        v_row.sequence := v_sequences[v_chain] + 1;
        v_row.previous_hash := v_heads[v_chain];
        v_row.before_hash := NULL;
        v_row.after_hash := decode(v_entry.after_hash, 'hex');
        -- An entry with this key is about a resource whose state is followed; its value is null once the row is gone.
        IF v_entry.is_followed THEN
            v_row.before_hash := coalesce(
                (SELECT r.after_hash FROM unnest(v_rows) r
                 WHERE r.workspace_id = v_entry.workspace AND r.resource_kind = v_entry.resource_kind
                   AND r.resource_id = v_entry.resource_id AND r.after_hash IS NOT NULL
                 ORDER BY r.sequence DESC LIMIT 1),
                (SELECT a.after_hash FROM audit_auditevent a
                 WHERE a.workspace_id = v_entry.workspace AND a.resource_kind = v_entry.resource_kind
                   AND a.resource_id = v_entry.resource_id AND a.after_hash IS NOT NULL
                 ORDER BY a.sequence DESC LIMIT 1));
        END IF;
        v_row.body := json_build_array(
            v_row.sequence, v_entry.workspace, v_entry.id, v_entry.action, v_entry.outcome, v_entry.actor_kind,
            v_entry.actor_id, v_entry.actor_label, v_entry.resource_kind, v_entry.resource_id, v_entry.request_id,
            v_entry.execution_id, encode(v_entry.payload_hash, 'hex'),
            to_char(v_now AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
            encode(v_row.before_hash, 'hex'), encode(v_row.after_hash, 'hex'))::text;
        v_row.hash := sha256(v_row.previous_hash || convert_to(v_row.body, 'UTF8'));
        v_row.id := v_entry.id;
        v_row.action := v_entry.action;
        v_row.outcome := v_entry.outcome;
        v_row.actor_kind := v_entry.actor_kind;
        v_row.actor_id := v_entry.actor_id;
        v_row.actor_label := v_entry.actor_label;
        v_row.resource_kind := v_entry.resource_kind;
        v_row.resource_id := v_entry.resource_id;
        v_row.request_id := v_entry.request_id;
        v_row.execution_id := v_entry.execution_id;
        v_row.payload_hash := v_entry.payload_hash;
        v_row.occurred_at := v_now;
        v_rows := v_rows || v_row;
        v_sequences[v_chain] := v_row.sequence;
        v_heads[v_chain] := v_row.hash;
    END LOOP;
    INSERT INTO audit_auditevent SELECT r.* FROM unnest(v_rows) r;
    INSERT INTO audit_auditpayload (event_id, workspace_id, payload)
    SELECT e.id, coalesce(p_workspace, e.workspace_id), e.payload
    FROM jsonb_to_recordset(p_entries) AS e(workspace_id uuid, id uuid, payload jsonb);
    UPDATE audit_auditchain c SET sequence = n.sequence, head = n.head
    FROM unnest(v_workspaces, v_sequences, v_heads) AS n(workspace_id, sequence, head)
    WHERE c.workspace_id = n.workspace_id;
    RETURN v_sequences[1];
END $$;
ALTER FUNCTION audit_append_v1(uuid, jsonb) OWNER TO inbox_audit;
REVOKE ALL ON FUNCTION audit_append_v1(uuid, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION audit_append_v1(uuid, jsonb) TO inbox_runtime;

-- Remembers a head that has been written outside the database, for comparison with that copy.
CREATE FUNCTION audit_anchor_v1(p_workspace uuid, p_sequence bigint) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    INSERT INTO audit_auditanchor (workspace_id, sequence, hash)
    SELECT workspace_id, sequence, hash FROM audit_auditevent WHERE workspace_id = p_workspace AND sequence = p_sequence
    ON CONFLICT DO NOTHING RETURNING sequence
$$;
ALTER FUNCTION audit_anchor_v1(uuid, bigint) OWNER TO inbox_audit;
REVOKE ALL ON FUNCTION audit_anchor_v1(uuid, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION audit_anchor_v1(uuid, bigint) TO inbox_runtime;

-- Empties the readable details of one event; the chain keeps their hash. The record of it is made here, in the same
-- statement, so that nobody who may call this can redact without a trace. False: there is nothing to empty.
CREATE FUNCTION audit_redact_v1(p_workspace uuid, p_event uuid, p_entry jsonb) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    UPDATE audit_auditpayload SET payload = '{}'::jsonb, redacted_at = clock_timestamp()
    WHERE workspace_id = p_workspace AND event_id = p_event AND redacted_at IS NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM audit_append_v1(p_workspace, jsonb_build_array(p_entry || jsonb_build_object(
        'action', 'audit.redact', 'outcome', 'done', 'resource_kind', 'audit_event', 'resource_id', p_event)));
    RETURN true;
END $$;
ALTER FUNCTION audit_redact_v1(uuid, uuid, jsonb) OWNER TO inbox_audit;
REVOKE ALL ON FUNCTION audit_redact_v1(uuid, uuid, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION audit_redact_v1(uuid, uuid, jsonb) TO inbox_runtime;

REVOKE CREATE ON SCHEMA public FROM inbox_audit;
