"""Lines that keep somebody out, each taken away, with the tests that must notice: a wall that can fall unseen is none.

The tests are few and quick: whoever adds a line names those that would fail first.
"""

from tests.deep.mutant import without
from tests.deep.mutants_of_mail import AGENTS, MAIL, OUTSIDE

_FORGED = "tenancy/test_tokens.py::test_wrong_claims_and_forgeries_are_refused_with_one_answer"
_TOKENS, _PRINCIPALS = "tenancy/credentials/tokens.py", "tenancy/queries/principals.py"
_KEYS, _CERTIFICATES = "tenancy/test_machine_keys.py", "tenancy/test_client_certificates.py"

MACHINES = [
    without(
        "signature of tokens", _TOKENS,
        {'options={"require": list(_REQUIRED)}': 'options={"require": list(_REQUIRED), "verify_signature": False, "verify_exp": True, "verify_iss": True, "verify_aud": True}'},
        _FORGED,
    ),
    without(
        "one algorithm for each key of tokens", _TOKENS,
        {
            'if header.get("alg") != key.algorithm:': "if False:",
            "algorithms=[key.algorithm]": 'algorithms=[str(header.get("alg"))]',
        },
        _FORGED,
    ),
    without("end of tokens", _TOKENS, {'options={"require": list(_REQUIRED)}': 'options={"require": list(_REQUIRED), "verify_exp": False}'}, _FORGED),
    without("longest life of tokens", _TOKENS, {"if not 0 < expires - issued <= settings.JWT_MAX_LIFETIME_SECONDS:": "if False:"}, _FORGED),
    without("issuer of tokens", _TOKENS, {"            issuer=settings.JWT_ISSUER,\n": ""}, _FORGED),
    without("headers that would name a key of the token's own", _TOKENS, {"if not _FORBIDDEN.isdisjoint(header):": "if False:"}, _FORGED),
    without(
        "revocation of tokens", _PRINCIPALS, {'(not row["is_revoked"], Reason.REVOKED)': "(True, Reason.REVOKED)"},
        "tenancy/test_credential_commands.py::test_everything_can_be_revoked_from_the_command_line",
    ),
    without(
        "secret of machine keys", _PRINCIPALS, {"(_is_its_secret(row, digest, now), Reason.WRONG_SECRET)": "(True, Reason.WRONG_SECRET)"},
        f"{_KEYS}::test_wrong_keys_are_refused",
    ),
    without(
        "revocation of machine keys", _PRINCIPALS, {'(row["revoked_at"] is None, Reason.REVOKED)': "(True, Reason.REVOKED)"},
        f"{_KEYS}::test_a_key_is_issued_listed_used_and_revoked",
    ),
    without(
        "networks of machine keys", _PRINCIPALS, {"return not allowed or peers.is_within(address, allowed)": "return True"},
        f"{_KEYS}::test_an_end_and_networks_hold",
    ),
    without(
        "distrust in certificates that no proxy of ours hands on", "tenancy/services/authenticating.py",
        {"if not peers.is_certificate_proxy(meta):": "if False:"},
        f"{_CERTIFICATES}::test_every_other_certificate_and_every_other_way_is_refused",
    ),
    without(
        "distrust in addresses that strangers claim", "tenancy/credentials/peers.py",
        {"while found is not None and hops and _is_in(found, settings.TRUSTED_PROXIES):": 'while found is not None and hops != [""] and hops:'},
        "people/test_login.py::test_tries_are_counted_by_address_too_as_our_proxies_tell_it",
    ),
    without(
        "permission of an endpoint", "kernel/api/views.py", {"principal.require(self.permissions[self.action])": "pass"},
        "kernel/test_api.py::test_permissions_are_exact_names_or_families",
    ),
    without(
        "ceiling of what is given with a key", "tenancy/services/granting.py", {"if not permissions.covers(may, scope):": "if False:"},
        f"{_KEYS}::test_nobody_gives_more_than_they_have",
    ),
    without(
        "ceiling of what is given with a role", "tenancy/services/roles.py",
        {"missing = [scope for scope in queries.grants_of(role) if not permissions.covers(may, scope)]": "missing: list[str] = []"},
        "tenancy/test_roles.py::test_nobody_gives_what_they_do_not_have",
    ),
    without(
        "longest body of a request", "kernel/api/views.py", {"if size.isdecimal() and int(size) > longest:": "if False:"},
        "api/test_problems.py::test_too_much_is_refused_before_it_is_read",
    ),
    without(
        "content that an idempotency key stands for", "kernel/idempotency.py", {"if bytes(kept_mark) != mark:": "if False:"},
        "kernel/test_idempotency.py::test_the_same_key_with_other_content_is_refused",
    ),
]  # fmt: skip

