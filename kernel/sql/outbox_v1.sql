-- Facts into the outbox, side by side in arrays of one length; p_cause is who and what request caused them.
CREATE FUNCTION kernel_outbox_append_v1(
    p_cause jsonb, p_workspaces uuid[], p_slugs text[], p_versions int[], p_keys text[], p_payloads text[]
) RETURNS void LANGUAGE sql AS $$
    INSERT INTO kernel_outboxevent (event_id, workspace_id, slug, version, aggregate_key, payload, context)
    SELECT gen_random_uuid(), w, s, v, a, p::jsonb, p_cause
    FROM unnest(p_workspaces, p_slugs, p_versions, p_keys, p_payloads) AS e(w, s, v, a, p)
$$;
