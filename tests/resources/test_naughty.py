"""Hostile strings through every text field of the nine: kept and returned as they were, or refused with 422. Never a 5xx."""

import json
from collections.abc import Callable
from email import message_from_bytes
from email.policy import default
from typing import Any
from urllib.parse import quote
from uuid import UUID, uuid4

import pytest

from inbox.models import Email
from inbox.services import ingesting
from kernel.transactions import in_workspace
from tests.resources.naughty import strings, unstorable
from tests.resources.nine import World

STRINGS = strings()
# The fast suite gives each place every tenth string, another tenth to the next place; the deep one gives each place all.
TENTHS = pytest.mark.parametrize("part", ["a tenth", pytest.param("all", marks=pytest.mark.deep)])
# White space, and the byte order mark, which is no character at the head of a text.
AROUND = " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2003\u2028\u2029\u202f\u205f\u3000\ufeff"

Build = Callable[[str], dict[str, Any]]


def of(part: str, place: int) -> list[str]:
    return STRINGS if part == "all" else STRINGS[place % 10 :: 10]


def at(body: Any, pointer: str) -> Any:
    for part in pointer.strip("/").split("/"):
        body = body[int(part)] if isinstance(body, list) else body[part]
    return body


class Field:
    """A text field: how a string gets into a body, and where it is found again."""

    def __init__(self, pointer: str, build: Build, shown: str = "") -> None:
        self.pointer, self.build, self.shown = pointer, build, shown or pointer


def plain(name: str) -> Field:
    return Field(f"/{name}", lambda text: {name: text})


def listed(name: str) -> Field:
    return Field(f"/{name}/0", lambda text: {name: [text]})


def free(text: str) -> dict[str, Any]:
    return {"custom_metadata": {"value": text, f"k{text}": [text, {text: None}]}}


FREE = Field("/custom_metadata/value", free)

# Fields that take any text, as far as it fits.
FIELDS: dict[str, list[Field]] = {
    "workspace": [plain("name"), FREE],
    "inbox": [
        plain("name"),
        Field("/policy/auto_ack/text", lambda text: {"policy": {"auto_ack": {"text": text}}}),
        FREE,
    ],
    "agent": [plain("name"), plain("model"), plain("system_prompt"), listed("skills"), FREE],
    "webhook": [plain("label"), FREE],
}  # fmt: skip
# Fields that take certain words, or a form.
FORMED: dict[str, list[Field]] = {
    "workspace": [plain("timezone")],
    "inbox": [
        plain("agent_id"),
        Field("/policy/block_senders/0", lambda text: {"policy": {"block_senders": [text]}}),
        plain("active"),
    ],
    "agent": [plain("provider"), listed("permissions"), plain("status"), plain("autonomy"), plain("max_steps")],
    "webhook": [plain("url"), listed("slugs"), Field("/headers/X-A", lambda text: {"headers": {"X-A": text}})],
}


def push(
    call: Any, method: str, path: str, fields: list[Field], text: str, base: dict[str, Any]
) -> tuple[Any, list[Field]]:
    """Send all fields with `text`; those that are refused are left out of a second request, which has to succeed."""
    kept = fields
    for _ in range(6):
        body = dict(base)
        for field in kept:
            body |= field.build(text)
        answer = call(method, path, body)
        if answer.status_code < 300:
            return answer, kept
        assert answer.status_code == 422, (method, path, text[:60], answer.status_code, answer.content[:300])
        faults = [fault["pointer"] for fault in answer.json()["errors"]]
        left = [field for field in kept if not any(_about(fault, field.pointer) for fault in faults)]
        assert len(left) < len(kept), (text[:60], faults)
        kept = left
        if not kept:
            return None, []
    raise AssertionError(f"refused again and again: {text[:60]!r}")


def _about(fault: str, pointer: str) -> bool:
    return pointer.startswith(fault) or fault.startswith(pointer)


