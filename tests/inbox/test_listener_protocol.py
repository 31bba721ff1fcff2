"""The mail listener by the letter of SMTP (RFC 5321) and LMTP (RFC 2033), spoken over a plain socket."""

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import pytest

from inbox.models import Email, Entry, InboundMessage
from inbox.services import inboxes, ingesting
from kernel.transactions import in_all_workspaces, in_workspace
from tests.factories.world import house, mail
from tests.inbox.test_listener import listening

pytestmark = pytest.mark.xdist_group("listener")

MAX_BYTES = 300_000


class Talk:
    """A conversation in which each answer is read by itself."""

    def __init__(self, link: socket.socket, lines: BinaryIO) -> None:
        self._link, self._lines = link, lines

    def answer(self) -> int:
        while (line := self._lines.readline())[3:4] == b"-":
            pass
        assert line, "the listener hung up"
        return int(line[:3])

    def says(self, line: str) -> int:
        self._link.sendall(line.encode() + b"\r\n")
        return self.answer()

    def sends(self, content: bytes) -> None:
        """A mail's content with its end, as a client writes it."""
        stuffed = re.sub(rb"(?m)^\.", b"..", content)
        self._link.sendall(stuffed + (b"" if stuffed.endswith(b"\r\n") else b"\r\n") + b".\r\n")

    def begins(self, *recipients: str) -> list[int]:
        """As far as DATA; the answers for the recipients."""
        assert self.says("MAIL FROM:<ada@customer.test>") == 250
        answers = [self.says(f"RCPT TO:<{recipient}>") for recipient in recipients]
        assert self.says("DATA") == (354 if 250 in answers else 503)
        return answers

    def is_at_rest(self) -> bool:
        """Whether the next answer is that of the next command: nothing is owed, and nothing came too much."""
        return self.says("NOOP") == 250 and self.says("RSET") == 250


@contextmanager
def connected(port: int) -> Iterator[Talk]:
    with socket.create_connection(("127.0.0.1", port), timeout=20) as link, link.makefile("rb") as lines:
        talk = Talk(link, lines)
        assert talk.answer() == 220
        yield talk


@contextmanager
def talking(port: int, greeting: str) -> Iterator[Talk]:
    with connected(port) as talk:
        assert talk.says(f"{greeting} client.test") == 250
        yield talk


@pytest.fixture(scope="module", params=["LHLO", "EHLO"])
def door(request, django_db_setup) -> Iterator[tuple[int, str]]:
    options = ["--lmtp"] if request.param == "LHLO" else []
    with listening(*options, MAIL_MAX_BYTES=str(MAX_BYTES)) as (port, _):
        yield port, request.param


def three():
    acme = house()
    for name in ("sales", "billing"):
        inboxes.open_inbox(workspace_id=acme.id, address=f"{name}@acme.test")
    return acme


def raws() -> list[bytes]:
    with in_all_workspaces("looking in a test"):
        return [bytes(raw) for raw in InboundMessage.objects.order_by("received_at").values_list("raw", flat=True)]


RECIPIENTS = {
    "one": ["support@acme.test"],
    "two": ["support@acme.test", "sales@acme.test"],
    "three": ["support@acme.test", "sales@acme.test", "billing@acme.test"],
    "one of them twice": ["support@acme.test", "support@acme.test", "sales@acme.test"],
    "one that nobody has": ["support@acme.test", "nobody@acme.test", "sales@acme.test"],
    "of two workspaces": ["support@acme.test", "support@globex.test"],
}


@pytest.mark.parametrize("recipients", RECIPIENTS.values(), ids=RECIPIENTS)
def test_lmtp_answers_for_each_recipient_that_it_took_and_smtp_once(db, door, recipients):
    port, greeting = door
    three(), house("globex")
    with talking(port, greeting) as talk:
        for _ in range(2):
            answers = talk.begins(*recipients)
            talk.sends(mail())
            owed = answers.count(250) if greeting == "LHLO" else 1
            assert [talk.answer() for _ in range(owed)] == [250] * owed
            assert talk.is_at_rest()
    expected = len({one for one, code in zip(recipients, answers, strict=True) if code == 250})
    with in_all_workspaces("counting in a test"):
        assert Email.objects.count() == 2 * expected


def test_a_refusal_after_data_is_said_for_each_recipient_too(db, door):
    port, greeting = door
    three()
    with talking(port, greeting) as talk:
        owed = 3 if greeting == "LHLO" else 1
        talk.begins(*RECIPIENTS["three"])
        talk.sends(mail(text="word " * 100_000))
        assert [talk.answer() for _ in range(owed)] == [552] * owed
        assert talk.is_at_rest()
        talk.begins(*RECIPIENTS["three"])
        talk.sends(mail())
        assert [talk.answer() for _ in range(owed)] == [250] * owed
        assert talk.is_at_rest()
        assert talk.begins("nobody@acme.test") == [550]
        assert talk.is_at_rest()
    assert len(raws()) == 1


