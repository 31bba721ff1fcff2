"""What pages show and do: the same number of queries for many rows as for few, harmless originals, forms that call services."""

import uuid
from datetime import timedelta

import pytest
from django.core.files.storage import default_storage
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agents.models import Agent, AgentVersion, ApprovalRequest, KnowledgeSource
from audit.models import AuditEvent
from inbox.models import Entry, InboundMessage, Inbox, OutboundMessage, Thread
from kernel import clock
from kernel.models import OutboxEvent
from kernel.transactions import in_workspace
from tenancy.models import MachineKey, VerifiedDomain
from tests.console import seed, seed_agents
from webhooks.models import Webhook, WebhookDelivery


def queries(client, url):
    with CaptureQueriesContext(connection) as captured:
        assert client.get(url).status_code == 200
    return len(captured)


def page_of(world, name="lamp"):
    return reverse("admin:inbox_thread_change", args=[world.threads[name].id])


def fill(world, threads=0, entries=0):
    now = clock.now()
    with in_workspace(world.workspace.id):
        for number in range(threads):
            seed.inbound(world, f"More {number}", "text", sender=(f"P {number}", f"p{number}@more.example"), at=now)
        for number in range(entries):
            at = now + timedelta(seconds=number)
            mail = seed.inbound(
                world,
                "Re: Lamp",
                "more",
                sender=("Nora Haddad", "nora@haddad.example"),
                at=at,
                thread=world.threads["lamp"],
            )
            sent = seed.outbound(world, world.threads["lamp"], "answer", at=at)
            seed_agents.run(world, mail, "answer", sent=sent, at=at)


def test_lists_ask_as_often_for_many_rows_as_for_few(mika, world):
    urls = [
        "/console/inbox/thread/?view=all", "/console/inbox/email/", "/console/agents/agentrun/", "/console/approvals/",
        "/console/contacts/contactprofile/", "/console/",
    ]  # fmt: skip
    mika.get("/console/you/")  # the first page of a session writes the token of its forms
    before = {url: queries(mika, url) for url in urls}
    fill(world, threads=12, entries=4)
    assert {url: queries(mika, url) for url in urls} == before
    assert max(before.values()) < 30


def test_a_conversation_asks_as_often_for_many_entries_as_for_few(mika, world):
    mika.get("/console/you/")
    before = queries(mika, page_of(world))
    fill(world, entries=12)
    assert queries(mika, page_of(world)) == before
    assert before < 35


def test_a_long_conversation_shows_its_end_first(mika, world, monkeypatch):
    monkeypatch.setattr("config.console.timeline.SHOWN", 2)
    page = mika.get(page_of(world)).content.decode()
    assert "Show earlier messages" in page
    # Two messages, and the note that stands between them.
    assert page.count('class="c-msg ') == 3
    assert mika.get(page_of(world) + "?all=1").content.decode().count('class="c-msg ') == 4


def test_messages_are_in_the_order_of_seq(mika, world):
    page = mika.get(page_of(world)).content.decode()
    with in_workspace(world.workspace.id):
        seqs = Entry.objects.filter(thread=world.threads["lamp"]).order_by("seq").values_list("seq", flat=True)
    places = [page.index(f'id="entry-{seq}"') for seq in seqs]
    assert places == sorted(places)


def test_warnings_say_why(mika, world):
    page = mika.get(page_of(world, "suspicious")).content.decode()
    for words in ("Failed DMARC", "Reply-To is at another domain", "accounts@payments-desk.example"):
        assert words in page
    answered = mika.get(page_of(world, "answered")).content.decode()
    assert "no language model was used" in answered
    assert "It starts a conversation of its own." in answered


def test_what_strangers_wrote_is_text(mika, world):
    with in_workspace(world.workspace.id):
        seed.inbound(
            world, "<script>alert(1)</script>", "<img src=x onerror=alert(2)>", sender=('"><b>x', "x@evil.example"), at=clock.now()
        )  # fmt: skip
    thread = None
    with in_workspace(world.workspace.id):
        thread = Thread.objects.get(subject="<script>alert(1)</script>")
    for url in ("/console/inbox/thread/", "/console/", reverse("admin:inbox_thread_change", args=[thread.id])):
        page = mika.get(url).content.decode()
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert "&lt;script&gt;" in page


def test_a_file_whose_bytes_are_gone_is_a_page_that_says_so(mika, world):
    with in_workspace(world.workspace.id):
        lost = seed.attach(world, seed.inbound(world, "x", "x", sender=("X", "x@x.example"), at=clock.now()), "a.txt", b"gone", "text/plain")  # fmt: skip
        default_storage.delete(lost.file.storage_key)
    page = mika.get(reverse("admin:attachment", args=[lost.id]))
    assert page.status_code == 503
    assert "cannot be read at the moment" in page.content.decode()


