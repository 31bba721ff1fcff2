-- The state machine of an e-mail (S0-18), kept here so that no path around the services can take another way.
-- Every pair is a permitted move; `inbox.types.MOVES` is the same table for readers of the code, and a test compares them.
CREATE FUNCTION inbox_email_move_v1() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.state NOT IN ('received', 'stored') THEN
            RAISE EXCEPTION 'an e-mail begins as received or stored, not as %', NEW.state
                USING ERRCODE = 'check_violation', CONSTRAINT = 'inbox_email_moves', TABLE = 'inbox_email';
        END IF;
    ELSIF (OLD.state || ' ' || NEW.state) NOT IN (
        'received stored', 'received ignored', 'received quarantined',
        'stored parsed', 'stored threaded', 'stored ignored', 'stored quarantined',
        'parsed threaded', 'parsed ignored', 'parsed quarantined',
        'threaded queued', 'threaded handled', 'threaded ignored', 'threaded failed',
        'queued running', 'queued waiting_approval', 'queued threaded', 'queued handled', 'queued ignored', 'queued failed',
        'running waiting_approval', 'running threaded', 'running handled', 'running failed',
        'waiting_approval running', 'waiting_approval threaded', 'waiting_approval handled', 'waiting_approval failed',
        'quarantined stored',
        'failed queued', 'failed handled'
    ) THEN
        RAISE EXCEPTION 'an e-mail cannot go from % to %', OLD.state, NEW.state
            USING ERRCODE = 'check_violation', CONSTRAINT = 'inbox_email_moves', TABLE = 'inbox_email';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER inbox_email_begins BEFORE INSERT ON inbox_email FOR EACH ROW EXECUTE FUNCTION inbox_email_move_v1();
CREATE TRIGGER inbox_email_moves BEFORE UPDATE OF state ON inbox_email
    FOR EACH ROW WHEN (OLD.state IS DISTINCT FROM NEW.state) EXECUTE FUNCTION inbox_email_move_v1();
