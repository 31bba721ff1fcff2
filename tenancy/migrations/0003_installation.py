"""The singleton row of the installation, and the estate's own workspace."""

from uuid import UUID

from django.db import migrations

ESTATE = UUID("00000000-0000-4000-8000-000000000000")

SEED = f"""
INSERT INTO tenancy_installation (id) VALUES (1) ON CONFLICT DO NOTHING;
SELECT set_config('app.all_workspaces', 'on', true);
INSERT INTO tenancy_workspace (id, external_id, ref, name, timezone, status, default_country, ticket_seq, contact_seq,
    realm_id, settings, settings_version, metadata, custom_metadata)
VALUES ('{ESTATE}', '{ESTATE}', 'ws_estate', 'Estate (unclaimed mail)', 'UTC', 'active', '', 0, 0,
    '{ESTATE}', '{{}}', 1, '{{}}', '{{}}') ON CONFLICT DO NOTHING;
SELECT set_config('app.all_workspaces', '', true);
"""  # noqa: S608 - the only value is the constant above


class Migration(migrations.Migration):
    dependencies = [("tenancy", "0002_fence")]

    operations = [migrations.RunSQL(SEED, migrations.RunSQL.noop)]
