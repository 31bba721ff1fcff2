-- Plans inside are made once for a session, without sequential scans: planning would cost more than running, and a plan
-- made while a table was small must not stay.
-- Everything that filing a parsed mail must know, in one look: the e-mails that wait for its content with their inboxes,
-- which of its addresses are inboxes of this installation (of whatever workspace), and what it cites.
CREATE FUNCTION inbox_prepare_v1(
    p_workspace uuid, p_message uuid, p_addresses text[], p_hashes bytea[], p_sender text
) RETURNS jsonb LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_own jsonb;
    v_targets jsonb;
    v_inboxes uuid[];
    v_citations jsonb := '[]';
BEGIN
    PERFORM set_config('app.all_workspaces', 'on', true);
    SELECT coalesce(jsonb_agg(o.address), '[]') INTO v_own FROM (
        SELECT i.address_normalized AS address FROM inbox_inbox i WHERE i.address_normalized = ANY (p_addresses)
        UNION ALL
        SELECT a.address_normalized FROM inbox_inboxaddress a WHERE a.address_normalized = ANY (p_addresses)
    ) o;
    PERFORM set_config('app.all_workspaces', '', true), set_config('app.workspace_id', p_workspace::text, true);
    SELECT coalesce(jsonb_agg(jsonb_build_object('email_id', e.id, 'inbox_id', i.id, 'address', i.address,
            'policy', i.policy, 'closed', CASE WHEN i.deleted_at IS NOT NULL THEN 'deleted_inbox'
                WHEN NOT i.active THEN 'inactive_inbox'
                WHEN w.status <> 'active' OR w.deleted_at IS NOT NULL THEN 'inactive_workspace' ELSE '' END)
            ORDER BY e.id), '[]'), array_agg(i.id)
    INTO v_targets, v_inboxes
    FROM inbox_email e JOIN inbox_inbox i ON i.id = e.inbox_id JOIN tenancy_workspace w ON w.id = e.workspace_id
    WHERE e.inbound_message_id = p_message AND e.state IN ('received', 'stored', 'parsed');
    IF cardinality(p_hashes) > 0 AND v_inboxes IS NOT NULL THEN
        -- A merged thread is followed to its end; the depth is bounded, so that no cycle can hold it.
        WITH RECURSIVE found AS (
            SELECT r.inbox_id, r.message_id_hash, r.kind, r.entry_id, e.thread_id, t.merged_into_id, e.seq, 0 AS depth
            FROM inbox_messagereference r JOIN inbox_entry e ON e.id = r.entry_id
                JOIN inbox_thread t ON t.id = e.thread_id
            WHERE r.workspace_id = p_workspace AND r.inbox_id = ANY (v_inboxes) AND r.message_id_hash = ANY (p_hashes)
          UNION ALL
            SELECT f.inbox_id, f.message_id_hash, f.kind, f.entry_id, t.id, t.merged_into_id, f.seq, f.depth + 1
            FROM found f JOIN inbox_thread t ON t.id = f.merged_into_id WHERE f.depth < 20
        )
        SELECT coalesce(jsonb_agg(jsonb_build_object('inbox_id', f.inbox_id, 'hash', encode(f.message_id_hash, 'hex'),
            'kind', f.kind, 'entry_id', f.entry_id, 'thread_id', f.thread_id, 'took_part', EXISTS (
                SELECT 1 FROM inbox_threadparticipant p WHERE p.thread_id = f.thread_id AND p.address = p_sender)) ORDER BY f.seq DESC), '[]')
        INTO v_citations FROM found f WHERE f.merged_into_id IS NULL OR f.depth >= 20;
    END IF;
    RETURN jsonb_build_object('own', v_own, 'targets', v_targets, 'citations', v_citations);
END $$;
