"""Examples for the API's description, each held against its shape by a test."""

from typing import Any, Final

# Of an authority that exists nowhere, for a key that nobody has; valid until 2125.
PEM: Final = """-----BEGIN CERTIFICATE-----
MIIBFTCBvaADAgECAggfDHoubQ9KUTAKBggqhkjOPQQDAjASMRAwDgYDVQQDDAdB
Y21lIENBMCAXDTI1MDEwMTAwMDAwMFoYDzIxMjUwMTAxMDAwMDAwWjAPMQ0wCwYD
VQQDDARzaG9wMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEhpWX0bbxTuTyoGCk
6AgYemVgzhzBsMKtmcKViyhLHixwZCW+utdYBxSkdkMn1QhCy42eosL9DXKcHEP3
CQBI/DAKBggqhkjOPQQDAgNHADBEAiBgGeI+0EgCe9FV7p1GcjGua/F4QkZadgzK
2D4E/3bFWwIgZiiAnsFWpuzDX6KlxyhFy8inuT+uIudcsVefJWHZiDo=
-----END CERTIFICATE-----
"""
_TIMES: dict[str, Any] = {"created_at": "2026-11-05T09:00:00.120000Z", "updated_at": "2026-11-05T09:00:04.310000Z"}
_ISSUER: dict[str, Any] = {"kind": "user", "id": "7", "label": "Pat Person"}

MACHINE_KEY: dict[str, Any] = {
    "object": "machine_key",
    "id": "4c3b2a19-0f8e-4d7c-9b6a-5f4e3d2c1b21",
    **_TIMES,
    "name": "Shop",
    "prefix": "k3v9x2m7q1ab",
    "state": "active",
    "scopes": ["email.send", "thread.read"],
    "allowed_networks": ["203.0.113.0/24"],
    "expires_at": None,
    "revoked_at": None,
    "last_used_at": "2026-11-05T09:00:00Z",
    "previous_secret_until": None,
    "issued_by": _ISSUER,
}
MACHINE_KEY_WITH_SECRET: dict[str, Any] = MACHINE_KEY | {
    "last_used_at": None,
    "secret": "mk_k3v9x2m7q1ab_not-a-real-secret-just-an-example",
}
KEY_REVOCATION: dict[str, Any] = {"object": "machine_key_revocation", "revoked": [MACHINE_KEY["id"]]}
CERTIFICATE: dict[str, Any] = {
    "object": "client_certificate",
    "id": "5d4c3b2a-190f-4e8d-8c7b-6a5f4e3d2c22",
    **_TIMES,
    "name": "Shop",
    "state": "active",
    "scopes": ["thread.read"],
    "fingerprint": "ece5c827dd8022d7dfb99af7fcb64336413d16fb46f782bd8ff44210b145fe2d",
    "serial": "1f0c7a2e6d0f4a51",
    "issuer": "CN=Acme CA",
    "subject": "CN=shop",
    "not_before": "2025-01-01T00:00:00Z",
    "not_after": "2125-01-01T00:00:00Z",
    "revoked_at": None,
    "last_used_at": None,
    "issued_by": _ISSUER,
}
DENIAL: dict[str, Any] = {
    "object": "revoked_client_certificate",
    "id": "6e5d4c3b-2a19-4f0e-9d8c-7b6a5f4e3d23",
    **_TIMES,
    "fingerprint": "",
    "serial": "1f0c7a2e6d0f4a52",
    "issuer": "CN=Acme CA",
    "reason": "Its laptop was stolen.",
}
REVOKED_TOKEN: dict[str, Any] = {
    "object": "revoked_token",
    "id": "7f6e5d4c-3b2a-4190-8e9d-8c7b6a5f4e24",
    **_TIMES,
    "jti": "0b7c2d6e-nightly-import",
    "expires_at": "2026-11-06T09:01:00Z",
}
CUTOFF: dict[str, Any] = {"object": "token_cutoff", "issued_before": "2025-01-01T00:00:00Z"}

ROLE: dict[str, Any] = {
    "object": "role",
    "id": "4c9a1f3e-1d2b-4a6c-8e7f-0a1b2c3d4e5f",
    "name": "Night shift",
    "description": "Answers at night, and may stop everything",
    "is_system": False,
    "permissions": ["email.send", "thread.read", "workspace.stop"],
    "membership_ids": ["7d0e2b4c-3f1a-4c5b-9d8e-1a2b3c4d5e6f"],
    "created_at": "2026-11-05T09:00:00.120000Z",
    "updated_at": "2026-11-05T09:00:00.120000Z",
}
ROLE_LINK: dict[str, Any] = {
    "object": "role_link",
    "role_id": "4c9a1f3e-1d2b-4a6c-8e7f-0a1b2c3d4e5f",
    "membership_id": "7d0e2b4c-3f1a-4c5b-9d8e-1a2b3c4d5e6f",
}
TEAM: dict[str, Any] = {
    "object": "team",
    "id": "8e1f3c5d-4a2b-4d6c-8f9a-2b3c4d5e6f70",
    "name": "Returns",
    "membership_ids": ["7d0e2b4c-3f1a-4c5b-9d8e-1a2b3c4d5e6f"],
    "inbox_ids": ["1a2b3c4d-5e6f-4708-9a0b-3c4d5e6f7081"],
    "created_at": "2026-11-05T09:00:00.120000Z",
    "updated_at": "2026-11-05T09:00:00.120000Z",
}
STOP: dict[str, Any] = {
    "object": "emergency_stop",
    "stopped": True,
    "generation": 2,
    "reason": "The agent promises refunds.",
    "changed_by": {"kind": "user", "id": "5d6e7f80-9a0b-4c1d-8e2f-3a4b5c6d7e8f", "label": "Ada Lovelace"},
    "changed_at": "2026-11-05T09:00:00.120000Z",
}
SETTINGS: dict[str, Any] = {
    "object": "workspace_settings",
    "members_see_team_inboxes_only": False,
    "stop_spares_webhooks": True,
}
_ROLES: list[dict[str, Any]] = [{"id": ROLE["id"], "name": "Night shift"}]
MEMBER: dict[str, Any] = {
    "object": "member",
    "id": "91827364-5b4c-4d3e-8f20-1b0a9d8c7e32",
    **_TIMES,
    "user_id": "a2938475-6c5d-4e4f-9031-2c1b0a9d8f33",
    "email": "noor@example.com",
    "name": "Noor Haddad",
    "status": "active",
    "roles": _ROLES,
    "invited_by": "Pat Person",
    "accepted_at": "2026-11-05T09:00:00.120000Z",
    "suspended_at": None,
}
INVITATION: dict[str, Any] = {
    "object": "invitation",
    "id": "b3a49586-7d6e-4f50-8142-3d2c1b0a9e34",
    **_TIMES,
    "email": "noor@example.com",
    "state": "open",
    "roles": _ROLES,
    "invited_by": _ISSUER,
    "mail_state": "sent",
    "expires_at": "2026-11-12T09:00:00.120000Z",
    "accepted_at": None,
    "revoked_at": None,
}
INVITATION_WITH_LINK: dict[str, Any] = INVITATION | {
    "mail_state": "none",
    "link": "https://inbox.example.com/console/join/not-a-real-link-just-an-example/",
}
