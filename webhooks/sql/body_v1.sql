-- The body of a delivery, as JSON text: made once, stored, and sent byte for byte at every attempt. The payload of a fact
-- begins after its own id and workspace; an empty one leaves no comma behind.
CREATE FUNCTION webhooks_body_v1(slug text, occurred_at timestamptz, event_id uuid, workspace_id uuid, payload jsonb)
RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
RETURN '{"type":' || to_json(slug)
    || ',"timestamp":"' || to_char(occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    || '","data":{"id":"' || event_id || '","workspace_id":"' || workspace_id || '"'
    || CASE WHEN payload = '{}' THEN '}}' ELSE ',' || substr(payload::text, 2) || '}' END;
