"""Other mail servers are told the name of the installation, not of the machine: that of a container is a number."""

import smtplib

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from config import ports
from inbox.channels import registry
from inbox.channels.line import our_name
from tests.inbox.test_listener import listening


class Names:
    """Takes mail, and remembers what its senders call themselves."""

    def __init__(self) -> None:
        self.said: list[str] = []

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        self.said.append(str(session.host_name))
        return "250 2.0.0 OK"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://inbox.example.com", "inbox.example.com"),
        ("https://Inbox.Example.com:8443/mail/", "inbox.example.com"),
        ("https://büro.example", "xn--bro-hoa.example"),
        ("http://127.0.0.1:8000", "[127.0.0.1]"),
        ("http://[::1]:8000", "[IPv6:::1]"),
    ],
)
def test_who_takes_our_mail_is_told_the_host_of_our_address(settings, url, name):
    names = Names()
    server = Controller(names, hostname="127.0.0.1", port=ports.choose(0))
    server.start()
    settings.PUBLIC_URL, settings.MAIL_TRANSPORT, settings.MAIL_SMTP_TLS = url, "smtp", "none"
    settings.MAIL_SMTP_HOST, settings.MAIL_SMTP_PORT = "127.0.0.1", server.port
    try:
        registry.transport().send(
            raw=b"Subject: x\r\n\r\nx\r\n", envelope_from="us@acme.test", envelope_to=["ada@customer.test"], tag="t"
        )
    finally:
        server.stop()
    assert names.said == [our_name()] == [name]


@pytest.mark.parametrize("options", [(), ("--lmtp",)])
def test_who_hands_mail_in_is_greeted_by_the_host_of_our_address(options):
    client = smtplib.LMTP if options else smtplib.SMTP
    with listening(*options, PUBLIC_URL="https://inbox.example.com") as (port, _), client() as session:
        _code, greeting = session.connect("127.0.0.1", port)
        assert greeting.split()[0] == b"inbox.example.com"
        _code, answer = session.ehlo()
        assert answer.splitlines()[0] == b"inbox.example.com"