@TENTHS
@pytest.mark.parametrize("name", FIELDS)
def test_a_text_is_kept_as_it_is_or_refused(acme: World, cases, name, part):
    kept_once: set[str] = set()
    tried = of(part, list(FIELDS).index(name))
    for text in tried:
        answer, kept = push(acme.call, "PATCH", acme.path(name), FIELDS[name], text, {})
        if answer is None:
            continue
        shown = answer.json()
        for field in kept:
            assert at(shown, field.shown) == text, (name, field.pointer, text[:60])
            kept_once.add(field.pointer)
        if FREE in kept:
            assert shown["custom_metadata"] == free(text)["custom_metadata"]
    # The last state is what is stored.
    assert acme.call("GET", acme.path(name)).json()["id"] == str(acme.ids[name])
    assert kept_once == {field.pointer for field in FIELDS[name]}
    cases("P8", len(tried) * len(FIELDS[name]))


@TENTHS
@pytest.mark.parametrize("name", FORMED)
def test_what_is_no_word_of_the_field_is_refused(acme: World, cases, name, part):
    before = acme.call("GET", acme.path(name)).json()
    tried = of(part, list(FORMED).index(name) + 1)
    for text in tried:
        body: dict[str, Any] = {}
        for field in FORMED[name]:
            body |= field.build(text)
        answer = acme.call("PATCH", acme.path(name), body)
        assert answer.status_code in (200, 422), (text[:60], answer.content[:200])
        if answer.status_code == 200:
            for field in FORMED[name]:
                if field.shown.count("/") == 1 or field.shown.endswith("/0"):
                    assert at(answer.json(), field.shown) == text
        else:
            assert answer.json()["errors"][0]["pointer"].startswith("/")
    after = acme.call("GET", acme.path(name)).json()
    kept = {field.pointer.split("/")[1] for field in FORMED[name]} | {"updated_at", "version", "policy_version"}
    assert {k: v for k, v in before.items() if k not in kept} == {k: v for k, v in after.items() if k not in kept}
    cases("P8", len(tried) * len(FORMED[name]))


def correspondent(name: str = "", address: str = "ada@customer.test") -> dict[str, str]:
    return {"name": name, "address": address}


MAIL = {"from": correspondent(), "to": [correspondent(address="support@acme.test")], "text": "Hello"}
MAIL_FIELDS = [
    Field("/from/name", lambda text: {"from": correspondent(text)}, "/from_name"),
    Field("/cc/0/name", lambda text: {"cc": [correspondent(text, "bob@customer.test")]}),
    plain("subject"),
    Field("/message_id", lambda text: {"message_id": text}, "/rfc_message_id"),
    Field("/in_reply_to", lambda text: {"in_reply_to": text}, "/in_reply_to/0"),
    listed("references"),
    Field("/headers/X-Note", lambda text: {"headers": {"X-Note": text}}),
    plain("text"),
    plain("html"),
    FREE,
]
# What is shown of a mail is read from the mail, after it was stored.
READ = {"/from/name", "/cc/0/name", "/subject", "/message_id", "/in_reply_to", "/references/0"}


