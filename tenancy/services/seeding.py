"""The permission catalogue and the roles of the system, brought in step with the code: for all workspaces at each migrate,
for a new one when it is made. Running it again changes nothing (S3-3, S3-77)."""

from typing import Any
from uuid import UUID

import orjson
from django.db import connection

from kernel.transactions import current_unit
from tenancy import permissions

_CATALOGUE = """
WITH wanted AS (SELECT key AS name, value AS description FROM jsonb_each_text(%(catalogue)s::jsonb)),
gone AS (DELETE FROM tenancy_permission WHERE name NOT IN (SELECT name FROM wanted))
INSERT INTO tenancy_permission (name, description) SELECT name, description FROM wanted
ON CONFLICT (name) DO UPDATE SET description = EXCLUDED.description
    WHERE tenancy_permission.description <> EXCLUDED.description
"""

_WANTED = "SELECT * FROM jsonb_to_recordset(%(roles)s::jsonb) AS r(name text, description text, grants jsonb)"
_OF = "(%(workspace)s::uuid IS NULL OR {column} = %(workspace)s::uuid)"

# A role that people had named so before the system did gives way, and keeps its members and grants.
_GIVE_WAY = f"""
UPDATE tenancy_role SET name = left(name, 50) || ' (custom)'
WHERE NOT is_system AND name IN (SELECT name FROM ({_WANTED}) AS wanted) AND {_OF.format(column="workspace_id")}
"""  # noqa: S608 - names of ours

_ROLES = f"""
INSERT INTO tenancy_role (id, workspace_id, name, description, is_system)
SELECT gen_random_uuid(), w.id, wanted.name, wanted.description, true
FROM tenancy_workspace w CROSS JOIN ({_WANTED}) AS wanted WHERE {_OF.format(column="w.id")}
ON CONFLICT (workspace_id, name) DO UPDATE SET description = EXCLUDED.description
    WHERE tenancy_role.description <> EXCLUDED.description
"""  # noqa: S608 - names of ours

_GRANTS = f"""
WITH wanted AS (
    SELECT role.workspace_id, role.id AS role_id, permission
    FROM tenancy_role role JOIN ({_WANTED}) AS r ON r.name = role.name
    CROSS JOIN LATERAL jsonb_array_elements_text(r.grants) AS permission
    WHERE role.is_system AND {_OF.format(column="role.workspace_id")}),
gone AS (
    DELETE FROM tenancy_rolepermission held USING tenancy_role role
    WHERE role.id = held.role_id AND role.is_system AND {_OF.format(column="role.workspace_id")}
      AND (held.role_id, held.permission) NOT IN (SELECT role_id, permission FROM wanted))
INSERT INTO tenancy_rolepermission (id, workspace_id, role_id, permission)
SELECT gen_random_uuid(), workspace_id, role_id, permission FROM wanted
ON CONFLICT (role_id, permission) DO NOTHING
"""  # noqa: S608 - names of ours


def seed(*, workspace_id: UUID) -> None:
    """The roles of a workspace that was just made, in the current unit of work."""
    current_unit()
    with connection.cursor() as cursor:
        _keep(cursor, workspace_id)


def sync(cursor: Any) -> None:
    """Catalogue and roles of all workspaces, on the connection of whoever migrates, in its transaction."""
    cursor.execute("SELECT set_config('app.all_workspaces', 'on', true)")
    cursor.execute(_CATALOGUE, {"catalogue": orjson.dumps(permissions.CATALOGUE).decode()})
    _keep(cursor, None)
    cursor.execute("SELECT set_config('app.all_workspaces', '', true)")


def _keep(cursor: Any, workspace_id: UUID | None) -> None:
    roles = [
        {"name": name, "description": description, "grants": grants}
        for name, (description, grants) in permissions.SYSTEM_ROLES.items()
    ]
    values = {"roles": orjson.dumps(roles).decode(), "workspace": workspace_id}
    cursor.execute("SELECT set_config('app.keeping_roles', 'on', true)")
    for statement in (_GIVE_WAY, _ROLES, _GRANTS):
        cursor.execute(statement, values)
    cursor.execute("SELECT set_config('app.keeping_roles', '', true)")
