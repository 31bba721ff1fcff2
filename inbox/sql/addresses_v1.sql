-- One address is one inbox's, in the whole installation, whether as its own or as a further one: each of the two tables has
-- a unique column, and this looks at the other one. The lock lets one of two who want the same address go first.
CREATE FUNCTION inbox_address_free_v1() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    v_before constant text := coalesce(current_setting('app.all_workspaces', true), '');
    v_taken boolean;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('inbox_address:' || NEW.address_normalized, 0));
    PERFORM set_config('app.all_workspaces', 'on', true);
    IF TG_TABLE_NAME = 'inbox_inbox' THEN
        SELECT EXISTS (SELECT FROM inbox_inboxaddress a WHERE a.address_normalized = NEW.address_normalized) INTO v_taken;
    ELSE
        SELECT EXISTS (SELECT FROM inbox_inbox i WHERE i.address_normalized = NEW.address_normalized) INTO v_taken;
    END IF;
    PERFORM set_config('app.all_workspaces', v_before, true);
    IF v_taken THEN
        RAISE EXCEPTION 'the address is taken'
            USING ERRCODE = 'unique_violation', CONSTRAINT = 'inbox_address_is_one_inboxs', TABLE = TG_TABLE_NAME;
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER inbox_inbox_address_free BEFORE INSERT OR UPDATE OF address_normalized ON inbox_inbox
    FOR EACH ROW EXECUTE FUNCTION inbox_address_free_v1();
CREATE TRIGGER inbox_further_address_free BEFORE INSERT OR UPDATE OF address_normalized ON inbox_inboxaddress
    FOR EACH ROW EXECUTE FUNCTION inbox_address_free_v1();

-- The inbox that takes mail for an address which is no inbox's own: by a further address, the same without a plus-tag, or
-- as one that takes whatever its domain gets. Both ids are null when nobody does. The caller sees every workspace.
CREATE FUNCTION inbox_further_v1(p_exact text, p_untagged text, p_domain text)
RETURNS TABLE (inbox_id uuid, workspace_id uuid) LANGUAGE sql STABLE AS $$
    SELECT i.id, i.workspace_id FROM inbox_inboxaddress a JOIN inbox_inbox i ON i.id = a.inbox_id AND i.deleted_at IS NULL
    WHERE a.address_normalized IN (p_exact, p_untagged, '*@' || p_domain)
    ORDER BY (a.address_normalized = p_exact) DESC, (a.address_normalized = p_untagged) DESC LIMIT 1
$$;

-- Where mail for an address goes, whoever asks: the listener before it takes a mail, and what takes it. One row: the inbox
-- that has the address, as its own (exactly, else without a plus-tag) or as a further one, and its workspace; without an
-- inbox the workspace of the verified domain; nulls when the address is nobody's. Whether the inbox is switched on is not
-- asked here. The caller sees every workspace.
CREATE FUNCTION inbox_route_v1(p_exact text, p_untagged text, p_domain text)
RETURNS TABLE (inbox_id uuid, workspace_id uuid) LANGUAGE sql STABLE AS $$
    SELECT coalesce(i.id, t.id, x.inbox_id), coalesce(i.workspace_id, t.workspace_id, x.workspace_id, d.workspace_id)
    FROM (SELECT 1) AS one
    LEFT JOIN inbox_inbox i ON i.address_normalized = p_exact AND i.deleted_at IS NULL
    LEFT JOIN inbox_inbox t ON i.id IS NULL AND t.address_normalized = p_untagged AND t.deleted_at IS NULL
    -- Further addresses are looked for only where no inbox has the address as its own.
    LEFT JOIN LATERAL (SELECT f.inbox_id, f.workspace_id FROM inbox_further_v1(p_exact, p_untagged, p_domain) f
        WHERE i.id IS NULL AND t.id IS NULL) x ON true
    LEFT JOIN tenancy_verifieddomain d ON i.id IS NULL AND t.id IS NULL AND x.inbox_id IS NULL
        AND d.domain = p_domain AND d.state = 'verified'
$$;
