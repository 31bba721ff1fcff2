-- An inbox is bound to an agent that is there: the paired key alone would take one that is marked as deleted. The lock
-- makes a binding wait for a deletion that is under way, and the other way round; whoever deletes an agent unbinds it.
CREATE FUNCTION agents_bind_v1() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    v_deleted timestamptz;
BEGIN
    SELECT a.deleted_at INTO v_deleted FROM agents_agent a
    WHERE a.workspace_id = NEW.workspace_id AND a.id = NEW.agent_id FOR SHARE;
    -- One that is not there at all, or is another workspace's, is the paired key's to refuse.
    IF v_deleted IS NOT NULL THEN
        RAISE EXCEPTION 'the agent % was deleted', NEW.agent_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'inbox_bound_agent_is_live', TABLE = 'inbox_inbox';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER inbox_opens_with_live_agent BEFORE INSERT ON inbox_inbox
    FOR EACH ROW WHEN (NEW.agent_id IS NOT NULL) EXECUTE FUNCTION agents_bind_v1();
-- Only for another agent than before: whoever keeps the present one must not wait for its row.
CREATE TRIGGER inbox_binds_live_agent BEFORE UPDATE OF agent_id ON inbox_inbox
    FOR EACH ROW WHEN (NEW.agent_id IS NOT NULL AND NEW.agent_id IS DISTINCT FROM OLD.agent_id)
    EXECUTE FUNCTION agents_bind_v1();
