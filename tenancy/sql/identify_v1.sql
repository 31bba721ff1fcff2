-- Who a credential belongs to, in one statement: what a request asks before it has a workspace. Each look opens the
-- fence for itself (the credential names the workspace, not the other way round) and puts back what it found.
-- Plans inside are made once for a session, and made while the tables were small they must not stay sequential.

CREATE FUNCTION tenancy_machine_key_v1(p_prefix text) RETURNS TABLE (
    id uuid, workspace_id uuid, name text, scopes jsonb, allowed_networks jsonb, secret_hash bytea, previous_hash bytea,
    previous_until timestamptz, expires_at timestamptz, revoked_at timestamptz, last_used_at timestamptz, is_open boolean
) LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    v_before text := current_setting('app.all_workspaces', true);
BEGIN
    PERFORM set_config('app.all_workspaces', 'on', true);
    RETURN QUERY
        SELECT k.id, k.workspace_id, k.name::text, k.scopes, k.allowed_networks, k.secret_hash, k.previous_hash,
            k.previous_until, k.expires_at, k.revoked_at, k.last_used_at, w.status = 'active' AND w.deleted_at IS NULL
        FROM tenancy_machinekey k JOIN tenancy_workspace w ON w.id = k.workspace_id WHERE k.prefix = p_prefix;
    PERFORM set_config('app.all_workspaces', coalesce(v_before, ''), true);
END $$;

CREATE FUNCTION tenancy_token_v1(p_external uuid, p_jti text, p_kid text) RETURNS TABLE (
    workspace_id uuid, is_open boolean, valid_from timestamptz, is_revoked boolean, is_key_revoked boolean
) LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    v_before text := current_setting('app.all_workspaces', true);
BEGIN
    PERFORM set_config('app.all_workspaces', 'on', true);
    RETURN QUERY
        SELECT w.id, w.status = 'active' AND w.deleted_at IS NULL, w.tokens_valid_from,
            EXISTS (SELECT FROM tenancy_revokedtoken t WHERE t.workspace_id = w.id AND t.jti = p_jti),
            EXISTS (SELECT FROM tenancy_revokedsigningkey s WHERE s.kid = p_kid)
        FROM tenancy_workspace w WHERE w.external_id = p_external;
    PERFORM set_config('app.all_workspaces', coalesce(v_before, ''), true);
END $$;

-- A denial of the estate's own workspace holds for every workspace.
CREATE FUNCTION tenancy_certificate_v1(p_fingerprint bytea, p_serial text, p_issuer text, p_estate uuid) RETURNS TABLE (
    id uuid, workspace_id uuid, name text, scopes jsonb, revoked_at timestamptz, last_used_at timestamptz,
    is_open boolean, is_denied boolean
) LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    v_before text := current_setting('app.all_workspaces', true);
BEGIN
    PERFORM set_config('app.all_workspaces', 'on', true);
    RETURN QUERY
        SELECT c.id, c.workspace_id, c.name::text, c.scopes, c.revoked_at, c.last_used_at,
            w.status = 'active' AND w.deleted_at IS NULL,
            EXISTS (SELECT FROM tenancy_revokedclientcert d WHERE d.workspace_id IN (c.workspace_id, p_estate)
                AND (d.fingerprint = p_fingerprint OR (d.serial = p_serial AND d.issuer = p_issuer)))
        FROM tenancy_clientcertificate c JOIN tenancy_workspace w ON w.id = c.workspace_id
        WHERE c.fingerprint = p_fingerprint;
    PERFORM set_config('app.all_workspaces', coalesce(v_before, ''), true);
END $$;