@TENTHS
def test_a_mail_is_read_as_it_was_given_or_refused(acme: World, cases, part):
    given: dict[UUID, tuple[str, list[Field]]] = {}
    tried = of(part, 2)
    for text in tried:
        answer, kept = push(acme.call, "POST", "/emails", MAIL_FIELDS, text, MAIL)
        if answer is not None:
            assert answer.json()["custom_metadata"] == (free(text)["custom_metadata"] if FREE in kept else {})
            given[UUID(answer.json()["id"])] = (text, kept)
    ingesting.process_all()
    with in_workspace(acme.id):
        rows = {row.id: row for row in Email.objects.select_related("entry", "inbound_message").filter(id__in=given)}
    assert {row.state for row in rows.values()} <= {"threaded", "ignored"}
    kept_once: set[str] = set()
    for email_id, (text, kept) in given.items():
        row = rows[email_id]
        shown = {
            "/from/name": row.from_name,
            "/cc/0/name": row.cc[0]["name"] if row.cc else "",
            "/subject": row.subject,
            "/message_id": row.rfc_message_id,
            "/in_reply_to": row.in_reply_to[0] if row.in_reply_to else "",
            "/references/0": row.references[0] if row.references else "",
        }
        for field in kept:
            if field.pointer not in READ:
                continue
            # Ids are without their brackets; one that was not given is made.
            wanted = text.strip("<>") if field.pointer in ("/message_id", "/in_reply_to", "/references/0") else text
            if text or field.pointer != "/message_id":
                assert shown[field.pointer] == wanted, (field.pointer, text[:80])
            kept_once.add(field.pointer)
        if any(field.pointer == "/text" for field in kept) and hasattr(row, "entry"):
            # The mail itself holds every space; a conversation shows the text without white space around it.
            part = message_from_bytes(bytes(row.inbound_message.raw), policy=default).get_body(("plain",))
            wanted = text.replace("\r\n", "\n")
            assert part.get_content().replace("\r\n", "\n").removesuffix("\n") == wanted.removesuffix("\n"), text[:80]
            assert row.entry.body_text.strip(AROUND) == wanted.strip(AROUND), text[:80]
    assert kept_once == READ
    answer = acme.call("GET", "/emails?limit=100")
    assert answer.status_code == 200
    cases("P8", len(tried) * len(MAIL_FIELDS))


@TENTHS
def test_addresses_urls_and_keys_are_kept_or_refused(acme: World, cases, part):
    tried = of(part, 0)
    for text in tried:
        answer = acme.call("POST", "/inboxes", {"address": f"{text}@acme.test", "name": text[:200]})
        assert answer.status_code in (201, 409, 422), (text[:60], answer.content[:200])
        if answer.status_code == 201:
            assert answer.json()["address"] == f"{text}@acme.test"
            assert acme.call("GET", f"/inboxes/{answer.json()['id']}").json() == answer.json()
        bodies = (
            ("/emails", MAIL | {"to": [correspondent(address=text)], "headers": {text: "x"}}),
            ("/webhooks", {"url": f"https://example.com/{text}", "slugs": ["*"], "headers": {text or " ": text}}),
        )
        for path, body in bodies:
            answer = acme.call("POST", path, body)
            assert answer.status_code in (201, 202, 422), (path, text[:60], answer.status_code, answer.content[:200])
    cases("P8", len(tried) * 5)  # two of the requests try two places


QUERIES = [
    "/inboxes?active={0}", "/inboxes?agent_id={0}", "/emails?state={0}", "/emails?inbox_id={0}", "/emails?cursor={0}", "/emails?limit={0}",
    "/attachments?email_id={0}", "/agent-runs?status={0}", "/agent-runs?agent_id={0}", "/webhook-deliveries?status={0}",
    "/webhook-deliveries?webhook_id={0}", "/system-events?slug={0}", "/threads?status={0}", "/agents?{0}={0}", "/emails/{0}",
]  # fmt: skip


def test_queries_and_paths_find_or_refuse(acme: World, cases):
    """One address for each string in turn, so that each address gets dozens of them."""
    tried = 0
    for place, text in enumerate(STRINGS):
        query = QUERIES[place % len(QUERIES)]
        answer = acme.call("GET", query.format(quote(text[:2000], safe="")))
        assert answer.status_code in (200, 301, 400, 404, 422), (query, text[:60], answer.status_code)
        tried += 1
    cases("P8", tried)


def test_what_no_column_holds_is_refused_with_422(acme: World, cases):
    body = b'{"%s": "%s"}'
    tried = 0
    for text in unstorable():
        for name, key in (("workspace", "name"), ("inbox", "name"), ("agent", "system_prompt"), ("webhook", "label")):
            before = acme.call("GET", acme.path(name)).json()
            answer = acme.call("PATCH", acme.path(name), body % (key.encode(), text.encode()))
            assert (answer.status_code, answer.json()["code"]) == (422, "unstorable_text"), text
            answer = acme.call("PATCH", acme.path(name), b'{"custom_metadata": {"%s": 1}}' % text.encode())
            assert answer.status_code == 422
            assert acme.call("GET", acme.path(name)).json() == before
            tried += 2
    cases("P8", tried)


