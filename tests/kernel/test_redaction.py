"""What reaches a log line: who and what, but no secret, no content, no whole address (P7)."""

import io
import json
import logging
import logging.config
from dataclasses import dataclass
from uuid import uuid4

import pytest

from kernel import context
from kernel.context import Actor
from kernel.logging import configuration
from kernel.redaction import redact, redact_text
from kernel.transactions import in_workspace

CANARIES = [
    "whsec_Y2FuYXJ5",
    "sk-live-canary123",
    "mk_abcdef_canary",
    "eyJhbGciOiJIUzI1NiJ9.canary.sig",
    "canary@secret.test",
    "lnk_canary",
    "lnk_.eJy-canary:1vXcanary:canary-_c",
]


@pytest.mark.parametrize("canary", CANARIES)
def test_secrets_and_addresses_in_free_text_are_masked(canary):
    for text in (
        canary,
        f"failed for {canary}.",
        f"({canary})",
        f"a={canary}&b=1",
        f'{{"k": "{canary}"}}',
        f"/a/{canary}/",
    ):
        assert "canary" not in redact_text(text)


def test_a_link_is_masked_as_the_parameter_of_another_address():
    for text in ("?next=%2Fconsole%2Fjoin%2Flnk_canary%2F&a=1", "?to=%2Fimages%2Flnk_a%3A1v%3acanary"):
        assert "canary" not in redact_text(text)
    assert redact_text("?next=%2Fjoin%2Flnk_canary%2F&a=1") == "?next=%2Fjoin%2Flnk_…%2F&a=1"


def test_masking_leaves_the_rest_readable():
    assert redact_text("risk-based task-force at 10:00") == "risk-based task-force at 10:00"
    assert redact_text("mail from ada@customer.test bounced") == "mail from a…@customer.test bounced"


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "api_key",
        "Authorization",
        "set-cookie",
        "webhook_secret",
        "access_token",
        "X-Signature",
        "ciphertext",
    ],
)
def test_values_with_telling_names_are_withheld(name):
    assert redact("canary", name=name) == "[redacted]"
    assert redact({"deep": [{name: "canary"}]}) == {"deep": [{name: "[redacted]"}]}


@pytest.mark.parametrize("name", ["body", "subject", "text", "html", "raw", "payload"])
@pytest.mark.parametrize("value", ["canary", b"canary", {"a": "canary"}, ["canary"]])
def test_contents_are_counted_not_shown(name, value):
    assert "canary" not in str(redact(value, name=name))


@dataclass
class Letter:
    sender: str


@pytest.mark.parametrize(
    "value",
    [
        b"canary",
        memoryview(b"canary"),
        {"canary@secret.test"},
        ("sk-canary",),
        ValueError("canary@secret.test"),
        Letter("canary@secret.test"),
    ],
)
def test_other_kinds_of_values_are_masked_as_their_text(value):
    assert "canary" not in str(redact(value, name="detail"))


def test_plain_facts_pass_unchanged():
    number = uuid4()
    assert redact({"id": number, "n": 5, "ok": True, "none": None}) == {"id": number, "n": 5, "ok": True, "none": None}


@pytest.fixture
def lines():
    """The handlers of production on a stream of our own."""
    stream = io.StringIO()
    made = configuration(level="INFO")
    made["handlers"]["stderr"]["stream"] = stream
    root, before = logging.getLogger(), list(logging.getLogger().handlers)
    logging.config.dictConfig(made)
    yield stream
    root.handlers[:] = before


def test_a_log_line_names_the_work_and_hides_the_rest(db, lines):
    house = uuid4()
    with context.acting_as(Actor("machine_key", "7"), request="request-0001"), in_workspace(house):
        try:
            raise ValueError("no route for canary@secret.test with whsec_canary")
        except ValueError:
            logging.getLogger("inbox").exception(
                "could not send to %s", "canary@secret.test", extra={"token": "canary", "body": "canary", "size": 7}
            )
    written = json.dumps(json.loads(lines.getvalue()), ensure_ascii=False)
    assert "canary" not in written
    for expected in (
        "request-0001",
        str(house),
        "machine_key",
        '"size": 7',
        "ValueError",
        "could not send to c…@secret.test",
    ):
        assert expected in written
