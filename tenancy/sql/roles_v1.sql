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
