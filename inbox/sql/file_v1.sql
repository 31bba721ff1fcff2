-- Plans inside are made once for a session, by indexes only: planning would cost more than running, and a plan made
-- while a table was small must not stay. Rows are looked up by arrays of ids or in sub-selects, never by a join: the
-- planner takes a fence to hide nearly all of a table, and would begin a join by reading the whole of it.
-- Put parsed mails into their threads: contacts, threads, entries, references, participants, attachments, facts and
-- audit, in one statement and so in one transaction. What is decided (class, thread) was decided before; this keeps the
-- promises that concurrency could break: one contact per address, seq in commit order under the thread's lock, one
-- entry per mail, and nothing at all for a mail when the caller's claim of its message is no longer the latest.
--
-- Several mails at once cost much less than one after the other. The caller sees to it that no two of them cite the
-- same id in the same inbox or go to the same thread; each is otherwise filed, or not, by itself. Locks are taken in one
-- order everywhere: messages, citations, contacts, workspaces, threads, chains.
--
-- p: an array of {n (its place, from 1), workspace_id, message_id, lease_token (the claim), final, email_id, inbox_id,
-- email {…}, thread_id|null, via (the entry that led there)|null, contact {…}|null, entry {…}|null, wanted [hex] and
-- seen (what the decision looked for, and how many citations it found), references [{id, kind}], participants [{address, role}], attachments [{…}], context,
-- audit_entry}. p_bodies: as many of [text, extracted text, html]. Gives each place its outcome.
CREATE FUNCTION inbox_file_v1(p jsonb, p_bodies jsonb) RETURNS TABLE (place int, outcome text) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    v_before constant text := coalesce(current_setting('app.all_workspaces', true), '');
    v_now constant timestamptz := clock_timestamp();
    v_live int[];  -- those whose claim is the latest
    v_fresh int[];  -- of them, those that were not filed before
    v_changed int[];  -- of them, those whose decision is out of date
    v_moved int[];  -- likewise, since people have moved what led them to their thread
    v_go jsonb := p;  -- the mails that are filed now
    v_by_id jsonb;  -- the same by the ids of their e-mails and threads
    -- By place:
    v_contacts uuid[];
    v_threads uuid[];
    v_entries uuid[];
    v_seqs bigint[];
    v_one record;
    v_some record;  -- which kinds of mails there are
