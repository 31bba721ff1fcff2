-- What envelopes refer to: the number of a key while it is live, nothing once it is retired. Retiring a version that an
-- envelope names is therefore refused by that envelope's reference, whoever writes at the same moment.
ALTER TABLE kernel_encryptionkey ADD COLUMN live_version integer
    GENERATED ALWAYS AS (CASE WHEN retired_at IS NULL THEN version END) STORED
    CONSTRAINT kernel_one_live_key_per_version UNIQUE;

-- A version means one key for ever: it is retired, never changed, revived or deleted.
CREATE FUNCTION kernel_keep_keys_v1() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION 'a key version is retired, never deleted' USING ERRCODE = 'restrict_violation';
    ELSIF (NEW.version, NEW.check_value, NEW.provider) IS DISTINCT FROM (OLD.version, OLD.check_value, OLD.provider)
          OR (OLD.retired_at IS NOT NULL AND NEW.retired_at IS DISTINCT FROM OLD.retired_at) THEN
        RAISE EXCEPTION 'a key version means one key for ever' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER kernel_encryptionkey_keep BEFORE UPDATE OR DELETE ON kernel_encryptionkey
    FOR EACH ROW EXECUTE FUNCTION kernel_keep_keys_v1();
