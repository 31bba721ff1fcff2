-- What a person may do in a workspace, and how far they see there, in one round trip at each request: an active membership
-- of an open workspace is the only way in (S3-25). It opens the fence for this one look and closes it again.
CREATE FUNCTION tenancy_member_v1(p_user uuid, p_workspace uuid) RETURNS TABLE (
    membership_id uuid, label text, permissions text[], is_narrowed boolean, inbox_ids uuid[]
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_before text := current_setting('app.all_workspaces', true);
BEGIN
    PERFORM set_config('app.all_workspaces', 'on', true);
    RETURN QUERY
        SELECT m.id, coalesce(nullif(u.name, ''), u.email)::text,
            ARRAY(SELECT DISTINCT g.permission::text FROM tenancy_membershiprole l
                  JOIN tenancy_rolepermission g ON g.role_id = l.role_id WHERE l.membership_id = m.id),
            coalesce((w.settings ->> 'members_see_team_inboxes_only')::boolean, false),
            ARRAY(SELECT DISTINCT i.inbox_id FROM tenancy_teammember t
                  JOIN tenancy_teaminbox i ON i.team_id = t.team_id WHERE t.membership_id = m.id)
        FROM tenancy_membership m
        JOIN tenancy_user u ON u.id = m.user_id
        JOIN tenancy_workspace w ON w.id = m.workspace_id
        WHERE m.user_id = p_user AND m.workspace_id = p_workspace AND m.status = 'active' AND u.is_active
          AND w.status = 'active' AND w.deleted_at IS NULL;
    PERFORM set_config('app.all_workspaces', coalesce(v_before, ''), true);
END $$;
