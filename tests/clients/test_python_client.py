"""The Python client on the real API: what an integrator does with it, synchronously and asynchronously."""

import time
from uuid import uuid4

import autonomous_inbox
import pytest
from autonomous_inbox import Client, webhooks
from autonomous_inbox.wire import Call, Retries

from inbox.services import ingesting
from tests.agents.factories import ANSWER, bind, drain, office, play, receive, send_all, work
from tests.factories.world import house, mail

pytestmark = pytest.mark.xdist_group("clients")  # one server for all of them


def test_an_integrator_hands_mail_in_reads_it_and_answers(db, api, driver):
    place = office()
    bind(place.house, None)
    client = driver.client(api, driver.key(place.id))
    do, address = driver.do, place.house.inbox.address
    posted = do(
        client.emails.create(
            from_={"name": "Ada", "address": "ada@customer.test"},
            to=[{"address": address}],
            subject="Opening hours",
            text="When are you open on Saturday?",
            idempotency_key="first",
        )
    )
    again = do(
        client.emails.create(
            from_={"name": "Ada", "address": "ada@customer.test"},
            to=[{"address": address}],
            subject="Opening hours",
            text="When are you open on Saturday?",
            idempotency_key="first",
        )
    )
    assert again["id"] == posted["id"]
    raw = mail(to=address, sender="Grace <grace@customer.test>")
    do(client.emails.create_raw(raw))
    ingesting.process_all()
    drain()
    bind(place.house, place.agent)
    assert do(client.emails.raw(driver.rows(client.emails.list())[0]["id"])) == raw
    email = do(client.emails.get(posted["id"]))
    assert (email["state"], email["text"]) == ("threaded", "When are you open on Saturday?")
    (entry,) = driver.rows(client.threads.entries(email["thread_id"]))
    assert entry["email_id"] == email["id"]
    passages = driver.rows(client.knowledge_passages.list(query="Saturday", limit=1))
    assert "10 to 14" in passages[0]["text"]
    reply = do(client.replies.create(email_id=email["id"], text=ANSWER))
    drain()
    assert send_all() == 1
    assert do(client.replies.get(reply["id"]))["status"] == "sent"
    (run,) = driver.rows(client.agent_runs.list(email_id=email["id"]))
    assert do(client.agent_runs.get(run["id"]))["outcome"] == "answered"
    do(client.close())


def test_lists_fetch_their_pages(db, api, driver):
    place = house()
    client = driver.client(api, driver.key(place.id))
    made = [driver.do(client.webhooks.create(url="https://a.example/", slugs=["*"], label=str(n))) for n in range(5)]
    found = driver.rows(client.webhooks.list(limit=2))
    assert [row["label"] for row in found] == ["4", "3", "2", "1", "0"]
    assert driver.do(client.webhooks.list().first())["id"] == made[-1]["id"]
    assert driver.do(client.threads.list().first()) is None
    assert {row["slug"] for row in driver.rows(client.event_types.list())} >= {"email.received"}
    driver.do(client.close())


def test_null_and_not_given_are_two_things(db, api, driver):
    place = office()
    client = driver.client(api, driver.key(place.id))
    inbox_id = str(place.house.inbox.id)
    assert driver.do(client.inboxes.update(inbox_id, name="New"))["agent_id"] == str(place.agent.id)
    assert driver.do(client.inboxes.update(inbox_id, agent_id=None))["agent_id"] is None
    edited = driver.do(client.inboxes.edit(inbox_id, lambda inbox: {"name": inbox["name"] + "er"}))
    assert edited["name"] == "Newer"
    assert driver.do(client.inboxes.get_versioned(inbox_id)).value["name"] == "Newer"
    hook = driver.do(client.webhooks.create(url="https://a.example/", slugs=["*"], rate_per_second=3))
    assert driver.do(client.webhooks.update(hook["id"], rate_per_second=None))["rate_per_second"] is None
    assert driver.do(client.webhooks.delete(hook["id"])) is None
    driver.do(client.close())


def test_of_two_who_change_the_same_one_is_told(db, api, driver):
    """ETag and If-Match of the API as it is: the second is refused, and `edit` does its change anew."""
    place = house()
    key, inbox_id = driver.key(place.id), str(place.inbox.id)
    client = driver.client(api, key)
    read = driver.do(client.inboxes.get_versioned(inbox_id))
    assert driver.do(client.inboxes.update(inbox_id, name="First", if_match=read.etag))["name"] == "First"
    with pytest.raises(autonomous_inbox.PreconditionFailed) as caught:
        driver.do(client.inboxes.update(inbox_id, name="Second", if_match=read.etag))
    assert caught.value.code == "precondition_failed"
    seen = []
    with Client(api, key) as faster:

        def change(inbox):
            seen.append(inbox["name"])
            if len(seen) == 1:
                faster.inboxes.update(inbox_id, name="Between")
            return {"name": f"{inbox['name']}, then last"}

        assert driver.do(client.inboxes.edit(inbox_id, change))["name"] == "Between, then last"
        assert seen == ["First", "Between"]
        hook = driver.do(client.webhooks.create(url="https://a.example/", slugs=["*"]))
        old = driver.do(client.webhooks.get_versioned(hook["id"])).etag
        faster.webhooks.update(hook["id"], label="kept")
    with pytest.raises(autonomous_inbox.PreconditionFailed):
        driver.do(client.webhooks.delete(hook["id"], if_match=old))
    assert driver.do(client.webhooks.get(hook["id"]))["label"] == "kept"
    driver.do(client.close())


