"""A topic of Amazon's that is ours, for tests of what SNS delivers."""

import boto3
import pytest

from config.demo.amazon import Topic
from inbox.channels import ses, sns
from tests.world.amazon import amazon
from tests.world.aws import CREDENTIALS, REGION, moto

ARN = "arn:aws:sns:eu-central-1:123456789012:inbound"


@pytest.fixture
def topic(tmp_path, settings):
    """Its certificate is read from a file, so that no test asks the network for it."""
    made = Topic(ARN, tmp_path / "sns.pem")
    settings.SNS_TOPIC_ARNS = [ARN]
    settings.SNS_CERTIFICATE_FILE = str(made.certificate)
    sns._load.cache_clear()
    return made


@pytest.fixture
def world(tmp_path, monkeypatch, topic, settings):
    """Amazon on the loopback, which serves the topic's certificate like any other."""
    settings.SNS_CERTIFICATE_FILE = ""
    sns._load.cache_clear()
    with amazon(tmp_path, monkeypatch) as server:
        server.otherwise = topic.certificate.read_bytes()
        yield server
    sns._load.cache_clear()


@pytest.fixture
def account(monkeypatch, settings):
    """Amazon's side, played by moto: mail really leaves by the SES client, and gets SES's ids."""
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    ses._client.cache_clear()
    with moto() as endpoint:
        settings.MAIL_TRANSPORT, settings.AWS_ENDPOINT_URL, settings.AWS_REGION = "ses", endpoint, REGION
        client = boto3.client("sesv2", region_name=REGION, endpoint_url=endpoint)
        for name in ("acme.test", "globex.test"):
            client.create_email_identity(EmailIdentity=name)
        yield endpoint
    ses._client.cache_clear()