BEGIN
    -- The bytes are safe since they were accepted; if a crash of the server takes this commit back, the message is
    -- still stored and is filed again. Whatever acts on these rows outside commits synchronously first, and the log is
    -- flushed in order, so nobody outside can have seen what was taken back.
    PERFORM set_config('app.all_workspaces', 'on', true), set_config('synchronous_commit', 'off', true);
    WITH locked AS MATERIALIZED (
        SELECT i.id, i.workspace_id, i.lease_token, i.state FROM inbox_inboundmessage i
        WHERE i.id = ANY (ARRAY(SELECT m.message_id FROM jsonb_to_recordset(p) AS m(message_id uuid)))
        ORDER BY i.id FOR NO KEY UPDATE
    )
    SELECT coalesce(array_agg(m.n), '{}') INTO v_live
    FROM jsonb_to_recordset(p) AS m(n int, workspace_id uuid, message_id uuid, lease_token int)
    JOIN locked l ON l.id = m.message_id AND l.workspace_id = m.workspace_id
    WHERE l.lease_token = m.lease_token AND l.state = 'stored';
    SELECT coalesce(array_agg(m.n), '{}') INTO v_fresh FROM jsonb_to_recordset(p) AS m(n int, email_id uuid)
    WHERE m.n = ANY (v_live)
        AND (SELECT e.state FROM inbox_email e WHERE e.id = m.email_id) IN ('received', 'stored', 'parsed');
    IF cardinality(v_live) > cardinality(v_fresh) THEN
        -- Filed before (a redelivery for a further recipient): only close the message.
        UPDATE inbox_inboundmessage i SET state = 'done' WHERE i.id = ANY (ARRAY(
            SELECT m.message_id FROM jsonb_to_recordset(p) AS m(n int, message_id uuid, final boolean)
            WHERE m.final AND m.n = ANY (v_live) AND m.n <> ALL (v_fresh)));
    END IF;

    -- Two mails that cite one another, or the same mail, are filed one after the other: whoever waited here looks again
    -- when there are citations by now that its decision did not know.
    PERFORM pg_advisory_xact_lock(k) FROM (
        SELECT DISTINCT hashtextextended(m.inbox_id || w, 0) AS k
        FROM jsonb_to_recordset(p) AS m(n int, inbox_id text, wanted jsonb), jsonb_array_elements_text(m.wanted) w
        WHERE m.n = ANY (v_fresh) ORDER BY 1
    ) locks;
    SELECT coalesce(array_agg(m.n), '{}') INTO v_changed
    FROM jsonb_to_recordset(p) AS m(n int, workspace_id uuid, inbox_id uuid, wanted jsonb, seen int)
    WHERE m.n = ANY (v_fresh) AND m.seen <> (
        SELECT count(*) FROM inbox_messagereference r
        WHERE r.workspace_id = m.workspace_id AND r.inbox_id = m.inbox_id AND r.message_id_hash = ANY (
            ARRAY(SELECT decode(w, 'hex') FROM jsonb_array_elements_text(m.wanted) w)));
    IF cardinality(v_fresh) - cardinality(v_changed) < jsonb_array_length(p) THEN
        SELECT coalesce(jsonb_agg(m), '[]') INTO v_go FROM jsonb_array_elements(p) m
        WHERE (m->>'n')::int = ANY (v_fresh) AND (m->>'n')::int <> ALL (v_changed);
    END IF;
    IF v_go <> '[]' THEN
        v_contacts := inbox_contacts_v1(p, v_go);
        v_moved := inbox_hold_threads_v1(v_go);
        IF v_moved <> '{}' THEN
            v_changed := v_changed || v_moved;
            SELECT coalesce(jsonb_agg(m), '[]') INTO v_go FROM jsonb_array_elements(v_go) m
            WHERE (m->>'n')::int <> ALL (v_moved);
        END IF;
    END IF;
    RETURN QUERY SELECT m.n, CASE WHEN m.n = ANY (v_changed) THEN 'changed' WHEN m.n = ANY (v_fresh) THEN 'filed'
        WHEN m.n = ANY (v_live) THEN 'known' ELSE 'stale' END FROM jsonb_to_recordset(p) AS m(n int);
    IF v_go = '[]' THEN
        PERFORM set_config('app.all_workspaces', v_before, true);
        RETURN;
    END IF;

    SELECT jsonb_object_agg(k.id, m) INTO v_by_id FROM jsonb_array_elements(v_go) AS m,
        LATERAL (VALUES (m->>'email_id'), (m->>'thread_id')) AS k(id) WHERE k.id IS NOT NULL;
    SELECT array_agg(coalesce(m.thread_id, gen_random_uuid()) ORDER BY m.n), array_agg(gen_random_uuid() ORDER BY m.n),
        array_agg(CASE WHEN m.entry IS NOT NULL THEN nextval('inbox_entry_seq') END ORDER BY m.n)
    INTO v_threads, v_entries, v_seqs FROM jsonb_to_recordset(p) AS m(n int, thread_id uuid, entry jsonb);

    SELECT coalesce(bool_or(m.entry IS NOT NULL AND m.thread_id IS NULL), false) AS begin_threads,
        coalesce(bool_or(m.entry IS NOT NULL AND m.thread_id IS NOT NULL), false) AS continue_threads,
        coalesce(bool_or(m.entry IS NOT NULL), false) AS are_shown,
        coalesce(bool_or(m.entry IS NULL), false) AS are_hidden
    INTO v_some FROM jsonb_to_recordset(v_go) AS m(thread_id uuid, entry jsonb);

    IF v_some.begin_threads THEN
        INSERT INTO inbox_thread (id, workspace_id, inbox_id, provider_thread_key, subject, contact_id, last_entry_seq,
            last_entry_at, entry_count, preview, first_unanswered_inbound_at)
        SELECT v_threads[m.n], m.workspace_id, m.inbox_id, 'email:' || m.email_id, m.email->>'subject', v_contacts[m.n],
            v_seqs[m.n], v_now, 1, m.entry->>'preview', CASE WHEN (m.entry->>'opens_turn')::boolean THEN v_now END
        FROM jsonb_to_recordset(v_go) AS m(n int, workspace_id uuid, inbox_id uuid, email_id uuid, email jsonb,
            thread_id uuid, entry jsonb)
        WHERE m.entry IS NOT NULL AND m.thread_id IS NULL;
    END IF;
    IF v_some.are_shown THEN
        UPDATE inbox_email i SET (state, state_reason, mail_class, class_reason, may_auto_answer, subject, from_name,
            from_address, reply_to, "to", cc, date, rfc_message_id, in_reply_to, reference_ids, warnings, hops) = (
            SELECT e.state, e.reason, e.mail_class, e.class_reason, e.may_auto_answer, e.subject, e.from_name,
                e.from_address, e.reply_to, e."to", e.cc, e.date, e.rfc_message_id, e.in_reply_to, e."references",
                e.warnings, e.hops
            FROM jsonb_to_record(v_by_id->(i.id::text)->'email') AS e(state text, reason text, mail_class text,
                class_reason text, may_auto_answer boolean, subject text, from_name text, from_address text,
                reply_to jsonb, "to" jsonb, cc jsonb, date timestamptz, rfc_message_id text, in_reply_to jsonb,
                "references" jsonb, warnings jsonb, hops int))
        WHERE i.id = ANY (ARRAY(SELECT m.email_id FROM jsonb_to_recordset(v_go) AS m(email_id uuid, entry jsonb)
            WHERE m.entry IS NOT NULL));
        INSERT INTO inbox_entry (id, workspace_id, seq, inbox_id, thread_id, email_id, direction, mail_class,
            provider_entry_key, author_kind, author_id, author_label, contact_id, in_reply_to_id, subject, body_text,
            extracted_text, body_html, sent_at_provider, occurred_at, thread_decision)
        SELECT v_entries[m.n], m.workspace_id, v_seqs[m.n], m.inbox_id, v_threads[m.n], m.email_id, 'inbound',
            m.email->>'mail_class', m.entry->>'key', 'contact', coalesce(v_contacts[m.n]::text, ''), m.entry->>'author',
            v_contacts[m.n], (m.entry->>'in_reply_to')::uuid, m.email->>'subject', b->>0, b->>1, b->>2,
            (m.email->>'date')::timestamptz, v_now, m.entry->'decision'
        FROM jsonb_to_recordset(v_go) AS m(n int, workspace_id uuid, inbox_id uuid, email_id uuid, email jsonb,
            entry jsonb),
            LATERAL (SELECT p_bodies->(m.n - 1) AS b OFFSET 0) AS bodies
        WHERE m.entry IS NOT NULL ORDER BY m.n;
        IF v_some.continue_threads THEN
            -- A response turn opens on a person's mail, unless it is older than the answer that was already given.
            UPDATE inbox_thread t SET last_entry_at = v_now, entry_count = entry_count + 1,
                (last_entry_seq, preview, contact_id, status, snoozed_until, first_unanswered_inbound_at) = (
                SELECT v_seqs[m.n], m.entry->>'preview', coalesce(t.contact_id, v_contacts[m.n]),
                    CASE WHEN turn.opens AND t.status IN ('closed', 'snoozed') THEN 'open' ELSE t.status END,
                    CASE WHEN NOT turn.opens THEN t.snoozed_until END,
                    CASE WHEN turn.opens THEN coalesce(t.first_unanswered_inbound_at, v_now)
                        ELSE t.first_unanswered_inbound_at END
                FROM jsonb_to_record(v_by_id->(t.id::text)) AS m(n int, entry jsonb), LATERAL (
                    SELECT (m.entry->>'opens_turn')::boolean AND NOT EXISTS (
                        SELECT 1 FROM inbox_entry a WHERE a.thread_id = t.id AND a.direction = 'outbound'
                            AND a.outbound_kind IN ('human', 'ai_answer', 'flow')
                            AND a.occurred_at > (m.entry->>'written_at')::timestamptz
                            AND NOT EXISTS (SELECT 1 FROM inbox_outboundmessage o
                                WHERE o.entry_id = a.id AND o.state = 'failed')) AS opens OFFSET 0) AS turn)
            WHERE t.id = ANY (ARRAY(SELECT m.thread_id FROM jsonb_to_recordset(v_go) AS m(thread_id uuid, entry jsonb)
                WHERE m.entry IS NOT NULL));
        END IF;
        INSERT INTO inbox_messagereference (workspace_id, inbox_id, entry_id, message_id_hash, message_id, kind)
        SELECT m.workspace_id, m.inbox_id, v_entries[m.n], sha256(convert_to(r->>'id', 'UTF8')), r->>'id', r->>'kind'
        FROM jsonb_to_recordset(v_go) AS m(n int, workspace_id uuid, inbox_id uuid, "references" jsonb),
            jsonb_array_elements(m."references") r ON CONFLICT DO NOTHING;
        INSERT INTO inbox_threadparticipant (workspace_id, thread_id, contact_id, address, role, source)
        SELECT m.workspace_id, v_threads[m.n], CASE WHEN r->>'role' = 'requester' THEN v_contacts[m.n] END, r->>'address',
            r->>'role', 'inbound'
        FROM jsonb_to_recordset(v_go) AS m(n int, workspace_id uuid, participants jsonb),
            jsonb_array_elements(m.participants) r ON CONFLICT DO NOTHING;
        FOR v_one IN
            SELECT m.n, m.workspace_id, m.email_id, m.attachments
            FROM jsonb_to_recordset(v_go) AS m(n int, workspace_id uuid, email_id uuid, attachments jsonb)
            WHERE m.attachments <> '[]'
        LOOP
            PERFORM inbox_attach_v1(v_one.workspace_id, v_entries[v_one.n], v_one.email_id, v_one.attachments);
        END LOOP;
    END IF;
    IF v_some.are_hidden THEN
        -- What is not shown keeps no more than a person needs to find it.
        UPDATE inbox_email i SET (state, state_reason, mail_class, class_reason, subject, from_name, from_address, "to",
            cc, date, rfc_message_id, warnings) = (
            SELECT e.state, e.reason, e.mail_class, e.class_reason, e.subject, e.from_name, e.from_address, e."to", e.cc,
                e.date, e.rfc_message_id, e.warnings
            FROM jsonb_to_record(v_by_id->(i.id::text)->'email') AS e(state text, reason text, mail_class text,
                class_reason text, subject text, from_name text, from_address text, "to" jsonb, cc jsonb,
                date timestamptz, rfc_message_id text, warnings jsonb))
        WHERE i.id = ANY (ARRAY(SELECT m.email_id FROM jsonb_to_recordset(v_go) AS m(email_id uuid, entry jsonb)
            WHERE m.entry IS NULL));
    END IF;
    UPDATE inbox_inboundmessage i SET state = 'done', reason = '' WHERE i.id = ANY (ARRAY(
        SELECT m.message_id FROM jsonb_to_recordset(v_go) AS m(message_id uuid, final boolean) WHERE m.final));
    INSERT INTO kernel_outboxevent (event_id, workspace_id, slug, version, aggregate_key, payload, context)
    SELECT gen_random_uuid(), m.workspace_id, f.slug, 1, f.key, f.payload, m.context
    FROM jsonb_to_recordset(v_go) AS m(n int, workspace_id uuid, inbox_id uuid, email_id uuid, email jsonb, thread_id uuid,
        entry jsonb, context jsonb), LATERAL (
        SELECT 1 AS place, 'email.parsed' AS slug, 'email_id:' || m.email_id AS key,
            jsonb_build_object('email_id', m.email_id, 'inbox_id', m.inbox_id, 'reason', '') AS payload
        UNION ALL
        SELECT 2, 'thread.created', 'thread_id:' || v_threads[m.n],
            jsonb_build_object('thread_id', v_threads[m.n], 'inbox_id', m.inbox_id)
        WHERE m.entry IS NOT NULL AND m.thread_id IS NULL
        UNION ALL
        SELECT 3, 'email.received', 'thread_id:' || v_threads[m.n],
            jsonb_build_object('email_id', m.email_id, 'inbox_id', m.inbox_id, 'thread_id', v_threads[m.n],
                'entry_id', v_entries[m.n], 'contact_id', v_contacts[m.n], 'mail_class', m.email->>'mail_class',
                'may_auto_answer', m.email->'may_auto_answer')
        WHERE m.entry IS NOT NULL
        UNION ALL
        SELECT 4, 'email.' || (m.email->>'state'), 'email_id:' || m.email_id,
            jsonb_build_object('email_id', m.email_id, 'inbox_id', m.inbox_id, 'reason', m.email->>'reason')
        WHERE m.email->>'state' IN ('ignored', 'quarantined')
    ) AS f ORDER BY m.n, f.place;
    -- The chains' heads are hot rows: last.
    PERFORM audit_append_v1(NULL, (
        SELECT jsonb_agg(m.audit_entry || jsonb_build_object('workspace_id', m.workspace_id, 'payload',
            jsonb_build_object('inbox_id', m.inbox_id, 'thread_id', CASE WHEN m.entry IS NOT NULL THEN v_threads[m.n] END,
                'mail_class', m.email->>'mail_class', 'state', m.email->>'state')) ORDER BY m.n)
        FROM jsonb_to_recordset(v_go) AS m(n int, workspace_id uuid, inbox_id uuid, email jsonb, entry jsonb,
            audit_entry jsonb)));
    PERFORM set_config('app.all_workspaces', v_before, true);
