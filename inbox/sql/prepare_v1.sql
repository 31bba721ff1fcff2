-- Plans inside are made once for a session, by indexes only: planning would cost more than running, and a plan made
-- while a table was small must not stay.
-- Everything that filing parsed mails must know, in one look: for each of them, the e-mails that wait for its content
-- with their inboxes, which of its addresses are inboxes of this installation (of whatever workspace), and what it cites.
--
-- p: an array of {n (its place, from 1), workspace_id, message_id, addresses [], hashes [hex], sender}. Whatever belongs
-- to a workspace is looked for in the mail's own.
CREATE FUNCTION inbox_prepare_v1(p jsonb)
RETURNS TABLE (place int, own jsonb, targets jsonb, citations jsonb) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    v_before constant text := coalesce(current_setting('app.all_workspaces', true), '');
BEGIN
    PERFORM set_config('app.all_workspaces', 'on', true);
    RETURN QUERY SELECT m.n,
        (SELECT coalesce(jsonb_agg(i.address_normalized), '[]') FROM inbox_inbox i
            WHERE i.address_normalized = ANY (ARRAY(SELECT jsonb_array_elements_text(m.addresses)))),
        t.targets,
        CASE WHEN m.hashes = '[]' OR t.inboxes IS NULL THEN '[]' ELSE (
            SELECT coalesce(jsonb_agg(jsonb_build_object('inbox_id', f.inbox_id, 'hash', f.hash, 'kind', f.kind,
                'entry_id', f.entry_id, 'thread_id', f.thread_id, 'took_part', EXISTS (
                    SELECT 1 FROM inbox_threadparticipant p
                    WHERE p.thread_id = f.thread_id AND p.address = m.sender))), '[]')
            FROM (
                SELECT r.inbox_id, encode(r.message_id_hash, 'hex') AS hash, r.kind, r.entry_id,
                    CASE WHEN c.merged_into_id IS NULL THEN c.id ELSE inbox_merged_end_v1(c.id) END AS thread_id
                FROM inbox_messagereference r JOIN inbox_entry e ON e.id = r.entry_id
                    JOIN inbox_thread c ON c.id = e.thread_id
                WHERE r.workspace_id = m.workspace_id AND r.inbox_id = ANY (t.inboxes)
                    AND r.message_id_hash = ANY (ARRAY(SELECT decode(h, 'hex') FROM jsonb_array_elements_text(m.hashes) h))
                OFFSET 0
            ) f) END
    FROM jsonb_to_recordset(p) AS m(n int, workspace_id uuid, message_id uuid, addresses jsonb, hashes jsonb, sender text),
        LATERAL (
            SELECT coalesce(jsonb_agg(jsonb_build_object('email_id', e.id, 'inbox_id', i.id, 'address', i.address,
                    'policy', i.policy, 'closed', CASE WHEN i.deleted_at IS NOT NULL THEN 'deleted_inbox'
                        WHEN NOT i.active THEN 'inactive_inbox'
                        WHEN w.status <> 'active' OR w.deleted_at IS NOT NULL THEN 'inactive_workspace' ELSE '' END)
                    ORDER BY e.id), '[]') AS targets, array_agg(i.id) AS inboxes
            FROM inbox_email e JOIN inbox_inbox i ON i.id = e.inbox_id JOIN tenancy_workspace w ON w.id = e.workspace_id
            WHERE e.inbound_message_id = m.message_id AND e.workspace_id = m.workspace_id
                AND e.state IN ('received', 'stored', 'parsed')
        ) AS t;
    PERFORM set_config('app.all_workspaces', v_before, true);
END $$;

-- A merged thread is followed to its end; the depth is bounded, so that no cycle can hold it.
CREATE FUNCTION inbox_merged_end_v1(p_thread uuid) RETURNS uuid LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_thread uuid := p_thread;
    v_next uuid;
BEGIN
    FOR v_step IN 1..20 LOOP
        SELECT merged_into_id INTO v_next FROM inbox_thread WHERE id = v_thread;
        EXIT WHEN v_next IS NULL;
        v_thread := v_next;
    END LOOP;
    RETURN v_thread;
END $$;
