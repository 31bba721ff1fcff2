-- A workspace that has an active owner keeps one: suspended, removed, demoted, deactivated or deleted, the last of them
-- stays. Whoever takes an owner away first locks the owner's role, so of two who go at the same time one goes first, and
-- the other sees it. Who is looked at may be of several workspaces, so the fence is opened for the look and closed again.
CREATE FUNCTION tenancy_require_owner_v1(p_workspace uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_before text := current_setting('app.all_workspaces', true);
    v_found boolean;
BEGIN
    PERFORM set_config('app.all_workspaces', 'on', true);
    PERFORM FROM tenancy_role r WHERE r.workspace_id = p_workspace AND r.is_system AND r.name = 'owner' FOR NO KEY UPDATE;
    v_found := EXISTS (
        SELECT FROM tenancy_membership m JOIN tenancy_membershiprole l ON l.membership_id = m.id
            JOIN tenancy_role r ON r.id = l.role_id JOIN tenancy_user u ON u.id = m.user_id
        WHERE m.workspace_id = p_workspace AND m.status = 'active' AND u.is_active AND r.is_system AND r.name = 'owner');
    PERFORM set_config('app.all_workspaces', coalesce(v_before, ''), true);
    IF NOT v_found THEN
        RAISE EXCEPTION 'a workspace keeps at least one active owner' USING ERRCODE = 'restrict_violation';
    END IF;
END $$;

-- Each trigger runs after its statement and looks only where an owner went.
CREATE FUNCTION tenancy_keep_an_owner_v1() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    v_before text := current_setting('app.all_workspaces', true);
    v_workspaces uuid[];
BEGIN
    PERFORM set_config('app.all_workspaces', 'on', true);
    IF TG_TABLE_NAME = 'tenancy_user' THEN
        v_workspaces := ARRAY(
            SELECT m.workspace_id FROM tenancy_membership m JOIN tenancy_membershiprole l ON l.membership_id = m.id
                JOIN tenancy_role r ON r.id = l.role_id
            WHERE m.user_id = OLD.id AND m.status = 'active' AND r.is_system AND r.name = 'owner' ORDER BY 1);
    ELSIF TG_TABLE_NAME = 'tenancy_membership' THEN
        v_workspaces := ARRAY(
            SELECT OLD.workspace_id FROM tenancy_membershiprole l JOIN tenancy_role r ON r.id = l.role_id
            WHERE l.membership_id = OLD.id AND r.is_system AND r.name = 'owner');
    ELSE
        v_workspaces := ARRAY(
            SELECT OLD.workspace_id FROM tenancy_role r WHERE r.id = OLD.role_id AND r.is_system AND r.name = 'owner');
    END IF;
    PERFORM set_config('app.all_workspaces', coalesce(v_before, ''), true);
    FOR i IN 1 .. coalesce(array_length(v_workspaces, 1), 0) LOOP
        PERFORM tenancy_require_owner_v1(v_workspaces[i]);
    END LOOP;
    RETURN NULL;
END $$;

CREATE TRIGGER tenancy_membership_keeps_an_owner AFTER UPDATE OF status ON tenancy_membership
    FOR EACH ROW WHEN (OLD.status = 'active' AND NEW.status <> 'active') EXECUTE FUNCTION tenancy_keep_an_owner_v1();
CREATE TRIGGER tenancy_membershiprole_keeps_an_owner AFTER UPDATE OR DELETE ON tenancy_membershiprole
    FOR EACH ROW EXECUTE FUNCTION tenancy_keep_an_owner_v1();
CREATE TRIGGER tenancy_user_keeps_an_owner AFTER UPDATE OF is_active ON tenancy_user
    FOR EACH ROW WHEN (OLD.is_active AND NOT NEW.is_active) EXECUTE FUNCTION tenancy_keep_an_owner_v1();

-- Attempts to sign in are never changed. Old ones are forgotten, by this function only, and none that is younger than
-- thirty days: who got in yesterday cannot take the trace away today.
CREATE FUNCTION tenancy_keep_logins_v1() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' AND current_setting('app.allow_truncate', true) = 'on' THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE' AND current_user = 'inbox_audit' AND OLD.at < now() - interval '30 days' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER tenancy_loginevent_no_change BEFORE UPDATE OR DELETE ON tenancy_loginevent
    FOR EACH ROW EXECUTE FUNCTION tenancy_keep_logins_v1();
CREATE TRIGGER tenancy_loginevent_no_truncate BEFORE TRUNCATE ON tenancy_loginevent
    FOR EACH STATEMENT EXECUTE FUNCTION tenancy_keep_logins_v1();
ALTER TABLE tenancy_loginevent ENABLE ALWAYS TRIGGER tenancy_loginevent_no_change;
ALTER TABLE tenancy_loginevent ENABLE ALWAYS TRIGGER tenancy_loginevent_no_truncate;
REVOKE UPDATE, DELETE, TRUNCATE ON tenancy_loginevent FROM inbox_runtime;
GRANT SELECT, DELETE ON tenancy_loginevent TO inbox_audit;

CREATE FUNCTION tenancy_forget_logins_v1(p_days integer) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_count bigint;
BEGIN
    DELETE FROM tenancy_loginevent WHERE at < now() - make_interval(days => greatest(p_days, 30));
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;
GRANT CREATE ON SCHEMA public TO inbox_audit;
ALTER FUNCTION tenancy_forget_logins_v1(integer) OWNER TO inbox_audit;
REVOKE CREATE ON SCHEMA public FROM inbox_audit;
REVOKE ALL ON FUNCTION tenancy_forget_logins_v1(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenancy_forget_logins_v1(integer) TO inbox_runtime;