def test_what_is_referred_to_comes_along(db, api, driver):
    place = office()
    play()
    email = receive(place)
    work()
    client = driver.client(api, driver.key(place.id))
    (plain,) = driver.rows(client.agent_runs.list())
    assert not {"agent", "email"} & set(plain)
    (run,) = driver.rows(client.agent_runs.list(expand=["agent", "email"], limit=1))
    assert (run["agent"]["id"], run["email"]["id"]) == (str(place.agent.id), str(email.id))
    alone = driver.do(client.agent_runs.get(run["id"], expand=("agent",)))
    assert (alone["agent"]["name"], "email" in alone) == (place.agent.name, False)
    with pytest.raises(autonomous_inbox.BadRequest, match="agent, email"):
        driver.rows(client.agent_runs.list(expand=["agent", "secrets"]))
    reader = driver.client(api, driver.key(place.id, "agent.read"))
    assert driver.rows(reader.agent_runs.list(expand=["agent"]))
    with pytest.raises(autonomous_inbox.PermissionDenied) as caught:
        driver.rows(reader.agent_runs.list(expand=["agent", "email"]))
    assert caught.value.problem["permission"] == "email.read"
    for one in (client, reader):
        driver.do(one.close())


def test_who_asks_too_much_waits_as_long_as_the_api_says(db, strict_api, driver):
    """Its own waits would be over long before the window is: only Retry-After gets the client through."""
    key, quick = driver.key(house().id), Retries(times=2, first=0.001, longest=0.002)
    client = driver.client(strict_api, key, retries=quick)
    begin = time.monotonic()
    for _ in range(7):
        assert driver.do(client.workspace.get())["object"] == "workspace"
    assert time.monotonic() - begin > 1
    hasty = driver.client(strict_api, key, retries=Retries(times=2, patience=0.0))
    with pytest.raises(autonomous_inbox.RateLimited) as caught:
        for _ in range(7):
            driver.do(hasty.workspace.get())
    assert 0 < caught.value.retry_after <= 2
    for one in (client, hasty):
        driver.do(one.close())


def test_refusals_are_exceptions_with_what_to_do(db, api, driver):
    place, other = house(), house("other")
    client = driver.client(api, driver.key(place.id))
    cases = [
        (lambda: client.threads.get(str(uuid4())), autonomous_inbox.NotFound, "not_found"),
        (lambda: client.inboxes.get(str(other.inbox.id)), autonomous_inbox.NotFound, "not_found"),
        (lambda: client.inboxes.get("../webhooks"), autonomous_inbox.NotFound, ""),
        (
            lambda: client.inboxes.create(address=place.inbox.address),
            autonomous_inbox.Conflict,
            "address_not_available",
        ),
        (
            lambda: client.webhooks.create(url="https://a.example/", slugs=["nope"]),
            autonomous_inbox.Invalid,
            "unknown_event_slug",
        ),
    ]
    for ask, kind, code in cases:
        with pytest.raises(kind) as caught:
            driver.do(ask())
        assert caught.value.code == code or not code
        assert caught.value.request_id or not code
    assert caught.value.pointer == "/slugs"
    assert "email.received" in caught.value.detail
    with pytest.raises(autonomous_inbox.BadRequest):
        driver.rows(client.threads.list(cursor="forged"))
    stranger = driver.client(api, "mk_none_such")
    with pytest.raises(autonomous_inbox.AuthenticationFailed):
        driver.rows(stranger.threads.list())
    reader = driver.client(api, driver.key(place.id, "thread.read"))
    assert driver.rows(reader.threads.list()) == []
    with pytest.raises(autonomous_inbox.PermissionDenied) as caught:
        driver.rows(reader.inboxes.list())
    assert caught.value.problem["permission"] == "inbox.read"
    for one in (client, stranger, reader):
        assert "mk_" not in repr(one)
        driver.do(one.close())


def test_the_same_key_with_other_content_is_refused(db, api, driver):
    client = driver.client(api, driver.key(house().id))
    hook = {"url": "https://a.example/", "slugs": ["*"]}
    first = driver.do(client.webhooks.create(**hook, idempotency_key="k"))
    assert driver.do(client.webhooks.create(**hook, idempotency_key="k")) == first
    with pytest.raises(autonomous_inbox.Invalid, match="idempotency_key_reused"):
        driver.do(client.webhooks.create(**hook, label="other", idempotency_key="k"))
    assert driver.do(client.webhooks.create(**hook))["id"] != driver.do(client.webhooks.create(**hook))["id"]
    assert driver.do(client.send(Call("GET", "/api/v1/workspace")))["object"] == "workspace"
    driver.do(client.close())


def test_a_key_does_not_travel_in_the_open():
    for url in ("http://inbox.example.com", "ftp://inbox.example.com", "inbox.example.com", ""):
        with pytest.raises(ValueError, match=r"https"):
            Client(url, "mk_x")
    assert webhooks.TOLERANCE == 300