def test_originals_can_do_nothing(mika, world):
    """FS-7: a download with nosniff and a sandbox, whatever the file says it is."""
    with in_workspace(world.workspace.id):
        svg = seed.attach(world, seed.inbound(world, "x", "x", sender=("X", "x@x.example"), at=clock.now()), 'a"b\r\n.svg', b"<svg onload='alert(1)'/>", "image/svg+xml")  # fmt: skip
        message = InboundMessage.objects.filter(state="done").first()
        email_id = message.emails.get().id
    file = mika.get(reverse("admin:attachment", args=[svg.id]))
    assert b"".join(file.streaming_content) == b"<svg onload='alert(1)'/>"
    assert file["Content-Type"] == "application/octet-stream"
    assert file["Content-Disposition"].startswith("attachment; filename=")
    raw = mika.get(reverse("admin:message_raw", args=[message.id]))
    assert b"".join(raw.streaming_content) == bytes(message.raw)
    assert raw["Content-Disposition"].startswith("attachment;")
    html = mika.get(reverse("admin:entry_html", args=[world.extra["entry"].id]))
    assert b"<b>Lindgren floor lamp</b>" in html.content
    for response in (file, raw, html):
        policy = response["Content-Security-Policy"]
        assert policy.startswith("sandbox; default-src 'none'")
        assert "script-src" not in policy
        assert response["X-Content-Type-Options"] == "nosniff"
    source = mika.get(reverse("admin:email_source", args=[email_id]))
    assert source.status_code == 200


def test_an_uncertain_message_is_settled_by_a_person(mika, world):
    with in_workspace(world.workspace.id):
        row = OutboundMessage.objects.get(state="uncertain")
    page = mika.get(page_of(world, "uncertain")).content.decode()
    assert "Did this message arrive?" in page
    mika.post(reverse("admin:outbound_settle", args=[row.id]), {"arrived": "yes"})
    with in_workspace(world.workspace.id):
        assert OutboundMessage.objects.get(id=row.id).state == "sent"
    again = mika.post(reverse("admin:outbound_settle", args=[row.id]), {"arrived": "no"}, follow=True)
    assert b"Only an uncertain message can be settled." in again.content


def test_a_second_decision_is_refused_with_words(mika, world):
    asked = world.approvals["gift"]
    url = reverse("admin:reject", args=[asked.id])
    assert mika.get(url).status_code == 405
    assert b"Rejected" in mika.post(url, {"comment": "no"}, follow=True).content
    refused = mika.post(reverse("admin:approve", args=[asked.id]), follow=True)
    assert b"decided before" in refused.content
    with in_workspace(world.workspace.id):
        assert ApprovalRequest.objects.get(id=asked.id).state == "rejected"
    with in_workspace(world.workspace.id):
        who = AuditEvent.objects.filter(action="approval.decide").values_list("actor_kind", "actor_label").first()
    assert who == ("user", "Mika Lindgren")


@pytest.mark.parametrize("emptied", ["", " ", "\r\n\r\n", "\u200b", "\u00a0"])
@pytest.mark.parametrize("shown", [True, False])
def test_an_emptied_box_approves_nothing(mika, world, emptied, shown):
    """Who deletes the agent's words and approves must not send them; who leaves them as they are does."""
    asked, url = world.approvals["gift"], reverse("admin:approve", args=[world.approvals["gift"].id])
    words = asked.snapshot["text"]
    box = {"original_text": words} if shown else {}
    refused = mika.post(url, {"edited_text": emptied} | box, follow=True)
    assert b"The edited answer is empty." in refused.content
    with in_workspace(world.workspace.id):
        assert ApprovalRequest.objects.get(id=asked.id).state == "pending"
    assert (
        b"Approved; the agent sends it now."
        in mika.post(url, {"edited_text": words} | {"original_text": words}, follow=True).content
    )
    with in_workspace(world.workspace.id):
        row = ApprovalRequest.objects.get(id=asked.id)
    assert (row.state, row.edited, row.snapshot["text"]) == ("approved", False, words)


def test_the_box_for_an_edit_wants_words_unless_the_answer_is_rejected(mika, world):
    page = mika.get("/console/approvals/").content.decode()
    assert '<textarea name="edited_text" rows="9" required>' in page
    assert "formnovalidate formaction=" in page


