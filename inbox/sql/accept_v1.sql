-- Plans inside are made once for a session, without sequential scans: planning would cost more than running, and a plan
-- made while a table was small must not stay.
-- Store first: raw bytes, the e-mails of the inboxes that they are for, and the fact that starts their processing, in one
-- statement and so in one transaction. Looks before it inserts, since redeliveries are frequent and must cost little.
--
-- p_recipients, p_exact, p_untagged and p_domains run in parallel: an envelope recipient, its canonical form, the same
-- without a plus-tag, its domain. p_location is where the bytes still are, when p_raw is empty. Mail for an address that
-- nobody has goes to the workspace of its verified domain, and without one to the estate's workspace, into quarantine:
-- never away.
CREATE FUNCTION inbox_accept_v1(
    p_source text, p_provider_id text, p_raw bytea, p_sha256 bytea, p_envelope_from text, p_recipients text[],
    p_exact text[], p_untagged text[], p_domains text[], p_verdicts jsonb, p_context jsonb, p_only_workspace uuid,
    p_location text
) RETURNS TABLE (workspace_id uuid, inbound_message_id uuid, email_id uuid, inbox_id uuid, is_new boolean, at timestamptz)
LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    v_estate constant uuid := '00000000-0000-4000-8000-000000000000';
    v_before constant text := coalesce(current_setting('app.all_workspaces', true), '');
    v_group record;
    v_message record;
    v_id uuid;
    v_new boolean;
    v_state text;
    v_reason text;
    v_added text[];
    v_further boolean;
    v_refilled boolean;
    v_brought boolean;
    v_inbox record;
    v_email uuid;
    v_facts jsonb;
