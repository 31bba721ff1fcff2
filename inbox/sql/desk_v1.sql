-- A reader's bookmark only goes on: two devices report in any order, and neither makes the other's mail unread.
CREATE FUNCTION inbox_read_on_v1() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.last_read_seq < OLD.last_read_seq THEN
        RAISE EXCEPTION 'a reader may not go back from % to %', OLD.last_read_seq, NEW.last_read_seq
            USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME;
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER inbox_reading_goes_on BEFORE UPDATE OF last_read_seq ON inbox_threadreadstate FOR EACH ROW
    EXECUTE FUNCTION inbox_read_on_v1();

-- Only what was written to go out goes out: no inbound mail, no internal entry, whatever a service may think (never
-- customer-visible). An entry that has a message stays what it is.
CREATE FUNCTION inbox_only_outbound_leaves_v1() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT direction FROM inbox_entry WHERE id = NEW.entry_id) IS DISTINCT FROM 'outbound' THEN
        RAISE EXCEPTION 'entry % was not written to leave', NEW.entry_id
            USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME;
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER inbox_only_outbound_leaves BEFORE INSERT OR UPDATE OF entry_id ON inbox_outboundmessage FOR EACH ROW
    EXECUTE FUNCTION inbox_only_outbound_leaves_v1();

CREATE FUNCTION inbox_direction_stays_v1() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the direction of entry % stays %', OLD.id, OLD.direction
        USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME;
END $$;

CREATE TRIGGER inbox_direction_stays BEFORE UPDATE OF direction ON inbox_entry FOR EACH ROW
    WHEN (OLD.direction IS DISTINCT FROM NEW.direction) EXECUTE FUNCTION inbox_direction_stays_v1();
