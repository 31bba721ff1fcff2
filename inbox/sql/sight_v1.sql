-- Whether work that is narrowed to some inboxes sees what a row belongs to. Row-level security of the table that is asked
-- gives the answer; a function, so that plans of all other work do not carry the question.
CREATE FUNCTION inbox_sees_thread_v1(p_thread uuid) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (SELECT FROM inbox_thread WHERE id = p_thread);
END $$;

CREATE FUNCTION inbox_sees_entry_v1(p_entry uuid) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (SELECT FROM inbox_entry WHERE id = p_entry);
END $$;

-- A delivery belongs to every inbox that has a mail of it; one that could not be read belongs to none.
CREATE FUNCTION inbox_sees_message_v1(p_message uuid) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (SELECT FROM inbox_email WHERE inbound_message_id = p_message);
END $$;
