-- Begin a run under a key: insert its record, or take over a run whose lease ended, or read what is there (nothing, when
-- the record has gone meanwhile). One statement and so, by itself, one transaction.
--
-- p_alone says that no transaction is open around it: then nobody waits for the disk. A record that a crash of the server
-- takes back belongs to a run that had not committed either, for the log is flushed in order; it begins anew.
CREATE FUNCTION kernel_idempotency_begin_v1(
    p_workspace uuid, p_principal text, p_operation text, p_key text, p_fingerprint bytea, p_lease timestamptz,
    p_expires timestamptz, p_alone boolean
) RETURNS TABLE (is_begun boolean, id bigint, fingerprint bytea, state text, response_status smallint, response_body bytea)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    v_workspace constant text := coalesce(current_setting('app.workspace_id', true), '');
    v_everything constant text := coalesce(current_setting('app.all_workspaces', true), '');
    v_id bigint;
BEGIN
    PERFORM set_config('app.workspace_id', p_workspace::text, true), set_config('app.all_workspaces', '', true);
    IF p_alone THEN
        PERFORM set_config('synchronous_commit', 'off', true);
    END IF;
    INSERT INTO kernel_idempotencyrecord AS r
        (workspace_id, principal, operation, key, fingerprint, state, lease_until, expires_at)
    VALUES (p_workspace, p_principal, p_operation, p_key, p_fingerprint, 'running', p_lease, p_expires)
    ON CONFLICT (workspace_id, principal, key) DO UPDATE SET lease_until = EXCLUDED.lease_until
        WHERE r.state = 'running' AND r.lease_until < now() AND r.fingerprint = EXCLUDED.fingerprint
    RETURNING r.id INTO v_id;
    IF FOUND THEN
        RETURN QUERY SELECT true, v_id, NULL::bytea, 'running', NULL::smallint, NULL::bytea;
    ELSE
        RETURN QUERY SELECT false, r.id, r.fingerprint, r.state::text, r.response_status, r.response_body
        FROM kernel_idempotencyrecord r
        WHERE r.workspace_id = p_workspace AND r.principal = p_principal AND r.key = p_key;
    END IF;
    PERFORM set_config('app.workspace_id', v_workspace, true), set_config('app.all_workspaces', v_everything, true);
END $$;