END $$;

-- Lock the threads that mails were placed in, and give the places of those mails for which that is no longer the place:
-- merged meanwhile, taken away, or the entry that led there (via) was moved elsewhere. Their caller decides anew.
CREATE FUNCTION inbox_hold_threads_v1(p_go jsonb) RETURNS int[] LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM inbox_thread t
    WHERE t.id = ANY (ARRAY(SELECT m.thread_id FROM jsonb_to_recordset(p_go) AS m(thread_id uuid)))
    ORDER BY t.id FOR NO KEY UPDATE;
    IF NOT FOUND AND NOT jsonb_path_exists(p_go, '$[*].thread_id ? (@ != null)') THEN
        RETURN '{}';
    END IF;
    -- A statement of its own: under the locks it sees what was committed before.
    RETURN coalesce((
        SELECT array_agg(m.n) FROM jsonb_to_recordset(p_go) AS m(n int, thread_id uuid, via uuid)
        WHERE m.thread_id IS NOT NULL AND (
            NOT EXISTS (SELECT FROM inbox_thread t WHERE t.id = m.thread_id AND t.merged_into_id IS NULL)
            OR (m.via IS NOT NULL AND
                (SELECT e.thread_id FROM inbox_entry e WHERE e.id = m.via) IS DISTINCT FROM m.thread_id))), '{}');
