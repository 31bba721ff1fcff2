-- The only way into the audit tables. Runs as inbox_audit, which alone may write there; takes the chain's head last
-- and once, whatever the number of entries, so that concurrent work of one workspace forms one line without a gap.
-- pg_temp stands last in the search path: unnamed it would come first, and a caller's temporary table of the same name
-- would swallow what belongs here.
-- Handing a function over asks CREATE of its new owner, for that moment only.
GRANT CREATE ON SCHEMA public TO inbox_audit;

CREATE FUNCTION audit_append_v1(p_workspace uuid, p_entries jsonb) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_sequence bigint;
    v_head bytea;
    v_hash bytea;
    v_entry jsonb;
    v_body text;
    v_payload_hash bytea;
    v_now timestamptz;
BEGIN
    SELECT sequence, head INTO v_sequence, v_head FROM audit_auditchain
    WHERE workspace_id = p_workspace FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        INSERT INTO audit_auditchain (workspace_id, sequence, head)
        VALUES (p_workspace, 0, sha256(p_workspace::text::bytea)) ON CONFLICT (workspace_id) DO NOTHING;
        SELECT sequence, head INTO v_sequence, v_head FROM audit_auditchain
        WHERE workspace_id = p_workspace FOR NO KEY UPDATE;
    END IF;
    v_now := clock_timestamp();
    FOR v_entry IN SELECT * FROM jsonb_array_elements(p_entries) LOOP
        v_sequence := v_sequence + 1;
        v_payload_hash := sha256(convert_to((v_entry->'payload')::text, 'UTF8'));
        v_body := json_build_array(
            v_sequence, p_workspace, v_entry->>'id', v_entry->>'action', v_entry->>'outcome', v_entry->>'actor_kind',
            v_entry->>'actor_id', v_entry->>'actor_label', v_entry->>'resource_kind', v_entry->>'resource_id',
            v_entry->>'request_id', v_entry->>'execution_id', encode(v_payload_hash, 'hex'),
            to_char(v_now AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text;
        v_hash := sha256(v_head || convert_to(v_body, 'UTF8'));
        INSERT INTO audit_auditevent (id, workspace_id, sequence, action, outcome, actor_kind, actor_id, actor_label,
            resource_kind, resource_id, request_id, execution_id, payload_hash, occurred_at, body, previous_hash, hash)
        VALUES ((v_entry->>'id')::uuid, p_workspace, v_sequence, v_entry->>'action', v_entry->>'outcome',
            v_entry->>'actor_kind', v_entry->>'actor_id', v_entry->>'actor_label', v_entry->>'resource_kind',
            v_entry->>'resource_id', v_entry->>'request_id', (v_entry->>'execution_id')::uuid, v_payload_hash, v_now,
            v_body, v_head, v_hash);
        INSERT INTO audit_auditpayload (event_id, workspace_id, payload)
        VALUES ((v_entry->>'id')::uuid, p_workspace, v_entry->'payload');
        v_head := v_hash;
    END LOOP;
    UPDATE audit_auditchain SET sequence = v_sequence, head = v_head WHERE workspace_id = p_workspace;
    RETURN v_sequence;
END $$;
ALTER FUNCTION audit_append_v1(uuid, jsonb) OWNER TO inbox_audit;
REVOKE ALL ON FUNCTION audit_append_v1(uuid, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION audit_append_v1(uuid, jsonb) TO inbox_runtime;

-- Remembers the present head, for comparison with a copy outside the database.
CREATE FUNCTION audit_anchor_v1(p_workspace uuid) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    INSERT INTO audit_auditanchor (workspace_id, sequence, hash)
    SELECT workspace_id, sequence, head FROM audit_auditchain WHERE workspace_id = p_workspace AND sequence > 0
    ON CONFLICT DO NOTHING RETURNING sequence
$$;
ALTER FUNCTION audit_anchor_v1(uuid) OWNER TO inbox_audit;
REVOKE ALL ON FUNCTION audit_anchor_v1(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION audit_anchor_v1(uuid) TO inbox_runtime;

REVOKE CREATE ON SCHEMA public FROM inbox_audit;
