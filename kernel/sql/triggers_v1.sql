-- updated_at moves on every change, whatever made it: QuerySet.update(), bulk_update() or plain SQL (S0-21).
-- No comparison of old and new: it would read every large column, at up to twenty milliseconds for a large mail.
CREATE FUNCTION kernel_touch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.updated_at = clock_timestamp();
    RETURN NEW;
END $$;

-- Append-only tables. TRUNCATE passes only where the test suite's owner connection says so.
CREATE FUNCTION kernel_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' AND current_setting('app.allow_truncate', true) = 'on' THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
END $$;
