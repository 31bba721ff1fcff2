-- The states of a connection (S3-65), kept here so that no path around the services can make one look connected.
CREATE FUNCTION inbox_connection_move_v1() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.state <> 'unconfigured' THEN
            RAISE EXCEPTION 'a connection begins unconfigured, not %', NEW.state
                USING ERRCODE = 'check_violation', CONSTRAINT = 'inbox_connection_moves', TABLE = 'inbox_connection';
        END IF;
    ELSIF (OLD.state, NEW.state) NOT IN (
        ('unconfigured', 'pending_authorization'), ('unconfigured', 'disconnected'),
        ('pending_authorization', 'connected'), ('pending_authorization', 'expired'),
        ('pending_authorization', 'disconnected'),
        ('connected', 'degraded'), ('connected', 'expired'), ('connected', 'disconnected'),
        ('connected', 'pending_authorization'),
        ('degraded', 'connected'), ('degraded', 'expired'), ('degraded', 'disconnected'),
        ('degraded', 'pending_authorization'),
        ('expired', 'pending_authorization'), ('expired', 'disconnected'),
        ('disconnected', 'pending_authorization')) THEN
        RAISE EXCEPTION 'a connection does not go from % to %', OLD.state, NEW.state
            USING ERRCODE = 'check_violation', CONSTRAINT = 'inbox_connection_moves', TABLE = 'inbox_connection';
    END IF;
    RETURN NEW;
END $$;

-- Both sides of one promise. Each locks what it looks at, so that a state that is set and a secret that is taken away at
-- the same moment cannot pass each other. At once, not at the commit: the writer's scope is the row's workspace only now.
CREATE FUNCTION inbox_connected_v1() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    v_connection uuid;
    v_workspace uuid;
    v_state text;
BEGIN
    IF TG_TABLE_NAME = 'inbox_connection' THEN
        v_connection := NEW.id;
        v_workspace := NEW.workspace_id;
        v_state := NEW.state;
    ELSE
        v_connection := OLD.connection_id;
        v_workspace := OLD.workspace_id;
        SELECT state INTO v_state FROM inbox_connection
        WHERE workspace_id = v_workspace AND id = v_connection FOR SHARE;
    END IF;
    IF v_state IN ('connected', 'degraded') THEN
        PERFORM 1 FROM inbox_connectioncredential
        WHERE workspace_id = v_workspace AND connection_id = v_connection AND revoked_at IS NULL
          AND (expires_at IS NULL OR expires_at > now()) FOR SHARE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'a % connection has a live secret', v_state
                USING ERRCODE = 'check_violation', CONSTRAINT = 'inbox_connected_has_a_secret', TABLE = 'inbox_connection';
        END IF;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER inbox_connection_begins BEFORE INSERT ON inbox_connection
    FOR EACH ROW EXECUTE FUNCTION inbox_connection_move_v1();
CREATE TRIGGER inbox_connection_moves BEFORE UPDATE OF state ON inbox_connection
    FOR EACH ROW WHEN (OLD.state IS DISTINCT FROM NEW.state) EXECUTE FUNCTION inbox_connection_move_v1();
CREATE TRIGGER inbox_connection_has_a_secret AFTER UPDATE OF state ON inbox_connection
    FOR EACH ROW EXECUTE FUNCTION inbox_connected_v1();
CREATE TRIGGER inbox_credential_is_needed
    AFTER UPDATE OF revoked_at, expires_at, connection_id OR DELETE ON inbox_connectioncredential
    FOR EACH ROW EXECUTE FUNCTION inbox_connected_v1();
