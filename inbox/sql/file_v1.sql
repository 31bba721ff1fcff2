-- Plans inside are made once for a session, without sequential scans: planning would cost more than running, and a plan
-- made while a table was small must not stay.
-- Put one parsed mail into its thread: contact, thread, entry, references, participants, attachments, facts and audit,
-- in one statement and so in one transaction. What is decided (class, thread) was decided before; this keeps the
-- promises that concurrency could break: one contact per address, seq in commit order under the thread's lock, one
-- entry per mail, and nothing at all when the caller's claim of the message is no longer the latest.
--
-- p: message_id, attempts (the claim), final, email {…}, thread_id|null, contact {…}|null, entry {…}|null,
-- wanted [hex] and seen (what the decision looked for, and how many citations it found), references [{id, kind}],
-- participants [{address, role}], attachments [{…}], context, audit_entry.
CREATE FUNCTION inbox_file_v1(p_workspace uuid, p jsonb, p_text text, p_extracted text, p_html text)
RETURNS TABLE (outcome text, entry_id uuid, thread_id uuid) LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    e constant jsonb := p->'email';
    n constant jsonb := p->'entry';
    v_message uuid := (p->>'message_id')::uuid;
    v_email uuid := (e->>'id')::uuid;
    v_inbox uuid := (e->>'inbox_id')::uuid;
    v_state text;
    v_contact uuid;
    v_is_new boolean := false;
    v_thread_id uuid := (p->>'thread_id')::uuid;
    v_entry uuid;
    v_seq bigint;
    v_now timestamptz := clock_timestamp();
    v_turn boolean;
    v_events jsonb := '[]';
