"""Lines that keep somebody out, each taken away, with the tests that must notice: a wall that can fall unseen is none.

`edits` maps what stands there, exactly once, to what stands there without it. Where two walls guard the same thing, the
mutant takes both down. The tests are few and quick: whoever adds a mutant names those that would fail first.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """`lost` says what the product would be without."""

    lost: str
    path: str
    edits: dict[str, str]
    tests: tuple[str, ...]

    @property
    def changes_schema(self) -> bool:
        """Whether only a database that is migrated anew shows it."""
        return self.path.endswith(".sql") or self.path == "kernel/db.py" or "/migrations/" in self.path

    def applied(self, text: str) -> str:
        """The file without the line; AssertionError when the table is not true any more."""
        for old, new in self.edits.items():
            assert text.count(old) == 1, f"{self.path} has {text.count(old)} times: {old}"
            text = text.replace(old, new)
        return text


def without(lost: str, path: str, edits: dict[str, str], *tests: str) -> Mutant:
    """A row of the table."""
    return Mutant(lost, path, edits, tuple(f"tests/{test}" for test in tests))


_FORGED = "tenancy/test_tokens.py::test_wrong_claims_and_forgeries_are_refused_with_one_answer"
_TOKENS, _PRINCIPALS = "tenancy/credentials/tokens.py", "tenancy/queries/principals.py"
_KEYS, _CERTIFICATES = "tenancy/test_machine_keys.py", "tenancy/test_client_certificates.py"
_NO_FORGED_SNS = "inbox/test_sns.py::test_no_forgery_is_taken_or_asks_anybody"
_IN_A_BROWSER = "console/test_hostile_html.py::test_cleaning_alone_holds_in_a_page_without_any_policy"
_ACTING, _APPROVALS = "agents/services/acting.py", "agents/test_approvals.py"

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
        "content that an idempotency key stands for", "kernel/idempotency.py", {"if bytes(stored_mark) != mark:": "if False:"},
        "kernel/test_idempotency.py::test_the_same_key_with_other_content_is_refused",
    ),
]  # fmt: skip

PEOPLE = [
    without(
        "count of wrong passwords", "tenancy/services/signing_in.py",
        {"    if not taken.is_allowed:\n        _refuse(taken, LoginMethod.PASSWORD, origin, user=user, email=address)\n": ""},
        "people/test_login.py::test_twenty_at_once_get_ten_tries_between_them",
    ),
    without(
        "single use of a code", "tenancy/signin/forms.py", {'if not throttling.take_once("used code", f"{self.user.pk}\\x00{plain}", seconds=_lifetime()):': "if False:"},
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
        "scope that is one workspace", "kernel/transactions.py", {'everything = "on" if scope and scope.is_all else ""': 'everything = "on"'},
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

OUTSIDE = [
    without(
        "signature of Amazon's notifications", "inbox/channels/sns.py",
        {"        key.verify(signature, canonical(content), padding.PKCS1v15(), algorithm())\n": ""},
        _NO_FORGED_SNS,
    ),
    without("topics that are ours", "inbox/channels/sns.py", {"if topic not in settings.SNS_TOPIC_ARNS:": "if False:"}, _NO_FORGED_SNS),
    without("age of notifications", "inbox/channels/sns.py", {"if abs(clock.now() - sent) > MAX_AGE:": "if False:"}, _NO_FORGED_SNS),
    without(
        "address of Amazon's certificates", "inbox/channels/sns.py",
        {"if not url.startswith(begin) or not _CERTIFICATE_PATH.fullmatch(url[len(begin) :]):": "if False:"},
        "inbox/test_sns_certificates.py::test_no_other_address_is_asked_for_a_certificate",
    ),
    without(
        "content and time that webhooks are signed with", "webhooks/transport/signing.py",
        {'signed = b"%s.%d.%s" % (message_id.encode(), timestamp, body)': "signed = body"},
        "webhooks/test_signatures.py::test_what_is_sent_verifies_and_nothing_else_does",
    ),
    without(
        "secret of webhooks, at a receiver", "clients/python/src/autonomous_inbox/webhooks.py", {"if not any(matches):": "if False:"},
        "clients/test_webhooks.py::test_a_delivery_is_believed_or_not",
    ),
    without(
        "time of webhooks, at a receiver", "clients/python/src/autonomous_inbox/webhooks.py",
        {"if abs((time.time() if now is None else now) - int(stamp)) > tolerance:": "if False:"},
        "clients/test_webhooks.py::test_a_delivery_is_believed_or_not",
    ),
    without(
        "networks that are closed", "kernel/addresses.py", {"return not any(address in network for network in _CLOSED_V4)": "return True"},
        "kernel/test_http.py::test_no_form_of_an_inner_address_is_called",
    ),
    without(
        "ban of redirects", "kernel/http.py", {"handle.setopt(pycurl.FOLLOWLOCATION, 0)": "handle.setopt(pycurl.FOLLOWLOCATION, 1)"},
        "kernel/test_http.py::test_redirects_are_answers_and_are_not_followed",
    ),
    without(
        "look at every address of a name", "kernel/http.py",
        {
            "if not found or not all(may_connect(": "if not found or not any(may_connect(",
            "if not may_connect(place[0], allowed=settings.OUTBOUND_ALLOWED_NETWORKS):": "if False:",
        },
        "kernel/test_http.py::test_one_inner_address_spoils_a_name",
    ),
    without(
        "call of the very address that was looked at", "kernel/http.py", {'return [f"{target.host}:{target.port}:{listed}"]': "return []"},
        "kernel/test_http.py::test_the_address_that_was_checked_is_the_one_that_is_called",
    ),
    without(
        "look at the address of a socket", "kernel/http.py",
        {"if not may_connect(place[0], allowed=settings.OUTBOUND_ALLOWED_NETWORKS):": "if False:"},
        "kernel/test_http.py::test_no_socket_is_opened_to_a_closed_place_whatever_was_looked_up",
    ),
    without(
        "headers of one line, over HTTP", "kernel/http.py", {'if _ENDS_A_LINE.search("".join(lines)):': "if False:"},
        "kernel/test_http_answers.py::test_a_header_is_one_line",
    ),
    without(
        "emergency stop of webhooks", "webhooks/worker/flights.py", {"if not await self._stops.let(claim.workspace_id):": "if False:"},
        "webhooks/test_emergency_stop.py::test_nothing_is_sent_after_a_stop",
    ),
]  # fmt: skip

MAIL = [
    without(
        "mark of impostors (DMARC)", "inbox/mime/verdicts.py", {"return failed(verdicts) and not policy.answer_dmarc_fail": "return False"},
        "inbox/test_forged_replies.py::test_a_mail_that_fails_dmarc_is_marked_and_an_agent_asks_a_person",
    ),
    without(
        "distance of impostors from conversations", "inbox/services/belonging.py",
        {"candidates = threading.as_stranger(candidates)": "pass"},
        "inbox/test_verdicts.py::test_the_table",
    ),
    without(
        "part that a sender must have taken in a conversation", "inbox/queries/threading.py",
        {"joinable = [(cited_id, candidate) for cited_id, candidate in found if candidate.took_part]": "joinable = list(found)"},
        "inbox/test_ingest.py::test_a_reply_joins_the_thread_of_its_sender_and_a_strangers_does_not",
    ),
    without(
        "pinning of a reply to the sender", "inbox/services/replying.py",
        {'if offered and _domain(offered[0]["address"]) == _domain(email.from_address):': "if offered:"},
        "inbox/test_sending.py::test_reply_to_another_domain_is_not_followed",
    ),
    without(
        "suppressed recipients, where a reply is written", "inbox/services/replying.py", {"    if reason is not None:\n        raise RecipientSuppressed(": "    if False:\n        raise RecipientSuppressed("},
        "agents/test_suppressed_recipients.py::test_a_caller_is_told_what_to_do_and_may_do_it",
    ),
    without(
        "suppressed recipients, where mail is sent", "inbox/services/sending.py",
        {"allowed = [address for address in claimed.envelope_to if address not in claimed.suppressed]": "allowed = list(claimed.envelope_to)"},
        "inbox/test_suppression.py::test_a_suppressed_address_gets_no_mail_until_a_person_allows_it",
    ),
    without(
        "emergency stop of mail that was claimed before it", "inbox/services/sending.py",
        {"if not control.is_current(workspace_id=claimed.workspace_id, generation_claimed=claimed.generation):": "if False:"},
        "agents/test_emergency_stop.py::test_nothing_leaves_after_a_stop[send.before_provider]",
    ),
    without(
        "end of a chain of installations", "inbox/services/replying.py", {'cap = "hops" if email.hops >= settings.MAX_HOPS else ""': 'cap = ""'},
        "inbox/test_sending.py::test_the_cap_on_hops_holds_whatever_a_mail_was_taken_for",
    ),
    without(
        "cap on automatic answers in a conversation", "inbox/services/quotas.py",
        {
            "if _answered_lately(thread_id, sender, now - day):": "if False:",
            '        ("thread", f"{thread_id}:{sender}", day, 1),\n': "",
        },
        "inbox/test_sending.py::test_a_second_automatic_answer_in_a_day_is_held_and_a_persons_is_not",
    ),
    without(
        "silence towards machines", "inbox/mime/classify.py", {'if submitted and submitted != "no":': "if False:"},
        "inbox/test_loops.py::test_machine_mail_is_shown_and_never_answered",
    ),
    without(
        "mark of another installation", "inbox/mime/classify.py",
        {"    if message.first(HOP_HEADER.lower()):\n        return": "    if False:\n        return"},
        "inbox/mime/test_machine_mail.py::test_machine_mail_gets_no_automatic_answer",
    ),
    without(
        "headers of one line, in mail", "inbox/channels/composing.py",
        {
            'flat = _CONTROLS.sub(" ", text)': "flat = text",
            'return " ".join(flat.split())[:limit]': "return flat[:limit]",
        },
        "inbox/test_outgoing_headers.py::test_hostile_subjects_names_and_ids_add_nothing",
    ),
    without(
        "longest mail", "inbox/services/accepting.py", {"if len(raw) > settings.MAIL_MAX_BYTES:": "if False:"},
        "inbox/test_ingress.py::test_a_mail_that_is_too_large_is_refused_in_either_form",
    ),
    without(
        "scripts taken out of mail", "inbox/mime/clean_html.py",
        {
            '_TAGS = nh3.ALLOWED_TAGS - {"area", "map"} | {"font", "tfoot"}': '_TAGS = nh3.ALLOWED_TAGS - {"area", "map"} | {"font", "tfoot", "script"}',
            '"script", "style", "title", "template"': '"style", "title", "template"',
        },
        _IN_A_BROWSER,
    ),
    without(
        "handlers of events taken out of mail", "inbox/mime/clean_html.py",
        {'_ATTRIBUTES["*"] = {"dir", "lang", "style", "title"}': '_ATTRIBUTES["*"] = {"dir", "lang", "style", "title", "onclick", "onerror", "onload"}'},
        _IN_A_BROWSER,
    ),
    without(
        "styles that load taken out of mail", "inbox/mime/clean_html.py",
        {"return None if _UNSAFE_STYLE.search(value) or _HIDES.search(value) else value": "return value"},
        "inbox/test_images.py::test_nothing_that_is_stored_names_a_place_that_a_browser_would_ask",
    ),
    without(
        "sandbox of a mail's own formatting", "config/console/views/originals.py",
        {"\"sandbox; default-src 'none'; style-src": "\"default-src 'self'; style-src"},
        "console/test_hostile_html.py::test_the_frame_is_served_under_its_policy",
    ),
    without(
        "files that are only ever saved", "kernel/api/downloads.py", {"return f'attachment; filename=": "return f'inline; filename="},
        "inbox/test_downloads.py::test_every_kind_of_file_is_only_ever_saved",
    ),
    without(
        "sandbox of files that are handed out", "kernel/api/downloads.py", {'    response["Content-Security-Policy"] = SANDBOX\n': ""},
        "inbox/test_downloads.py::test_every_kind_of_file_is_only_ever_saved",
    ),
    without(
        "names of files without a way elsewhere", "kernel/api/downloads.py", {"_PATHS.split(filename)[-1]": "filename"},
        "inbox/test_downloads.py::test_every_hostile_name_becomes_a_harmless_one",
    ),
]  # fmt: skip

AGENTS = [
    without(
        "doubts that ask a person", "agents/services/deciding.py", {"    if doubts:\n": "    if False:\n"},
        "agents/test_injection.py::test_doubts_ask_however_autonomous",
    ),
    without(
        "autonomy of an agent", "agents/services/deciding.py", {"if risk in _ALLOWED[question.autonomy]:": "if True:"},
        "agents/test_injection.py::test_autonomy_and_risk_decide",
    ),
    without(
        "approval of an answer", _ACTING,
        {
            "if intent.status != IntentStatus.APPROVED:": "if False:",
            'return _approval_refusal(run, intent, approval) if intent.decision == Decision.ASK else None': "return None",
        },
        f"{_APPROVALS}::test_what_changed_after_the_approval_is_not_executed",
        f"{_APPROVALS}::test_the_same_content_is_executed_once",
    ),
    without(
        "content that was approved", _ACTING,
        {
            '(tools.content_hash(tool, intent.arguments) == bytes(intent.content_hash), "its content was changed")': '(True, "its content was changed")',
            "if bytes(approval.content_hash) != bytes(intent.content_hash):": "if False:",
        },
        f"{_APPROVALS}::test_what_changed_after_the_approval_is_not_executed",
    ),
    without(
        "end of an approval", _ACTING, {"if approval.expires_at <= clock.now():": "if False:"},
        f"{_APPROVALS}::test_what_changed_after_the_approval_is_not_executed",
    ),
    without(
        "tools that an agent was granted", _ACTING, {"(run.may(tool), ": "(True, "},
        f"{_APPROVALS}::test_a_lost_permission_stops_an_approved_answer",
    ),
    without(
        "permission to approve", "agents/api/views.py", {'"approve": "approval.decide"': '"approve": "approval.read"'},
        "agents/test_api.py::test_each_route_needs_its_permission",
    ),
    without(
        "ban of agents from approving", "agents/services/approving.py", {'if actor.kind == "agent":': "if False:"},
        f"{_APPROVALS}::test_a_decision_is_made_once_and_not_by_an_agent",
    ),
    without(
        "second pair of eyes", "agents/services/approving.py", {"    if _proposed_by(case, actor):": "    if False:"},
        "agents/test_replies.py::test_a_draft_waits_for_a_person_who_is_not_its_author",
    ),
    without(
        "closed arguments of a tool: a recipient is none", "agents/tools.py", {"forbid_unknown_fields=True": "forbid_unknown_fields=False"},
        "agents/test_leases.py::test_the_registry_refuses_what_it_does_not_know",
    ),
    without(
        "one reply to a mail", _ACTING, {"if ActionIntent.objects.filter(idempotency_key=key).exists():": "if False:"},
        "agents/test_leases.py::test_an_intent_of_another_run_for_the_same_mail_stops_this_one",
    ),
    without(
        "emergency stop of agents that were at work before it", "agents/services/leasing.py",
        {
            "if not control.is_current(workspace_id=lease.workspace_id, generation_claimed=lease.generation):": "if False:",
            '      AND generation = {control.generation_of("agents_execution")}\n    RETURNING id, workspace_id)': "    RETURNING id, workspace_id)",
        },
        "agents/test_emergency_stop.py::test_work_of_an_old_generation_does_nothing_in_a_new_one",
    ),
    without(
        "emergency stop of agents that would begin", "agents/services/leasing.py", {"      AND workspace_id <> ALL ({control.STOPPED})\n": ""},
        "agents/test_emergency_stop.py::test_one_workspace_is_stopped_and_the_others_go_on",
    ),
    without(
        "lease of a worker", "agents/services/leasing.py", {"WHERE id = %(execution)s AND lease_token = %(token)s AND status = 'running'": "WHERE id = %(execution)s AND status = 'running'"},
        "agents/test_leases.py::test_a_late_worker_writes_nothing",
    ),
    without(
        "tools of MCP that their permission opens", "config/mcp/server.py",
        {"if not principal.allows(tool.permission):": "if False:", " if principal.allows(tool.permission)]": "]"},
        "mcp/test_tools.py::test_tools_without_their_permission_are_neither_listed_nor_run",
    ),
]  # fmt: skip

MUTANTS = [*MACHINES, *PEOPLE, *FENCE, *OUTSIDE, *MAIL, *AGENTS]