PEOPLE = [
    without(
        "secrets of links, kept out of the log", "kernel/redaction.py", {'_LINKS.sub(r"\\1…", text)': "text"},
        "people/test_links.py::test_no_failure_writes_down_the_secret_of_a_link",
    ),
    without(
        "secrets of links, kept out of the trail", "config/console/middleware.py", {"redact(value, name=name)": "value"},
        "people/test_links.py::test_no_failure_writes_down_the_secret_of_a_link",
    ),
    without(
        "lists that are narrowed by what their page offers only", "kernel/admin/lists.py",
        {'raise DisallowedModelAdminLookup(f"Filtering by {name} not allowed")': "pass"},
        "console/test_lookups.py::test_nobody_reads_the_hash_of_a_colleagues_password_by_asking_for_its_letters",
    ),
    without(
        "count of wrong passwords", "tenancy/services/signing_in.py",
        {"    if not taken.is_allowed:\n        _refuse(taken, LoginMethod.PASSWORD, origin, user=user, email=address)\n": ""},
        "people/test_login.py::test_twenty_at_once_get_ten_tries_between_them",
    ),
    without(
        "single use of a code", "tenancy/signin/steps.py", {"return bool(first) and all(first)": "return True"},
        "people/test_factors.py::test_the_app_is_asked_for_after_the_password_and_each_code_is_good_once",
    ),
    without(
        "proof of who one is before a change that matters", "config/settings/signin.py",
        {"ACCOUNT_REAUTHENTICATION_REQUIRED = True": "ACCOUNT_REAUTHENTICATION_REQUIRED = MFA_REAUTHENTICATION_REQUIRED = False"},
        "people/test_factors.py::test_who_found_a_session_open_adds_no_factor",
    ),
    without(
        "end of such a proof", "config/settings/base.py",
        {"ACCOUNT_REAUTHENTICATION_TIMEOUT = STEP_UP_SECONDS": "ACCOUNT_REAUTHENTICATION_TIMEOUT = SESSION_MAX_SECONDS"},
        "people/test_factors.py::test_a_proof_is_good_for_a_while_only",
    ),
    without(
        "new value of a session after a sign-in", "tenancy/signin/store.py",
        {"old, self._session_key = self.session_key, self._get_new_session_key()": "old, self._session_key = self.session_key, self.session_key"},
        "people/test_sessions.py::test_another_value_after_each_change_of_power_and_none_that_a_stranger_chose",
    ),
    without(
        "end of an idle session", "tenancy/signin/store.py",
        {"return row if row is not None and row.last_seen_at > now - idle else None": "return row"},
        "people/test_sessions.py::test_sessions_end_by_time_idle_and_at_all",
    ),
    without(
        "end of a session that was ended", "tenancy/signin/store.py",
        {
            "session_hash=digest(self.session_key), revoked_at=None, expires_at__gt=now": "session_hash=digest(self.session_key), expires_at__gt=now",
            "if not DeviceSession.objects.filter(id=row.id, revoked_at=None).update(**columns):": "if not DeviceSession.objects.filter(id=row.id).update(**columns):",
        },
        "people/test_sessions.py::test_work_under_way_does_not_revive_what_has_ended",
    ),
    without(
        "token of a form", "config/settings/base.py", {'    "django.middleware.csrf.CsrfViewMiddleware",\n': ""},
        "people/test_sessions.py::test_no_form_of_the_console_is_taken_without_the_token_of_its_session",
    ),
    without(
        "permission of a page", "kernel/admin/base.py",
        {"return bool(permission) and isinstance(place, Place) and place.allows(permission)": "return bool(permission)"},
        "console/test_permissions.py",
    ),
    without(
        "membership that must be active", "tenancy/sql/member_v1.sql", {" AND m.status = 'active' AND u.is_active": ""},
        "people/test_members.py::test_what_is_done_to_a_member_holds_at_their_next_request",
    ),
    without(
        "last owner", "tenancy/sql/people_v1.sql", {"IF NOT v_found THEN": "IF false THEN"},
        "people/test_members.py::test_the_last_owner_stays_whichever_way_they_would_go",
    ),
]  # fmt: skip