BEGIN
    -- The bytes are safe since they were accepted; if a crash of the server takes this commit back, the message is
    -- still stored and is filed again. Whatever acts on these rows outside commits synchronously first, and the log is
    -- flushed in order, so nobody outside can have seen what was taken back.
    PERFORM set_config('app.workspace_id', p_workspace::text, true), set_config('synchronous_commit', 'off', true);
    PERFORM 1 FROM inbox_inboundmessage WHERE id = v_message AND attempts = (p->>'attempts')::int
        AND state = 'stored' FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN QUERY SELECT 'stale', NULL::uuid, NULL::uuid;
        RETURN;
    END IF;
    SELECT state INTO v_state FROM inbox_email WHERE id = v_email;
    IF v_state NOT IN ('received', 'stored', 'parsed') THEN
        -- Filed before (a redelivery for a further recipient): only close the message.
        IF (p->>'final')::boolean THEN
            UPDATE inbox_inboundmessage SET state = 'done' WHERE id = v_message;
        END IF;
        RETURN QUERY SELECT 'known', NULL::uuid, NULL::uuid;
        RETURN;
    END IF;

    -- Two mails that cite one another, or the same mail, are filed one after the other: whoever waited here looks again
    -- when there are citations by now that its decision did not know.
    PERFORM pg_advisory_xact_lock(k) FROM (
        SELECT DISTINCT hashtextextended(v_inbox || w, 0) AS k FROM jsonb_array_elements_text(p->'wanted') w ORDER BY 1
    ) locks;
    IF (SELECT count(*) FROM inbox_messagereference r WHERE r.workspace_id = p_workspace AND r.inbox_id = v_inbox
            AND r.message_id_hash IN (SELECT decode(w, 'hex') FROM jsonb_array_elements_text(p->'wanted') w))
        <> (p->>'seen')::int THEN
        RETURN QUERY SELECT 'changed', NULL::uuid, NULL::uuid;
        RETURN;
    END IF;

    IF p->'contact' <> 'null' THEN
        v_contact := inbox_contact_v1(p_workspace, p->'contact'->>'address', p->'contact'->>'name');
    END IF;

    v_events := v_events || jsonb_build_object('slug', 'email.parsed', 'key', 'email_id:' || v_email,
        'payload', jsonb_build_object('email_id', v_email, 'inbox_id', v_inbox, 'reason', ''));
    IF n <> 'null' THEN
        IF v_thread_id IS NOT NULL THEN
            PERFORM 1 FROM inbox_thread t WHERE t.id = v_thread_id FOR NO KEY UPDATE;
        ELSE
            v_seq := nextval('inbox_entry_seq');
            v_thread_id := gen_random_uuid();
            v_is_new := true;
            INSERT INTO inbox_thread (id, workspace_id, inbox_id, provider_thread_key, subject, contact_id,
                last_entry_seq, last_entry_at, entry_count, preview, first_unanswered_inbound_at)
            VALUES (v_thread_id, p_workspace, v_inbox, 'email:' || v_email, e->>'subject', v_contact,
                v_seq, v_now, 1, n->>'preview', CASE WHEN (n->>'opens_turn')::boolean THEN v_now END);
            v_events := v_events || jsonb_build_object('slug', 'thread.created', 'key', 'thread_id:' || v_thread_id,
                'payload', jsonb_build_object('thread_id', v_thread_id, 'inbox_id', v_inbox));
        END IF;
        v_entry := gen_random_uuid();
        IF NOT v_is_new THEN
            v_seq := nextval('inbox_entry_seq');
        END IF;
        UPDATE inbox_email SET state = e->>'state', state_reason = e->>'reason', mail_class = e->>'mail_class',
            class_reason = e->>'class_reason', may_auto_answer = (e->>'may_auto_answer')::boolean,
            subject = e->>'subject', from_name = e->>'from_name', from_address = e->>'from_address',
            reply_to = e->'reply_to', "to" = e->'to', cc = e->'cc', date = (e->>'date')::timestamptz,
            rfc_message_id = e->>'rfc_message_id', in_reply_to = e->'in_reply_to', reference_ids = e->'references',
            warnings = e->'warnings', hops = (e->>'hops')::int
        WHERE id = v_email;
        INSERT INTO inbox_entry (id, workspace_id, seq, inbox_id, thread_id, email_id, direction, mail_class,
            provider_entry_key, author_kind, author_id, author_label, contact_id, in_reply_to_id, subject, body_text,
            extracted_text, body_html, sent_at_provider, occurred_at, thread_decision)
        VALUES (v_entry, p_workspace, v_seq, v_inbox, v_thread_id, v_email, 'inbound', e->>'mail_class',
            n->>'key', 'contact', coalesce(v_contact::text, ''), n->>'author', v_contact,
            (n->>'in_reply_to')::uuid, e->>'subject', p_text, p_extracted, p_html, (e->>'date')::timestamptz, v_now,
            n->'decision');
        IF NOT v_is_new THEN
            -- A response turn opens on a person's mail, unless it is older than the answer that was already given.
            v_turn := (n->>'opens_turn')::boolean AND NOT EXISTS (
                SELECT 1 FROM inbox_entry a WHERE a.thread_id = v_thread_id AND a.direction = 'outbound'
                    AND a.outbound_kind IN ('human', 'ai_answer', 'flow')
                    AND a.occurred_at > (n->>'written_at')::timestamptz);
            UPDATE inbox_thread SET last_entry_seq = v_seq, last_entry_at = v_now, entry_count = entry_count + 1,
                preview = n->>'preview', contact_id = coalesce(contact_id, v_contact),
                status = CASE WHEN v_turn AND status IN ('closed', 'snoozed') THEN 'open' ELSE status END,
                snoozed_until = CASE WHEN v_turn THEN NULL ELSE snoozed_until END,
                first_unanswered_inbound_at = CASE WHEN v_turn THEN coalesce(first_unanswered_inbound_at, v_now)
                    ELSE first_unanswered_inbound_at END
            WHERE id = v_thread_id;
        END IF;
        INSERT INTO inbox_messagereference (workspace_id, inbox_id, entry_id, message_id_hash, message_id, kind)
        SELECT p_workspace, v_inbox, v_entry, sha256(convert_to(r->>'id', 'UTF8')), r->>'id', r->>'kind'
        FROM jsonb_array_elements(p->'references') r ON CONFLICT DO NOTHING;
        INSERT INTO inbox_threadparticipant (workspace_id, thread_id, contact_id, address, role, source)
        SELECT p_workspace, v_thread_id, CASE WHEN r->>'role' = 'requester' THEN v_contact END, r->>'address', r->>'role',
            'inbound'
        FROM jsonb_array_elements(p->'participants') r ON CONFLICT DO NOTHING;
        IF jsonb_array_length(p->'attachments') > 0 THEN
            PERFORM inbox_attach_v1(p_workspace, v_entry, v_email, p->'attachments');
        END IF;
        v_events := v_events || jsonb_build_object('slug', 'email.received', 'key', 'thread_id:' || v_thread_id,
            'payload', jsonb_build_object('email_id', v_email, 'inbox_id', v_inbox, 'thread_id', v_thread_id,
                'entry_id', v_entry, 'contact_id', v_contact, 'mail_class', e->>'mail_class',
                'may_auto_answer', (e->>'may_auto_answer')::boolean));
    ELSE
        UPDATE inbox_email SET state = e->>'state', state_reason = e->>'reason', mail_class = e->>'mail_class',
            class_reason = e->>'class_reason', subject = e->>'subject', from_name = e->>'from_name',
            from_address = e->>'from_address', "to" = e->'to', cc = e->'cc', date = (e->>'date')::timestamptz,
            rfc_message_id = e->>'rfc_message_id', warnings = e->'warnings'
        WHERE id = v_email;
    END IF;
    IF e->>'state' IN ('ignored', 'quarantined') THEN
        v_events := v_events || jsonb_build_object('slug', 'email.' || (e->>'state'), 'key', 'email_id:' || v_email,
            'payload', jsonb_build_object('email_id', v_email, 'inbox_id', v_inbox, 'reason', e->>'reason'));
    END IF;
    IF (p->>'final')::boolean THEN
        UPDATE inbox_inboundmessage SET state = 'done', reason = '' WHERE id = v_message;
    END IF;
    INSERT INTO kernel_outboxevent (event_id, workspace_id, slug, version, aggregate_key, payload, context)
    SELECT gen_random_uuid(), p_workspace, v->>'slug', 1, v->>'key', v->'payload', p->'context'
    FROM jsonb_array_elements(v_events) WITH ORDINALITY AS t(v, position) ORDER BY position;
    -- The chain's head is a hot row: last.
    PERFORM audit_append_v1(p_workspace, jsonb_build_array(p->'audit_entry'
        || jsonb_build_object('payload', jsonb_build_object('inbox_id', v_inbox, 'thread_id', v_thread_id,
            'mail_class', e->>'mail_class', 'state', e->>'state'))));
    RETURN QUERY SELECT 'filed', v_entry, v_thread_id;
