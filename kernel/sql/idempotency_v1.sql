-- Whether work may begin under a key, and the id of the record that it will leave; or the answer that was kept already.
--
-- Who begins holds the key's lock until their transaction ends, however it ends, so nothing is left of a run that failed or
-- died. The record is looked for again under the lock: whoever held it before has committed by now, or has done nothing.
-- No row: the first run has not ended.
CREATE FUNCTION kernel_idempotency_begin_v1(p_workspace uuid, p_principal text, p_key text)
RETURNS TABLE (is_free boolean, id bigint, fingerprint bytea, response_status smallint, response_body bytea)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
    FOR v_look IN 1..2 LOOP
        RETURN QUERY SELECT false, r.id, r.fingerprint, r.response_status, r.response_body
        FROM kernel_idempotencyrecord r
        WHERE r.workspace_id = p_workspace AND r.principal = p_principal AND r.key = p_key;
        IF FOUND THEN
            RETURN;
        END IF;
        IF v_look = 1 AND NOT pg_try_advisory_xact_lock(
            hashtextextended(concat_ws(' ', 'kernel.idempotency', p_workspace, p_principal, p_key), 0)) THEN
            RETURN;
        END IF;
    END LOOP;
    RETURN QUERY SELECT true, nextval('kernel_idempotencyrecord_id_seq'), NULL::bytea, NULL::smallint, NULL::bytea;
END $$;

-- Keep the answer of work that was done under a key. The unique index is the last word on who was first.
CREATE FUNCTION kernel_idempotency_keep_v1(
    p_id bigint, p_workspace uuid, p_principal text, p_operation text, p_key text, p_fingerprint bytea, p_status int,
    p_body bytea, p_expires timestamptz
) RETURNS void LANGUAGE sql AS $$
    INSERT INTO kernel_idempotencyrecord
        (id, workspace_id, principal, operation, key, fingerprint, response_status, response_body, expires_at)
    VALUES (p_id, p_workspace, p_principal, p_operation, p_key, p_fingerprint, p_status, p_body, p_expires)
$$;