BEGIN
    PERFORM set_config('app.all_workspaces', 'on', true);
    FOR v_group IN
        SELECT r.owner, array_agg(DISTINCT r.recipient) AS recipients,
            array_agg(DISTINCT r.inbox) FILTER (WHERE r.inbox IS NOT NULL) AS inboxes
        FROM (
            SELECT a.recipient, f.inbox_id AS inbox, coalesce(f.workspace_id, v_estate) AS owner
            FROM unnest(p_recipients, p_exact, p_untagged, p_domains) AS a(recipient, exact, untagged, domain)
            CROSS JOIN LATERAL inbox_route_v1(a.exact, a.untagged, a.domain) f
        ) r
        WHERE p_only_workspace IS NULL OR r.owner = p_only_workspace
        GROUP BY r.owner ORDER BY r.owner
    LOOP
        v_new := false;
        v_added := NULL;
        v_further := false;
        v_facts := '[]';
        SELECT m.id, m.recipients, m.state, octet_length(m.raw) = 0 AS is_empty INTO v_message FROM inbox_inboundmessage m
        WHERE m.workspace_id = v_group.owner AND m.source = p_source AND m.provider_message_id = p_provider_id
        FOR NO KEY UPDATE;
        IF NOT FOUND THEN
            v_state := CASE WHEN v_group.inboxes IS NULL THEN 'quarantined' ELSE 'stored' END;
            v_reason := CASE WHEN v_group.inboxes IS NOT NULL THEN ''
                WHEN v_group.owner = v_estate THEN 'unclaimed_domain' ELSE 'unknown_recipient' END;
            INSERT INTO inbox_inboundmessage (id, workspace_id, source, provider_message_id, raw, sha256, size,
                envelope_from, recipients, verdicts, state, reason, location)
            VALUES (gen_random_uuid(), v_group.owner, p_source, p_provider_id, p_raw, p_sha256, octet_length(p_raw),
                p_envelope_from, v_group.recipients, p_verdicts, v_state, v_reason, p_location)
            ON CONFLICT ON CONSTRAINT inbox_one_message_per_provider_id DO NOTHING RETURNING id INTO v_id;
            v_new := FOUND;
            IF NOT v_new THEN
                -- A concurrent delivery of the same message was first, and has committed by now.
                SELECT m.id, m.recipients, m.state, octet_length(m.raw) = 0 AS is_empty INTO v_message
                FROM inbox_inboundmessage m
                WHERE m.workspace_id = v_group.owner AND m.source = p_source AND m.provider_message_id = p_provider_id
                FOR NO KEY UPDATE;
            END IF;
        END IF;
        IF NOT v_new THEN
            v_id := v_message.id;
            SELECT array_agg(x) INTO v_added FROM unnest(v_group.recipients) x WHERE x <> ALL (v_message.recipients);
            -- The same message for a further inbox of ours: look again, at once. Whoever is at it has not seen that inbox
            -- and would close the message without it, so the claim is taken back.
            v_further := EXISTS (SELECT FROM unnest(v_group.inboxes) AS g(inbox) WHERE NOT EXISTS (
                SELECT FROM inbox_email e WHERE e.inbound_message_id = v_id AND e.inbox_id = g.inbox));
            -- Its bytes are not there when every inbox so far has dropped it, or when they were still elsewhere: what
            -- comes now is kept, the bytes or where they are. What is done and stays so was dropped on purpose.
            v_refilled := v_message.is_empty AND (v_further OR v_message.state <> 'done');
            v_brought := v_refilled AND octet_length(p_raw) > 0;
            UPDATE inbox_inboundmessage SET deliveries = deliveries + 1,
                recipients = recipients || coalesce(v_added, '{}'),
                state = CASE WHEN v_further THEN 'stored' ELSE state END,
                attempts = CASE WHEN v_further THEN 0 ELSE attempts END,
                due_at = CASE WHEN v_further THEN now() ELSE due_at END,
                lease_token = lease_token + v_further::int,
                raw = CASE WHEN v_brought THEN p_raw ELSE raw END,
                sha256 = CASE WHEN v_brought THEN p_sha256 ELSE sha256 END,
                size = CASE WHEN v_brought THEN octet_length(p_raw) ELSE size END,
                location = CASE WHEN v_refilled AND p_location <> '' THEN p_location ELSE location END
            WHERE id = v_id;
        END IF;
        FOR v_inbox IN SELECT i.id, i.active FROM inbox_inbox i WHERE i.id = ANY (v_group.inboxes) ORDER BY i.id LOOP
            v_email := NULL;
            IF NOT v_new THEN
                SELECT e.id INTO v_email FROM inbox_email e WHERE e.inbound_message_id = v_id AND e.inbox_id = v_inbox.id;
            END IF;
            IF v_email IS NULL THEN
                INSERT INTO inbox_email (id, workspace_id, inbound_message_id, inbox_id, message_id, state, received_at,
                    metadata, custom_metadata, subject, from_name, from_address, reply_to, "to", cc, rfc_message_id,
                    in_reply_to, reference_ids, warnings, verdicts)
                VALUES (gen_random_uuid(), v_group.owner, v_id, v_inbox.id, p_provider_id, 'stored', statement_timestamp(),
                    '{}', '{}', '', '', '', '[]', '[]', '[]', '', '[]', '[]', '[]', p_verdicts)
                ON CONFLICT ON CONSTRAINT inbox_one_email_per_message_and_inbox DO NOTHING RETURNING id INTO v_email;
                IF v_email IS NOT NULL THEN
                    v_facts := v_facts || jsonb_build_object('slug', 'email.stored', 'key', 'email_id:' || v_email,
                        'payload', jsonb_build_object('email_id', v_email, 'inbox_id', v_inbox.id, 'reason', ''));
                END IF;
            END IF;
            RETURN QUERY SELECT v_group.owner, v_id, v_email, v_inbox.id, v_new, statement_timestamp();
        END LOOP;
        IF v_group.inboxes IS NULL THEN
            RETURN QUERY SELECT v_group.owner, v_id, NULL::uuid, NULL::uuid, v_new, statement_timestamp();
        END IF;
        IF v_new OR v_further OR (v_added IS NOT NULL AND v_group.inboxes IS NULL) THEN
            v_facts := v_facts || jsonb_build_object('key', 'inbound_message_id:' || v_id,
                'slug', CASE WHEN v_group.inboxes IS NULL THEN 'inbound_message.quarantined'
                    ELSE 'inbound_message.stored' END,
                'payload', jsonb_build_object('inbound_message_id', v_id)
                    || CASE WHEN v_group.inboxes IS NULL THEN jsonb_build_object('reason', v_reason) ELSE '{}' END);
        END IF;
        IF v_facts <> '[]' THEN
            INSERT INTO kernel_outboxevent (event_id, workspace_id, slug, version, aggregate_key, payload, context)
            SELECT gen_random_uuid(), v_group.owner, f.slug, 1, f.key, f.payload, p_context
            FROM jsonb_to_recordset(v_facts) AS f(slug text, key text, payload jsonb);
        END IF;
    END LOOP;
    PERFORM set_config('app.all_workspaces', v_before, true);
END $$;
