-- Conversations that people put together and take apart.

-- A thread is merged into one that is not merged itself, so no chain of merges can ever become a circle: a circle's last
-- link would lead to a thread that has a way out already. The share lock keeps the target so until the commit.
CREATE FUNCTION inbox_merge_v1() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    v_next uuid;
BEGIN
    SELECT t.merged_into_id INTO v_next FROM inbox_thread t WHERE t.id = NEW.merged_into_id FOR SHARE;
    IF v_next IS NOT NULL THEN
        RAISE EXCEPTION 'thread % was merged itself and takes no other', NEW.merged_into_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'inbox_thread_merges_into_live', TABLE = 'inbox_thread';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER inbox_thread_merges BEFORE INSERT OR UPDATE OF merged_into_id ON inbox_thread
    FOR EACH ROW WHEN (NEW.merged_into_id IS NOT NULL) EXECUTE FUNCTION inbox_merge_v1();

-- Since when a person waits for an answer: the first mail of a person after the last answer that left or will leave.
-- A mail that was written before an answer which was already given when it came opens no turn (S1-21); its date counts
-- as where it was filed: when plausible, and not of a mail that proves to answer ours.
CREATE FUNCTION inbox_turn_v1(p_thread uuid) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    WITH answers AS (
        SELECT a.seq, a.occurred_at FROM inbox_entry a LEFT JOIN inbox_outboundmessage o ON o.entry_id = a.id
        WHERE a.thread_id = p_thread AND a.direction = 'outbound' AND a.outbound_kind IN ('human', 'ai_answer', 'flow')
          AND coalesce(o.state, '') <> 'failed'
    )
    SELECT e.occurred_at FROM inbox_entry e
    WHERE e.thread_id = p_thread AND e.direction = 'inbound' AND e.mail_class = 'human'
      AND e.seq > coalesce((SELECT max(a.seq) FROM answers a), 0)
      AND NOT EXISTS (SELECT FROM answers a WHERE a.seq < e.seq AND a.occurred_at > e.sent_at_provider
            AND coalesce(e.thread_decision->'origin'->>'rule', e.thread_decision->>'rule', '')
                NOT IN ('signed_reply', 'reply_address')
            AND e.sent_at_provider BETWEEN e.occurred_at - interval '2 days' AND e.occurred_at + interval '2 days')
    ORDER BY e.seq LIMIT 1
$$;

-- What a thread says of its entries, counted anew; the caller holds its lock. A customer who waits is never out of sight.
CREATE FUNCTION inbox_recount_thread_v1(p_thread uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint;
    v_seq bigint;
    v_at timestamptz;
    v_turn timestamptz := inbox_turn_v1(p_thread);
    v_preview text;
    v_contact uuid;
BEGIN
    SELECT count(*), max(e.seq) INTO v_count, v_seq FROM inbox_entry e WHERE e.thread_id = p_thread;
    SELECT e.occurred_at INTO v_at FROM inbox_entry e WHERE e.thread_id = p_thread AND e.seq = v_seq;
    SELECT left(btrim(regexp_replace(coalesce(nullif(e.extracted_text, ''), e.body_text), '\s+', ' ', 'g')), 160)
    INTO v_preview FROM inbox_entry e
    WHERE e.thread_id = p_thread AND e.direction <> 'internal' ORDER BY e.seq DESC LIMIT 1;
    SELECT e.contact_id INTO v_contact FROM inbox_entry e
    WHERE e.thread_id = p_thread AND e.contact_id IS NOT NULL ORDER BY e.seq LIMIT 1;
    UPDATE inbox_thread t SET entry_count = v_count, last_entry_seq = coalesce(v_seq, 0),
        last_entry_at = coalesce(v_at, t.last_entry_at), preview = coalesce(v_preview, ''),
        contact_id = CASE WHEN v_count = 0 THEN t.contact_id ELSE v_contact END,
        status = CASE WHEN v_turn IS NOT NULL AND t.first_unanswered_inbound_at IS NULL AND t.status IN ('closed', 'snoozed')
            THEN 'open' ELSE t.status END,
        snoozed_until = CASE WHEN v_turn IS NOT NULL AND t.first_unanswered_inbound_at IS NULL THEN NULL
            ELSE t.snoozed_until END,
        first_unanswered_inbound_at = v_turn
    WHERE t.id = p_thread;
END $$;
