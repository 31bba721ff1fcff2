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
    v_before bytea;
    v_after bytea;
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
        v_before := NULL;
        v_after := decode(v_entry->>'after_hash', 'hex');
        -- An entry with this key is about a resource whose state is followed; its value is null once the row is gone.
        IF v_entry ? 'after_hash' THEN
            SELECT after_hash INTO v_before FROM audit_auditevent
            WHERE workspace_id = p_workspace AND resource_kind = v_entry->>'resource_kind'
              AND resource_id = v_entry->>'resource_id' AND after_hash IS NOT NULL
            ORDER BY sequence DESC LIMIT 1;
        END IF;
        v_body := json_build_array(
            v_sequence, p_workspace, v_entry->>'id', v_entry->>'action', v_entry->>'outcome', v_entry->>'actor_kind',
            v_entry->>'actor_id', v_entry->>'actor_label', v_entry->>'resource_kind', v_entry->>'resource_id',
            v_entry->>'request_id', v_entry->>'execution_id', encode(v_payload_hash, 'hex'),
            to_char(v_now AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
            encode(v_before, 'hex'), encode(v_after, 'hex'))::text;
        v_hash := sha256(v_head || convert_to(v_body, 'UTF8'));
        INSERT INTO audit_auditevent (id, workspace_id, sequence, action, outcome, actor_kind, actor_id, actor_label,
            resource_kind, resource_id, request_id, execution_id, payload_hash, before_hash,
            after_hash, occurred_at, body, previous_hash, hash)
        VALUES ((v_entry->>'id')::uuid, p_workspace, v_sequence, v_entry->>'action', v_entry->>'outcome',
            v_entry->>'actor_kind', v_entry->>'actor_id', v_entry->>'actor_label', v_entry->>'resource_kind',
            v_entry->>'resource_id', v_entry->>'request_id', (v_entry->>'execution_id')::uuid, v_payload_hash, v_before,
            v_after, v_now, v_body, v_head, v_hash);
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