def test_a_double_click_sends_one_reply(mika, world):
    with in_workspace(world.workspace.id):
        email = Entry.objects.filter(thread=world.threads["gift"], direction="inbound").first().email_id
    url = reverse("admin:thread_reply", args=[world.threads["gift"].id])
    body = {"text": "Yes.\r\n\r\nMika", "email": str(email), "key": str(uuid.uuid4())}
    assert b"on its way" in mika.post(url, body, follow=True).content
    mika.post(url, body)
    with in_workspace(world.workspace.id):
        sent = Entry.objects.get(thread=world.threads["gift"], direction="outbound")
    assert (sent.body_text, sent.outbound_kind, sent.author_label) == ("Yes.\n\nMika", "human", "Mika Lindgren")
    assert b"Write something first" in mika.post(url, body | {"text": " "}, follow=True).content


def test_bulk_replay_of_quarantined_mail(mika, world):
    with in_workspace(world.workspace.id):
        ids = list(InboundMessage.objects.filter(state="quarantined").values_list("id", flat=True))
    body = {"action": "replay", "_selected_action": ids, "index": "0"}
    assert mika.post("/console/inbox/inboundmessage/", body, follow=True).status_code == 200
    with in_workspace(world.workspace.id):
        actions = AuditEvent.objects.filter(action="quarantine.replay", actor_label="Mika Lindgren").count()
    assert actions == len(ids)


def test_forms_call_services(mika, world):
    """Each form makes what it says, in the chosen workspace, recorded as the person who filled it."""
    mika.post(
        "/console/agents/knowledgesource/add/", {"title": "Hours", "uri": "", "content": "# Hours\n\nNine to five."}
    )
    values = {
        "name": "Nights", "status": "active", "autonomy": "draft", "system_prompt": "Be brief.", "skills_text": "one\ntwo",
        "provider": "", "model": "", "max_steps": "12", "max_cost_micros": "1000",
    }  # fmt: skip
    mika.post("/console/agents/agent/add/", values)
    mika.post(
        "/console/inbox/inbox/add/",
        {
            "address": "sales@lindgren.example",
            "name": "Sales",
            "agent_id": str(world.agent.id),
            "run_agent": "on",
            "quarantine_virus": "on",
            "honour_dmarc_policy": "on",
            "answer_unproven": "on",
            "block_senders": "bad.example",
            "when_inactive": "store",
        },
    )
    mika.post("/console/tenancy/verifieddomain/add/", {"domain": "Lamps.Example"})
    with in_workspace(world.workspace.id):
        assert KnowledgeSource.objects.get(title="Hours").chunks.count() >= 1
        agent = Agent.objects.get(name="Nights")
        assert AgentVersion.objects.get(agent=agent).skills == ["one", "two"]
        opened = Inbox.objects.get(address="sales@lindgren.example")
        assert opened.agent_id == world.agent.id
        assert opened.policy == {"version": 2, "quarantine_spam": False, "block_senders": ["bad.example"]}
        assert VerifiedDomain.objects.get(domain="lamps.example").state == "pending"
        made = AuditEvent.objects.filter(actor_label="Mika Lindgren").values_list("action", flat=True)
        assert {"knowledge.add", "agent.create", "inbox.open", "domain.claim"} <= set(made)
    mika.post(reverse("admin:agents_agent_change", args=[agent.id]), values | {"name": "Late nights"})
    with in_workspace(world.workspace.id):
        agent.refresh_from_db()
        assert (agent.name, agent.current_version) == ("Late nights", 2)


def test_a_refusal_keeps_what_was_typed(mika, world):
    response = mika.post(
        "/console/inbox/inbox/add/",
        {"address": "a@stranger.example", "name": "Kept", "agent_id": "", "when_inactive": "store"},
    )
    page = response.content.decode()
    assert response.status_code == 200
    assert "is not verified for this workspace" in page
    assert 'value="Kept"' in page


@pytest.mark.parametrize("kind", ["key", "webhook"])
def test_secrets_are_shown_once_and_kept_nowhere(mika, world, kind):
    if kind == "key":
        first = mika.post("/console/tenancy/machinekey/add/", {"name": "CI", "scopes": ["email.read"], "expires_at_0": "", "expires_at_1": ""})  # fmt: skip
        model, start = MachineKey, "mk_"
    else:
        first = mika.post("/console/webhooks/webhook/add/", {"label": "Orders", "url": "https://example.com/hook", "slugs": "email.*", "headers": "{}", "rate_per_second": ""})  # fmt: skip
        model, start = Webhook, "whsec_"
    page = first.content.decode()
    assert "This is shown once" in page
    secret = page.partition("data-secret>")[2].partition("<")[0]
    assert secret.startswith(start)
    for url in ("/console/", f"/console/{model._meta.app_label}/{model._meta.model_name}/"):
        assert secret not in mika.get(url).content.decode()
    assert secret not in str(mika.cookies) + str(dict(mika.session))