FENCE = [
    without(
        "policy of rows", "kernel/db.py", {"USING ({seen}) WITH CHECK ({seen})": "USING (true) WITH CHECK ({seen})"},
        "architecture/test_fences.py::test_a_scope_sees_its_own_rows_and_no_scope_sees_none",
    ),
    without(
        "policy of what is written", "kernel/db.py", {"USING ({seen}) WITH CHECK ({seen})": "USING ({seen}) WITH CHECK (true)"},
        "architecture/test_fences.py::test_nothing_is_written_into_another_workspace",
    ),
    without(
        "keys that are paired with their workspace", "kernel/db.py",
        {
            "FOREIGN KEY ({column}, {referring}) ": "FOREIGN KEY ({referring}) ",
            "REFERENCES {target} (workspace_id, id) DEFERRABLE": "REFERENCES {target} (id) DEFERRABLE",
        },
        "architecture/test_fences.py::test_a_row_cannot_refer_into_another_workspace",
    ),
    without(
        "end of a scope with its transaction", "kernel/transactions.py",
        {"set_config('app.workspace_id', %s, true)": "set_config('app.workspace_id', %s, false)"},
        "kernel/test_transactions.py::test_nothing_leaks_to_the_next_transaction_of_the_same_connection",
    ),
    without(
        "scope that is one workspace", "kernel/transactions.py", {'"on" if scope and scope.is_all else ""': '"on"'},
        "architecture/test_fences.py::test_a_scope_sees_its_own_rows_and_no_scope_sees_none",
    ),
    without(
        "scope of every query", "tenancy/scoping.py", {"rows = rows.filter(workspace_id=scope.workspace_id)": "rows = rows.all()"},
        "tenancy/test_scoping.py::test_every_query_in_a_scope_names_its_workspace",
    ),
    without(
        "rows that nobody changes", "kernel/sql/triggers_v1.sql",
        {"    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';": "    RETURN coalesce(NEW, OLD);"},
        "audit/test_refusals.py::test_the_triggers_hold_even_for_the_owner_and_for_replicas",
    ),
    without(
        "grants that leave the trail alone", "kernel/db.py",
        {'            f"REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON {table} FROM inbox_runtime",\n': ""},
        "audit/test_refusals.py::test_every_statement_is_refused_to_the_runtime_role",
    ),
    without(
        "link of the trail to the one before", "audit/sql/append_v1.sql",
        {"sha256(v_row.previous_hash || convert_to(v_row.body, 'UTF8'))": "sha256(convert_to(v_row.body, 'UTF8'))"},
        "commands/test_operator.py::test_verify_audit_holds_after_work_and_says_where_it_does_not",
    ),
    without(
        "look at the links of the trail", "audit/queries.py",
        {"if bytes(event.previous_hash) != head or hashlib.sha256(head + event.body.encode()).digest() != bytes(event.hash):": "if False:"},
        "audit/test_chain.py::test_a_changed_column_is_found_at_its_place",
        "audit/test_chain.py::test_twelve_tampers_at_ten_places_are_found_where_they_begin",
    ),
    without(
        "place that a secret is bound to", "kernel/envelope.py", {'return header + b"\\x00".join(part.encode() for part in parts)': "return header"},
        "kernel/test_crypto.py::test_a_frame_opens_in_its_own_place_only",
    ),
    without(
        "check that a key is the one it was", "kernel/keys/ring.py",
        {"if hmac.compare_digest(bytes(row.check_value), envelope.check_value(key)):": "if True:"},
        "kernel/test_crypto.py::test_a_key_that_changed_under_its_number_is_refused_at_start",
    ),
    without(
        "receipts of consumers", "kernel/outbox.py",
        {"fresh = _receipts(consumer.name, events) if consumer.has_receipts else events": "fresh = events"},
        "kernel/test_outbox.py",
    ),
]  # fmt: skip

MUTANTS = [*MACHINES, *PEOPLE, *FENCE, *OUTSIDE, *MAIL, *AGENTS]
