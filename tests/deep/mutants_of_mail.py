"""The lines that guard what comes in, what goes out, and what agents do; the others are in tests/deep/mutants.py."""

from tests.deep.mutant import without

_NO_FORGED_SNS = "inbox/test_sns.py::test_no_forgery_is_taken_or_asks_anybody"
_IN_A_BROWSER = "console/test_hostile_html.py::test_cleaning_alone_holds_in_a_page_without_any_policy"
_ACTING, _APPROVALS = "agents/services/acting.py", "agents/test_approvals.py"

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
        "mail that reads the same twice", "inbox/mime/clean_html.py", {"if found == before:": "if True:"},
        "inbox/test_costly_html.py::test_what_grows_is_left_out_or_small_and_is_shown_as_it_is_stored",
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
        "barrier for what the company does not name", "agents/services/deciding.py", {"    if strange:": "    if False:"},
        "agents/test_facts.py::test_whatever_the_company_does_not_name_needs_a_person",
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
        "inbox at the claim", _ACTING, {"    lack = licensing.lack(mail, agent)\n": "    lack = None\n"},
        "agents/test_claims.py::test_what_changed_at_the_inbox_since_the_approval_holds",
    ),
    without(
        "autonomy at the claim", _ACTING, {"(stricter := _stricter(run, mail, intent))": "(stricter := \"\")"},
        "agents/test_claims.py::test_what_changed_at_the_inbox_since_the_decision_holds",
    ),
    without(
        "approver at the claim", _ACTING,
        {"if not approving.still_holds(approval, inbox_id=run.mail().inbox_id):": "if False:"},
        "agents/test_claims.py::test_an_approval_holds_as_long_as_its_person_may_approve",
    ),
    without(
        "emptied box of an approval", "config/console/views/approvals.py",
        {"None if edited and edited == original else edited": "edited if edited and edited != original else None"},
        "console/test_pages.py::test_an_emptied_box_approves_nothing",
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
