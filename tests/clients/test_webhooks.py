"""The client's verification of webhooks: what our own signer made is believed, and nothing else."""

import subprocess
import sys

import pytest
from autonomous_inbox import webhooks
from standardwebhooks.webhooks import Webhook

from kernel import clock
from tests.clients.signed import BODY, NOW, SECRET, deliveries, headers
from tests.world.serving import ROOT
from webhooks.transport import signing


@pytest.mark.parametrize("delivery", deliveries(), ids=lambda delivery: delivery.name)
def test_a_delivery_is_believed_or_not(delivery):
    offered = {name.title(): value for name, value in delivery.headers.items()}

    def verify() -> object:
        return webhooks.verify(delivery.body.encode(), offered, secrets=delivery.secrets, now=delivery.now)

    if delivery.is_good and delivery.body:
        assert verify()["data"]["n"] == 1
    elif delivery.is_good:
        with pytest.raises(ValueError, match="Expecting value"):
            verify()
    else:
        with pytest.raises((webhooks.InvalidSignature, ValueError)):
            verify()


def test_a_body_as_text_one_secret_and_another_tolerance():
    sent, secret = headers(SECRET), signing.secret_text(SECRET)
    assert webhooks.verify(BODY, sent, secrets=secret, now=NOW)["type"] == "email.received"
    assert webhooks.verify(BODY, sent, secrets=secret.removeprefix("whsec_"), now=NOW + 900, tolerance=1000)
    with pytest.raises(webhooks.InvalidSignature, match="too old"):
        webhooks.verify(BODY, sent, secrets=secret)  # by the real clock
    for wrong in ("", "whsec_", "whsec_not base64!"):
        with pytest.raises(ValueError, match="looks like whsec_"):
            webhooks.verify(BODY, sent, secrets=wrong, now=NOW)


def test_it_agrees_with_an_independent_signer():
    now = clock.now()
    secret = signing.secret_text(SECRET)
    signature = Webhook(secret).sign("msg-9", now, BODY)
    sent = {"webhook-id": "msg-9", "webhook-timestamp": str(int(now.timestamp())), "webhook-signature": signature}
    assert webhooks.verify(BODY, sent, secrets=secret)["type"] == "email.received"


def test_verification_needs_no_other_package():
    program = (
        "import sys; sys.modules['httpx2'] = None; from autonomous_inbox import webhooks, InboxError\n"
        "assert not {name for name in sys.modules if name.startswith('httpx') and sys.modules[name]}\n"
        "import autonomous_inbox\n"
        "try: autonomous_inbox.Client\n"
        "except ImportError: print('fine')"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(ROOT / 'clients/python/src')!r})\n{program}"],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.stdout == "fine\n", done.stderr
