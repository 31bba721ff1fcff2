-- The last owner stays. Checked where links of roles go: after each removal, with the owner's role locked, so that of two
-- owners who take the role from each other one is left. Also usable when a member is suspended.
CREATE FUNCTION tenancy_keep_owner_v1(p_workspace uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_owner uuid;
BEGIN
    SELECT id INTO v_owner FROM tenancy_role
    WHERE workspace_id = p_workspace AND name = 'owner' AND is_system FOR NO KEY UPDATE;
    IF v_owner IS NOT NULL AND NOT EXISTS (
        SELECT FROM tenancy_membershiprole l JOIN tenancy_membership m ON m.id = l.membership_id
        WHERE l.workspace_id = p_workspace AND l.role_id = v_owner AND m.status = 'active')
    THEN
        RAISE EXCEPTION 'a workspace keeps an owner'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'tenancy_last_owner', TABLE = 'tenancy_membershiprole';
    END IF;
END $$;

CREATE FUNCTION tenancy_role_taken_v1() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM tenancy_role WHERE id = OLD.role_id AND name = 'owner' AND is_system) THEN
        PERFORM tenancy_keep_owner_v1(OLD.workspace_id);
    END IF;
    RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER tenancy_last_owner AFTER DELETE OR UPDATE ON tenancy_membershiprole
    DEFERRABLE INITIALLY IMMEDIATE FOR EACH ROW EXECUTE FUNCTION tenancy_role_taken_v1();

-- Roles of the system are the same everywhere and change with the release only: `app.keeping_roles` is set by what keeps
-- them in step (tenancy.services.seeding), and by nothing else.
CREATE FUNCTION tenancy_system_role_v1() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    v_touched boolean;
BEGIN
    IF current_setting('app.keeping_roles', true) = 'on' THEN
        RETURN coalesce(NEW, OLD);
    END IF;
    IF TG_TABLE_NAME = 'tenancy_role' THEN
        v_touched := (TG_OP <> 'INSERT' AND OLD.is_system) OR (TG_OP <> 'DELETE' AND NEW.is_system);
    ELSE
        v_touched := EXISTS (SELECT FROM tenancy_role WHERE is_system AND id IN (OLD.role_id, NEW.role_id));
    END IF;
    IF v_touched THEN
        RAISE EXCEPTION 'the roles of the system are read-only'
            USING ERRCODE = 'insufficient_privilege', CONSTRAINT = 'tenancy_system_role', TABLE = TG_TABLE_NAME;
    END IF;
    RETURN coalesce(NEW, OLD);
END $$;

CREATE TRIGGER tenancy_role_of_the_system BEFORE INSERT OR UPDATE OR DELETE ON tenancy_role
    FOR EACH ROW EXECUTE FUNCTION tenancy_system_role_v1();
CREATE TRIGGER tenancy_grant_of_the_system BEFORE INSERT OR UPDATE OR DELETE ON tenancy_rolepermission
    FOR EACH ROW EXECUTE FUNCTION tenancy_system_role_v1();