END $$;

-- The one person behind an address, in their realm, with a profile and a sighting in this workspace (X-3, CW-4).
CREATE FUNCTION inbox_contact_v1(p_workspace uuid, p_address text, p_name text) RETURNS uuid
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_realm uuid;
    v_contact uuid;
    v_identifier uuid;
    v_label bigint;
BEGIN
    SELECT realm_id INTO v_realm FROM tenancy_workspace WHERE id = p_workspace;
    SELECT id, contact_id INTO v_identifier, v_contact FROM contacts_contactidentifier
    WHERE realm_id = v_realm AND kind = 'email' AND value = p_address;
    IF NOT FOUND THEN
        v_contact := gen_random_uuid();
        INSERT INTO contacts_contact (id, realm_id, created_via) VALUES (v_contact, v_realm, 'inbound');
        INSERT INTO contacts_contactidentifier (id, contact_id, realm_id, kind, value, raw, provider_scope)
        VALUES (gen_random_uuid(), v_contact, v_realm, 'email', p_address, p_address, '')
        ON CONFLICT ON CONSTRAINT contacts_one_person_per_identifier DO NOTHING RETURNING id INTO v_identifier;
        IF NOT FOUND THEN
            -- Another transaction was first: its person is the person, ours is withdrawn.
            DELETE FROM contacts_contact WHERE id = v_contact;
            SELECT id, contact_id INTO v_identifier, v_contact FROM contacts_contactidentifier
            WHERE realm_id = v_realm AND kind = 'email' AND value = p_address;
        END IF;
    END IF;
    UPDATE contacts_contactprofile SET last_seen_at = clock_timestamp()
    WHERE workspace_id = p_workspace AND contact_id = v_contact;
    IF NOT FOUND THEN
        UPDATE tenancy_workspace SET contact_seq = contact_seq + 1 WHERE id = p_workspace RETURNING contact_seq INTO v_label;
        INSERT INTO contacts_contactprofile (id, workspace_id, contact_id, label_no, display_name, attributes, source,
            engagement_score, engagement_rating)
        VALUES (gen_random_uuid(), p_workspace, v_contact, v_label, left(p_name, 200), '{}', 'inbound', 0, '')
        ON CONFLICT ON CONSTRAINT contacts_one_profile_per_workspace DO NOTHING;
        INSERT INTO contacts_identifiersighting (id, workspace_id, identifier_id)
        VALUES (gen_random_uuid(), p_workspace, v_identifier)
        ON CONFLICT ON CONSTRAINT contacts_one_sighting_per_workspace DO NOTHING;
    END IF;
    RETURN v_contact;
END $$;

-- Files are kept once per workspace and content; their bytes are in the store already.
CREATE FUNCTION inbox_attach_v1(p_workspace uuid, p_entry uuid, p_email uuid, p_attachments jsonb) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    a jsonb;
    v_file uuid;
BEGIN
    FOR a IN SELECT * FROM jsonb_array_elements(p_attachments) LOOP
        SELECT id INTO v_file FROM files_file
        WHERE workspace_id = p_workspace AND sha256 = decode(a->>'sha256', 'hex') AND size = (a->>'size')::bigint;
        IF NOT FOUND THEN
            INSERT INTO files_file (id, workspace_id, sha256, size, mime_declared, mime_sniffed, storage_key, scan_state,
                scan_reason, legal_hold)
            VALUES (gen_random_uuid(), p_workspace, decode(a->>'sha256', 'hex'), (a->>'size')::bigint,
                a->>'content_type', a->>'sniffed_type', a->>'storage_key', coalesce(a->>'scan_state', 'none'),
                coalesce(a->>'scan_reason', ''), false)
            ON CONFLICT ON CONSTRAINT files_one_copy_per_content DO NOTHING RETURNING id INTO v_file;
            IF NOT FOUND THEN
                SELECT id INTO v_file FROM files_file WHERE workspace_id = p_workspace
                    AND sha256 = decode(a->>'sha256', 'hex') AND size = (a->>'size')::bigint;
            END IF;
        END IF;
        INSERT INTO inbox_attachment (id, workspace_id, entry_id, email_id, file_id, position, filename, content_type,
            content_id, inline)
        VALUES (gen_random_uuid(), p_workspace, p_entry, p_email, v_file, (a->>'position')::int, a->>'filename',
            a->>'content_type', a->>'content_id', (a->>'inline')::boolean);
    END LOOP;
END $$;