def test_a_failure_to_store_is_said_for_each_recipient(db):
    three()
    with listening("--lmtp", CRASH_AT="accept.committed:raise") as (port, _), talking(port, "LHLO") as talk:
        talk.begins(*RECIPIENTS["three"])
        talk.sends(mail())
        assert [talk.answer() for _ in range(3)] == [451] * 3
        assert talk.is_at_rest()


def _head() -> bytes:
    return mail().partition(b"\r\n\r\n")[0] + b"\r\n"


def _with_line(length: int) -> dict[str, bytes]:
    """Mails with one line of that length, wherever a line may be."""
    return {
        "text": _head() + b"\r\n" + b"x" * length + b"\r\nafter\r\n",
        "dots": _head() + b"\r\n" + b"." * length + b"\r\n.\r\n..\r\nafter\r\n",
        "html": _head().replace(b"text/plain", b"text/html") + b"\r\n<p>" + b"x" * (length - 3) + b"\r\n",
        "header": b"X-Long: " + b"y" * (length - 8) + b"\r\n" + _head() + b"\r\nafter\r\n",
        "bare returns": _head() + b"\r\n" + b"x\r" * (length // 2) + b"\r\nafter\r\n",
        "bare feeds": _head() + b"\r\n" + b"x\n" * (length // 2) + b"\r\nafter\r\n",
    }


@pytest.mark.parametrize("length", [997, 998, 999, 1000, 1001, 1002, 1003, 2001, 2003, 65_535, 65_537, 250_000])
def test_a_line_of_any_length_arrives_byte_for_byte(db, door, length):
    port, greeting = door
    acme = house()
    sent = list(_with_line(length).values())
    with talking(port, greeting) as talk:
        for raw in sent:
            talk.begins("support@acme.test")
            # Lines end with CR LF only; a bare LF begins none, so nothing is stuffed after it.
            talk._link.sendall(re.sub(rb"(^|\r\n)\.", rb"\1..", raw) + b".\r\n")
            assert talk.answer() == 250
            assert talk.is_at_rest()
    assert raws() == sent
    ingesting.process_all()
    with in_workspace(acme.id):
        assert Entry.objects.count() == len(sent)


def test_the_whole_mail_has_its_limit_whatever_its_lines(db, door):
    """To the byte; what is too large is read to its end, and what follows in the session is as ever."""
    port, greeting = door
    house()
    head = _head() + b"\r\n"
    room = MAX_BYTES - len(head) - 2
    shapes = {
        "one line": lambda n: b"x" * n,
        "many lines": lambda n: (b"x" * 70 + b"\r\n") * (n // 72) + b"y" * (n % 72),
        "dots": lambda n: b"." * n,
    }
    with talking(port, greeting) as talk:
        for shape in shapes.values():
            for size, code in ((room, 250), (room + 1, 552), (MAX_BYTES * 20, 552), (10, 250)):
                talk.begins("support@acme.test")
                talk.sends(head + shape(size))
                assert talk.answer() == code
                assert talk.is_at_rest()
    assert len(raws()) == 2 * len(shapes)


@pytest.mark.parametrize("length", [511, 520, 1_000, 1_002, 5_000, 2_000_000])
def test_a_command_stays_short_whatever_a_mail_may_be(db, door, length):
    """RFC 5321 4.5.3.1.4: 512 octets with CR LF. After a mail, too, whose lines were long."""
    port, greeting = door
    house()
    with talking(port, greeting) as talk:
        for _ in range(2):
            assert talk.says("NOOP " + "x" * (length - 5)) == (250 if length <= 512 else 500)
            assert talk.is_at_rest()
            talk.begins("support@acme.test")
            talk.sends(_with_line(50_000)["text"])
            assert talk.answer() == 250


@pytest.mark.parametrize("end", [b"\n.\n", b"\n.\r\n", b"\r\n.\n", b"\r.\r", b"\r\n.\r", b"\r\n.\r\r\n", b"\r\n..\r\n"])
def test_nothing_but_a_dot_between_two_line_ends_ends_a_mail(db, door, end):
    """Else a mail could carry another one past whoever reads ends otherwise (SMTP smuggling)."""
    port, greeting = door
    house()
    with talking(port, greeting) as talk:
        talk.begins("support@acme.test")
        talk._link.sendall(mail() + b"inside" + end + b"MAIL FROM:<x@evil.test>\r\n.\r\n")
        assert talk.answer() == 250
        assert talk.is_at_rest()
    (raw,) = raws()
    assert raw.endswith(b"MAIL FROM:<x@evil.test>\r\n")


def test_data_needs_a_greeting_and_a_recipient_and_takes_no_argument(db, door):
    port, greeting = door
    house()
    with connected(port) as talk:
        assert talk.says("DATA") == 503
        assert talk.says(f"{greeting} client.test") == 250
        assert talk.says("DATA") == 503
        assert talk.says("MAIL FROM:<>") == 250
        assert talk.says("RCPT TO:<support@acme.test>") == 250
        assert talk.says("DATA now") == 501
        assert talk.says("DATA") == 354
        talk.sends(mail())
        assert talk.answer() == 250
        assert talk.says("DATA") == 503
    assert len(raws()) == 1