def test_nobody_issues_a_key_with_more_than_they_may(world):
    from tests.console.conftest import signed_in

    user = seed.person("keys@x.example")
    seed.member(user, world.workspace, "workspace.read", "workspace.manage")
    body = {"name": "Mighty", "scopes": ["email.send"], "expires_at_0": "", "expires_at_1": ""}
    page = signed_in(user).post("/console/tenancy/machinekey/add/", body).content.decode()
    assert "email.send" in page
    with in_workspace(world.workspace.id):
        assert not MachineKey.objects.filter(name="Mighty").exists()


def test_webhook_buttons(mika, world):
    row = world.extra["webhook"]
    page = reverse("admin:webhooks_webhook_change", args=[row.id])
    assert b"failing" in mika.get(page).content
    assert (
        b"is on its way" in mika.post(reverse("admin:webhook_test", args=[row.id]), {"next": page}, follow=True).content
    )
    mika.post(reverse("admin:webhook_switch", args=[row.id]), {"to": "off", "next": page})
    with in_workspace(world.workspace.id):
        assert Webhook.objects.get(id=row.id).state == "disabled"
    refused = mika.post(reverse("admin:webhook_test", args=[row.id]), {"next": page}, follow=True)
    assert b"is disabled" in refused.content
    mika.post(reverse("admin:webhook_switch", args=[row.id]), {"to": "on", "next": page})
    with in_workspace(world.workspace.id):
        assert Webhook.objects.get(id=row.id).state == "active"
        # Disabling cancelled the test that waited; enabling replays what was missed.
        tests = WebhookDelivery.objects.filter(webhook=row, system_event__slug="webhook.test")
        assert sorted(tests.values_list("status", flat=True)) == ["cancelled", "pending"]
    assert mika.get(reverse("admin:webhook_edit", args=[row.id])).status_code == 200


def test_parked_events_are_delivered_again(mika, world):
    with in_workspace(world.workspace.id):
        row = OutboxEvent.objects.create(
            workspace_id=world.workspace.id, slug="x.y", aggregate_key="x", parked_at=clock.now(), attempts=12
        )
    assert b"x.y" in mika.get("/console/kernel/outboxevent/?standing=parked").content
    mika.post("/console/kernel/outboxevent/", {"action": "redeliver", "_selected_action": [row.pk], "index": "0"})
    with in_workspace(world.workspace.id):
        row.refresh_from_db()
    assert (row.parked_at, row.attempts) == (None, 0)


def test_the_chain_is_verified_from_the_page(mika, world):
    page = "/console/audit/auditevent/"
    assert b"The chain holds" in mika.post("/console/audit/verify/", {"next": page}, follow=True).content


def test_a_silent_scheduler_is_said_on_the_first_page(mika, world):
    from kernel.models import Heartbeat

    assert b"The scheduler is silent" not in mika.get("/console/").content
    Heartbeat.objects.filter(name="beat").update(at=clock.now() - timedelta(hours=1))
    assert b"The scheduler is silent" in mika.get("/console/").content


def test_a_new_workspace_says_what_to_do_next(kim, other):
    for path, words in (
        ("/console/", b"Nothing waits for you"),
        ("/console/approvals/", b"No agent asks for anything"),
        ("/console/inbox/thread/", b"opens a conversation"),
        ("/console/webhooks/webhook/", b"Add webhook"),
        ("/console/inbox/inboundmessage/", b"The quarantine is empty"),
    ):
        assert words in kim.get(path).content, path


def test_a_failed_request_keeps_nothing(mika, world, monkeypatch):
    """The request is one unit of work: an error after a change undoes the change."""

    def explode(*_, **__):
        from inbox.services import inboxes

        inboxes.change(workspace_id=world.workspace.id, inbox_id=world.inbox.id, changes={"name": "half done"})
        raise RuntimeError("a fault")

    monkeypatch.setattr("config.console.views.quarantine.quarantining.replay", explode)
    mika.raise_request_exception = False
    url = reverse("admin:message_replay", args=[world.extra["quarantined"].id])
    assert mika.post(url).status_code == 500
    with in_workspace(world.workspace.id):
        world.inbox.refresh_from_db()
    assert world.inbox.name == "Lindgren Lamps Support"
