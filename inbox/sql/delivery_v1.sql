-- The order of delivery states (inbox/types.py, DeliveryState): news arrives in any order, and a state never goes back.
CREATE FUNCTION inbox_delivery_rank_v1(p_state text) RETURNS int LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE p_state WHEN 'sent' THEN 1 WHEN 'failed' THEN 2 WHEN 'delayed' THEN 3 WHEN 'soft_bounced' THEN 4
        WHEN 'delivered' THEN 5 WHEN 'bounced' THEN 6 WHEN 'complained' THEN 7 ELSE 0 END
$$;

CREATE FUNCTION inbox_refuse_regress_v1() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    v_before text := to_jsonb(OLD)->>TG_ARGV[0];
    v_after text := to_jsonb(NEW)->>TG_ARGV[0];
BEGIN
    IF inbox_delivery_rank_v1(v_after) < inbox_delivery_rank_v1(v_before) THEN
        RAISE EXCEPTION '%.% may not go back from % to %', TG_TABLE_NAME, TG_ARGV[0], v_before, v_after
            USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME;
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER inbox_entry_delivery_goes_on BEFORE UPDATE OF delivery_state ON inbox_entry FOR EACH ROW
    WHEN (OLD.delivery_state IS DISTINCT FROM NEW.delivery_state)
    EXECUTE FUNCTION inbox_refuse_regress_v1('delivery_state');
CREATE TRIGGER inbox_recipient_delivery_goes_on BEFORE UPDATE OF state ON inbox_entryrecipient FOR EACH ROW
    WHEN (OLD.state IS DISTINCT FROM NEW.state)
    EXECUTE FUNCTION inbox_refuse_regress_v1('state');

-- Keep a proven callback of a provider, and the fact that starts its processing, in one statement and so in one
-- transaction. It belongs to the workspace of the message that it is about: by the provider's id, by the tag that we sent
-- along, or by the entry that our signed Message-ID names. Without one it is kept for the estate, as `unmatched`.
--
-- p_status is null, or what the row is to be without any search.
CREATE FUNCTION inbox_take_news_v1(
    p_provider text, p_event_id text, p_content_key bytea, p_kind text, p_signature text, p_ref text, p_tag uuid,
    p_entry uuid, p_payload jsonb, p_context jsonb, p_status text, p_reason text
) RETURNS TABLE (outcome text, provider_event_id uuid) LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    v_before constant text := coalesce(current_setting('app.all_workspaces', true), '');
    v_workspace uuid;
    v_id uuid;
    v_status text := p_status;
BEGIN
    PERFORM set_config('app.all_workspaces', 'on', true);
    IF v_status IS NULL THEN
        SELECT o.workspace_id INTO v_workspace FROM inbox_outboundmessage o
        WHERE o.provider_ref = p_ref AND o.provider_ref <> '' LIMIT 1;
        IF v_workspace IS NULL THEN
            SELECT o.workspace_id INTO v_workspace FROM inbox_outboundmessage o WHERE o.id = p_tag;
        END IF;
        IF v_workspace IS NULL THEN
            SELECT o.workspace_id INTO v_workspace FROM inbox_outboundmessage o WHERE o.entry_id = p_entry;
        END IF;
        v_status := CASE WHEN v_workspace IS NULL THEN 'unmatched' ELSE 'received' END;
    END IF;
    INSERT INTO webhooks_providerevent (id, workspace_id, provider, provider_event_id, content_key, kind, subject_ref,
        signature, payload, status, reason)
    VALUES (gen_random_uuid(), coalesce(v_workspace, '00000000-0000-4000-8000-000000000000'), p_provider, p_event_id,
        p_content_key, p_kind, p_ref, p_signature, p_payload, v_status, p_reason)
    ON CONFLICT DO NOTHING RETURNING id INTO v_id;
    IF v_id IS NULL THEN
        UPDATE webhooks_providerevent p SET deliveries = deliveries + 1
        WHERE p.provider = p_provider AND (p.provider_event_id = p_event_id OR p.content_key = p_content_key)
        RETURNING p.id INTO v_id;
        v_status := 'duplicate';
    ELSIF v_status = 'received' THEN
        INSERT INTO kernel_outboxevent (event_id, workspace_id, slug, version, aggregate_key, payload, context)
        VALUES (gen_random_uuid(), v_workspace, 'provider_event.received', 1, 'provider_event_id:' || v_id,
            jsonb_build_object('provider_event_id', v_id), p_context);
    END IF;
    PERFORM set_config('app.all_workspaces', v_before, true);
    RETURN QUERY SELECT v_status, v_id;
END $$;
