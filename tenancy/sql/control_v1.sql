-- Every workspace has the row that says whether anything may leave it (S3-52).
CREATE FUNCTION tenancy_control_v1() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tenancy_workspacecontrolstate (id, workspace_id) VALUES (gen_random_uuid(), NEW.id);
    RETURN NULL;
END $$;

CREATE TRIGGER tenancy_workspace_has_control AFTER INSERT ON tenancy_workspace
    FOR EACH ROW EXECUTE FUNCTION tenancy_control_v1();

-- Generations only rise, whoever writes: what was claimed under an earlier one must never become current again.
CREATE FUNCTION tenancy_generation_v1() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.generation < OLD.generation OR (NEW.stopped <> OLD.stopped AND NEW.generation = OLD.generation) THEN
        RAISE EXCEPTION 'a stop and a release each begin a new generation'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'tenancy_generation_rises',
                  TABLE = 'tenancy_workspacecontrolstate';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER tenancy_generation_rises BEFORE UPDATE ON tenancy_workspacecontrolstate
    FOR EACH ROW EXECUTE FUNCTION tenancy_generation_v1();
