"""One mail, handed in two hundred times: one of everything, all the way to the customer (A1)."""

from concurrent.futures import ThreadPoolExecutor

import urllib3

from agents.models import AgentRun
from config.demo.amazon import Topic, receipt
from config.demo.sink import Sink
from inbox.models import Email, Entry, OutboundMessage, Thread
from inbox.services import ingesting, sending
from kernel.models import OutboxEvent
from kernel.transactions import in_workspace
from tests.agents.factories import drain, office, work
from tests.factories.world import mail
from tests.world.serving import serving
from webhooks.models import SystemEvent

ARN = "arn:aws:sns:eu-central-1:123456789012:inbound"


def test_one_mail_delivered_200_times_is_answered_once(db, settings, tmp_path, cases):
    acme = office(provider="local")
    topic = Topic(ARN, tmp_path / "sns.pem")
    message = receipt(
        mail(text="What are your opening hours on Saturday?"),
        ses_id="ses-1",
        recipients=["support@acme.test"],
        envelope_from="ada@customer.test",
    )
    body = topic.notification(message)
    with serving(threads=8, SNS_TOPIC_ARNS=ARN, SNS_CERTIFICATE_FILE=str(topic.certificate)) as url:
        pool = urllib3.PoolManager(maxsize=16)

        def post(_: int) -> int:
            return pool.request("POST", f"{url}/ingress/ses", body=body, retries=False).status

        with ThreadPoolExecutor(16) as threads:
            statuses = list(threads.map(post, range(200)))
    assert set(statuses) == {200}
    with Sink() as sink:
        settings.MAIL_SMTP_HOST, settings.MAIL_SMTP_PORT, settings.MAIL_SMTP_TLS = "127.0.0.1", sink.port, "none"
        ingesting.process_all()
        drain()
        work()
        while sending.send_due():
            drain()
        drain()
    assert len(sink.ledger.messages) == 1
    with in_workspace(acme.id):
        for model in (Email, Thread, AgentRun, OutboundMessage):
            assert model.objects.count() == 1, model
        assert Entry.objects.filter(direction="inbound").count() == 1
        for facts in (OutboxEvent, SystemEvent):
            assert facts.objects.filter(slug="email.received").count() == 1, facts
        assert Email.objects.get().state == "handled"
    cases("A1", len(statuses))
