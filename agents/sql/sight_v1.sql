-- Whether work that is narrowed to some inboxes sees an execution: it has no run yet, or the mail of its run is in one of
-- them. The function looks without the limit, so that "not seen" and "not there" stay apart, and puts the limit back.
CREATE FUNCTION agents_sees_execution_v1(p_execution uuid) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_inboxes text := current_setting('app.inbox_ids', true);
    v_hidden boolean;
BEGIN
    PERFORM set_config('app.inbox_ids', '', true);
    v_hidden := EXISTS (
        SELECT FROM agents_agentrun r JOIN inbox_email e ON e.id = r.email_id
        WHERE r.execution_id = p_execution AND e.inbox_id <> ALL (v_inboxes::uuid[]));
    PERFORM set_config('app.inbox_ids', v_inboxes, true);
    RETURN NOT v_hidden;
END $$;

CREATE FUNCTION agents_sees_intent_v1(p_intent uuid) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (SELECT FROM agents_actionintent WHERE id = p_intent);
END $$;