@pytest.mark.parametrize("name", ["workspace", "inbox", "email", "agent", "webhook"])
def test_free_data_comes_back_as_it_went_in(acme: World, name):
    whole = {
        "numbers": [0, -1, 2**63 - 1, -(2**63), 1.5, -0.25, 1e-300, 123456789.125],
        "words": [None, True, False, "", "null"],
        "deep": [[[[[[[[[[{"a": {"b": {"c": []}}}]]]]]]]]]],
        "": "an empty key",
        "metadata": {"id": "not a system field here"},
        "$where": "1", "a.b": 1, "a[0]": 2, "__proto__": {"x": 1},
    }  # fmt: skip
    answer = acme.call("PATCH", acme.path(name), {"custom_metadata": whole})
    assert (answer.status_code, answer.json()["custom_metadata"]) == (200, whole)
    assert acme.call("GET", acme.path(name)).json()["custom_metadata"] == whole
    for bad in (
        [], "text", 5, None, {"n": 10**30}, {"n": 1e30}, {"n": 2.0**63}, {"x": "y" * 70_000}, {"d": _nested(40)}, {"d": _nested(900)},
    ):  # fmt: skip
        text = b'{"custom_metadata": %s}' % _json(bad)
        answer = acme.call("PATCH", acme.path(name), text)
        assert answer.status_code == 422, (str(bad)[:40], answer.content[:200])
        if bad != {"d": _nested(900)}:
            assert answer.json()["errors"][0]["pointer"] == "/custom_metadata"
    assert acme.call("GET", acme.path(name)).json()["custom_metadata"] == whole


def test_a_body_that_is_too_deep_is_refused_before_anything_else(acme: World):
    """With a key, too: what is fingerprinted has to be written down again."""
    for depth, status in ((99, 422), (101, 422), (300, 422), (1000, 422), (5000, 400)):
        body = b'{"name": "x", "custom_metadata": {"d": %s1%s}}' % (b"[" * depth, b"]" * depth)
        assert acme.call("POST", "/agents", body, idempotency_key="deep").status_code == status, depth
    assert acme.call("POST", "/agents", {"name": "x"}, idempotency_key="deep").status_code == 201


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def _json(value: Any) -> bytes:
    if isinstance(value, dict) and value.get("n") == 10**30:
        return b'{"n": 1000000000000000000000000000000}'
    return json.dumps(value).encode()


def test_names_of_files_are_harmless_and_files_come_back_whole(acme: World, cases):
    """What a file is called is its sender's choice; what is kept of it is one visible name, and the bytes are the same."""
    from email.header import Header

    from tests.factories.world import hand_in

    bytes_of: dict[str, bytes] = {}
    for place, text in enumerate(text for text in STRINGS if len(text) < 300):
        content = f"content {place} {uuid4()}".encode()
        name = Header(text or "x", "utf-8").encode().replace("\n", "\r\n")
        raw = (
            b"From: ada@customer.test\r\nTo: support@acme.test\r\nMIME-Version: 1.0\r\n"
            b"Content-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=\"" + name.encode() + b"\"\r\n\r\n"
            + content
        )  # fmt: skip
        (accepted,) = hand_in(raw)
        bytes_of[str(accepted.email_id)] = content
    ingesting.process_all()
    tried = 0
    cursor = ""
    while cursor is not None:
        page = acme.call("GET", f"/attachments?limit=100{cursor and '&cursor=' + cursor}").json()
        for row in page["data"]:
            if row["email_id"] not in bytes_of:
                continue
            assert row["filename"].isprintable() or "\u00ad" in row["filename"] or row["filename"], row
            assert not set(row["filename"]) & set("/\\\x00\r\n"), row
            tried += 1
            if tried % 10 == 0:
                answer = acme.call("GET", f"/attachments/{row['id']}/content")
                assert b"".join(answer.streaming_content).rstrip() == bytes_of[row["email_id"]].rstrip()
        cursor = page["next"]
    assert tried > 400
    cases("P8", tried)