END $$;

-- The one person behind each address, in their realm, with a profile and a sighting in the mail's workspace (X-3, CW-4).
-- p: the mails, of which only those in p_go are to be filed. Gives contacts by place.
CREATE FUNCTION inbox_contacts_v1(p jsonb, p_go jsonb) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    v_contacts uuid[];
    v_identifiers uuid[];
    v_profiles uuid[];
    v_strangers int[];
BEGIN
    FOR v_try IN 1..2 LOOP
        SELECT array_agg(c.contact_id ORDER BY m.n), array_agg(c.id ORDER BY m.n) INTO v_contacts, v_identifiers
        FROM jsonb_to_recordset(p) AS m(n int, workspace_id uuid, contact jsonb) LEFT JOIN LATERAL (
            SELECT i.id, i.contact_id FROM contacts_contactidentifier i
            WHERE i.realm_id = (SELECT w.realm_id FROM tenancy_workspace w WHERE w.id = m.workspace_id)
                AND i.kind = 'email' AND i.value = m.contact->>'address' OFFSET 0) AS c ON true;
        EXIT WHEN v_try = 2 OR NOT EXISTS (
            SELECT FROM jsonb_to_recordset(p_go) AS m(n int, contact jsonb)
            WHERE m.contact IS NOT NULL AND v_contacts[m.n] IS NULL);
        -- In one order everywhere. Where another transaction was first, its person is the person.
        WITH unknown AS MATERIALIZED (
            SELECT DISTINCT (SELECT w.realm_id FROM tenancy_workspace w WHERE w.id = m.workspace_id) AS realm_id,
                m.contact->>'address' AS address
            FROM jsonb_to_recordset(p_go) AS m(n int, workspace_id uuid, contact jsonb)
            WHERE m.contact IS NOT NULL AND v_contacts[m.n] IS NULL ORDER BY 1, 2
        ), known AS (
            INSERT INTO contacts_contactidentifier (id, contact_id, realm_id, kind, value, raw, provider_scope)
            SELECT gen_random_uuid(), gen_random_uuid(), realm_id, 'email', address, address, '' FROM unknown
            ON CONFLICT ON CONSTRAINT contacts_one_person_per_identifier DO NOTHING RETURNING contact_id, realm_id
        )
        INSERT INTO contacts_contact (id, realm_id, created_via) SELECT contact_id, realm_id, 'inbound' FROM known;
    END LOOP;

    SELECT array_agg(s.profile_id) FILTER (WHERE s.profile_id IS NOT NULL),
        array_agg(s.n) FILTER (WHERE s.profile_id IS NULL) INTO v_profiles, v_strangers
    FROM (
        SELECT m.n, (SELECT c.id FROM contacts_contactprofile c
            WHERE c.workspace_id = m.workspace_id AND c.contact_id = v_contacts[m.n]) AS profile_id
        FROM jsonb_to_recordset(p_go) AS m(n int, workspace_id uuid) WHERE v_contacts[m.n] IS NOT NULL
    ) s;
    PERFORM 1 FROM contacts_contactprofile c WHERE c.id = ANY (v_profiles) ORDER BY c.id FOR NO KEY UPDATE;
    UPDATE contacts_contactprofile c SET last_seen_at = clock_timestamp() WHERE c.id = ANY (v_profiles);
    IF v_strangers IS NULL THEN
        RETURN v_contacts;
    END IF;

    PERFORM 1 FROM tenancy_workspace w WHERE w.id = ANY (ARRAY(
        SELECT m.workspace_id FROM jsonb_to_recordset(p_go) AS m(n int, workspace_id uuid) WHERE m.n = ANY (v_strangers)
    )) ORDER BY w.id FOR NO KEY UPDATE;
    WITH met AS MATERIALIZED (
        SELECT DISTINCT ON (m.workspace_id, v_contacts[m.n]) m.workspace_id, v_contacts[m.n] AS contact_id,
            v_identifiers[m.n] AS identifier_id, left(m.contact->>'name', 200) AS name
        FROM jsonb_to_recordset(p_go) AS m(n int, workspace_id uuid, contact jsonb)
        WHERE m.n = ANY (v_strangers) ORDER BY m.workspace_id, v_contacts[m.n], m.n
    ), labels AS (
        UPDATE tenancy_workspace w
        SET contact_seq = w.contact_seq + (SELECT count(*) FROM met s WHERE s.workspace_id = w.id)
        WHERE w.id = ANY (ARRAY(SELECT s.workspace_id FROM met s))
        RETURNING w.id, w.contact_seq - (SELECT count(*) FROM met s WHERE s.workspace_id = w.id) AS before
    ), profiles AS (
        INSERT INTO contacts_contactprofile (id, workspace_id, contact_id, label_no, display_name, attributes, source,
            engagement_score, engagement_rating)
        SELECT gen_random_uuid(), s.workspace_id, s.contact_id,
            l.before + row_number() OVER (PARTITION BY s.workspace_id), s.name, '{}', 'inbound', 0, ''
        FROM met s JOIN labels l ON l.id = s.workspace_id
        ON CONFLICT ON CONSTRAINT contacts_one_profile_per_workspace DO NOTHING
    )
    INSERT INTO contacts_identifiersighting (id, workspace_id, identifier_id)
    SELECT gen_random_uuid(), s.workspace_id, s.identifier_id FROM met s
    ON CONFLICT ON CONSTRAINT contacts_one_sighting_per_workspace DO NOTHING;
    RETURN v_contacts;
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
