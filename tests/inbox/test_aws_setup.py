"""`manage.py aws_setup` over HTTP: the first run makes everything, the second nothing, a dry one never anything.

moto plays AWS, but for two things that it does not know: the event destinations of a configuration set in SES's second
API, and a topic's signature version when it is read. The server in front of moto answers for these; it passes everything
else on, and keeps what was asked.
"""

import io
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import boto3
import pytest
import urllib3
from django.core.management import CommandError, call_command

from tests.world.aws import CREDENTIALS, REGION, moto

DESTINATIONS = "/event-destinations"
DOMAIN, BUCKET, TOPIC = "acme.test", "acme-mail", "acme-inbound"
ARN = f"arn:aws:sns:{REGION}:123456789012:{TOPIC}"
INGRESS = "https://inbox.acme.test/ingress/ses"


class Front(ThreadingHTTPServer):
    """In front of moto: `asked` holds method, path and body of each request."""

    daemon_threads = True

    def __init__(self, behind: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behind = behind
        self.pool = urllib3.PoolManager()
        self.asked: list[tuple[str, str, bytes]] = []
        self.destinations: dict[str, dict] = {}
        self.signature_version = "1"
        self.refuse = ""

    def events(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        name = path.partition(DESTINATIONS)[2].strip("/")
        if method == "GET":
            rows = [{"Name": key, **value} for key, value in self.destinations.items()]
            return 200, json.dumps({"EventDestinations": rows}).encode()
        content = json.loads(body)
        self.destinations[name or content["EventDestinationName"]] = content["EventDestination"]
        return 200, b"{}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Front

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append((self.command, self.path, body))
        headers: dict[str, str] = {}
        if self.server.refuse and self.server.refuse in f"{self.path} {body.decode(errors='replace')}":
            error = b"<Error><Code>AccessDenied</Code><Message>not you</Message></Error>"
            status, data = 403, b"<ErrorResponse>" + error + b"</ErrorResponse>"
        elif DESTINATIONS in self.path:
            status, data = self.server.events(self.command, urlsplit(self.path).path, body)
        else:
            given = {k: v for k, v in self.headers.items() if k.lower() not in ("content-length", "connection")}
            url = self.server.behind + self.path
            answer = self.server.pool.request(self.command, url, body=body, headers=given, redirect=False)
            skipped = ("content-length", "connection", "transfer-encoding", "date", "server")
            headers = {k: v for k, v in answer.headers.items() if k.lower() not in skipped}
            status, data = answer.status, self._signed(body.decode(errors="replace"), answer.data)
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _signed(self, asked: str, answer: bytes) -> bytes:
        if "Action=SetTopicAttributes" in asked and "AttributeName=SignatureVersion" in asked:
            self.server.signature_version = asked.partition("AttributeValue=")[2][0]
        version = self.server.signature_version.encode()
        entry = b"<entry><key>SignatureVersion</key><value>" + version + b"</value></entry></Attributes>"
        return answer.replace(b"</Attributes>", entry, 1) if "Action=GetTopicAttributes" in asked else answer

    def __getattr__(self, name: str):
        if name.startswith("do_"):
            return self._serve
        raise AttributeError(name)

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def _front(behind: str) -> Iterator[Front]:
    server = Front(behind)
    threading.Thread(target=server.serve_forever, args=[0.05], daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        server.pool.clear()


@pytest.fixture
def front(monkeypatch, settings):
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    with moto() as behind, _front(behind) as server:
        settings.AWS_ENDPOINT_URL = f"http://127.0.0.1:{server.server_address[1]}"
        settings.PUBLIC_URL = "https://inbox.acme.test"
        yield server


def run(*options: str, as_json: bool = True):
    out = io.StringIO()
    names = ["--domain", DOMAIN, "--region", REGION, "--bucket", BUCKET, "--topic", TOPIC]
    call_command("aws_setup", *names, *options, *(["--json"] if as_json else []), stdout=out)
    return json.loads(out.getvalue()) if as_json else out.getvalue()


def client(front: Front, service: str):
    return boto3.client(service, region_name=REGION, endpoint_url=front.behind)


READS = ("Get", "List", "Describe")


def writes(front: Front) -> list[str]:
    """The requests that change something: by the action in the body, or the method."""
    found = []
    for method, path, body in front.asked:
        text = body.decode(errors="replace")
        action = next((part[7:] for part in text.split("&") if part.startswith("Action=")), "")
        is_read = action.startswith(READS) if action else method in ("GET", "HEAD")
        if not is_read:
            found.append(f"{method} {path} {action}".strip())
    return found


def test_the_first_run_makes_everything_and_the_second_nothing(front):
    dry = run("--dry-run")
    assert (dry["dry_run"], writes(front)) == (True, [])
    assert {step["action"] for step in dry["steps"]} == {"create"}
    assert client(front, "s3").list_buckets()["Buckets"] == []
    assert client(front, "sns").list_topics()["Topics"] == []

    first = run()
    assert [step["step"] for step in first["steps"]] == [step["step"] for step in dry["steps"]]
    assert first["changed"] >= 13
    front.asked.clear()
    second = run()
    assert ([step for step in second["steps"] if step["action"] != "none"], writes(front)) == ([], [])
    assert second["environment"] == {
        "AWS_REGION": REGION,
        "MAIL_TRANSPORT": "ses",
        "SES_BUCKETS": BUCKET,
        "SES_CONFIGURATION_SET": "autonomous-inbox",
        "SNS_TOPIC_ARNS": ARN,
    }


def test_what_is_made_is_what_is_needed(front):
    result = run()
    s3, sns, ses = client(front, "s3"), client(front, "sns"), client(front, "ses")
    assert all(s3.get_public_access_block(Bucket=BUCKET)["PublicAccessBlockConfiguration"].values())
    encryption = s3.get_bucket_encryption(Bucket=BUCKET)["ServerSideEncryptionConfiguration"]["Rules"][0]
    assert encryption["ApplyServerSideEncryptionByDefault"]["SSEAlgorithm"] == "AES256"
    rule = s3.get_bucket_lifecycle_configuration(Bucket=BUCKET)["Rules"][0]
    assert (rule["Filter"], rule["Expiration"], rule["Status"]) == ({"Prefix": "mail/"}, {"Days": 30}, "Enabled")
    (allowed,) = json.loads(s3.get_bucket_policy(Bucket=BUCKET)["Policy"])["Statement"]
    assert (allowed["Principal"], allowed["Action"], allowed["Resource"]) == (
        {"Service": "ses.amazonaws.com"}, "s3:PutObject", f"arn:aws:s3:::{BUCKET}/mail/*",
    )  # fmt: skip
    assert allowed["Condition"]["StringEquals"] == {
        "AWS:SourceAccount": "123456789012",
        "AWS:SourceArn": f"arn:aws:ses:{REGION}:123456789012:receipt-rule-set/autonomous-inbox"
        ":receipt-rule/autonomous-inbox-acme-test",
    }
    topic = sns.get_topic_attributes(TopicArn=ARN)["Attributes"]
    assert front.signature_version == "2"
    publish = [
        row for row in json.loads(topic["Policy"])["Statement"] if row.get("Sid") == "AutonomousInboxPublishFromSes"
    ]
    assert publish[0]["Condition"] == {"StringEquals": {"AWS:SourceAccount": "123456789012"}}
    (subscription,) = sns.list_subscriptions_by_topic(TopicArn=ARN)["Subscriptions"]
    assert (subscription["Protocol"], subscription["Endpoint"]) == ("https", INGRESS)
    active = ses.describe_active_receipt_rule_set()
    assert active["Metadata"]["Name"] == "autonomous-inbox"
    (rule,) = active["Rules"]
    assert (rule["Recipients"], rule["Enabled"], rule["ScanEnabled"]) == ([DOMAIN], True, True)
    assert rule["Actions"] == [{"S3Action": {"TopicArn": ARN, "BucketName": BUCKET, "ObjectKeyPrefix": "mail/"}}]
    # What moto does not know: the request itself.
    (made,) = [json.loads(body) for method, path, body in front.asked if DESTINATIONS in path and method == "POST"]
    assert made == {
        "EventDestinationName": "autonomous-inbox",
        "EventDestination": {
            "Enabled": True,
            "MatchingEventTypes": [
                "BOUNCE", "COMPLAINT", "DELIVERY", "DELIVERY_DELAY", "REJECT", "RENDERING_FAILURE", "SEND",
            ],
            "SnsDestination": {"TopicArn": ARN},
        },
    }  # fmt: skip
    records = {(row["type"], row["value"]) for row in result["dns"]}
    assert ("MX", f"10 inbound-smtp.{REGION}.amazonaws.com") in records
    tokens = client(front, "sesv2").get_email_identity(EmailIdentity=DOMAIN)["DkimAttributes"].get("Tokens") or []
    assert {row["value"] for row in result["dns"] if row["type"] == "CNAME"} == {
        f"{t}.dkim.amazonses.com" for t in tokens
    }


def test_what_others_made_stays(front):
    s3, sns, ses = client(front, "s3"), client(front, "sns"), client(front, "ses")
    s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
    s3.put_bucket_encryption(
        Bucket=BUCKET,
        ServerSideEncryptionConfiguration={
            "Rules": [{"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": "k"}}]
        },
    )
    backup = {"Sid": "Backup", "Effect": "Allow", "Principal": {"AWS": "123456789012"}, "Action": "s3:GetObject",
              "Resource": f"arn:aws:s3:::{BUCKET}/*"}  # fmt: skip
    s3.put_bucket_policy(Bucket=BUCKET, Policy=json.dumps({"Version": "2012-10-17", "Statement": [backup]}))
    old = {"ID": "old", "Status": "Enabled", "Filter": {"Prefix": "logs/"}, "Expiration": {"Days": 5}}
    s3.put_bucket_lifecycle_configuration(Bucket=BUCKET, LifecycleConfiguration={"Rules": [old]})
    sns.create_topic(Name=TOPIC)
    sns.subscribe(TopicArn=ARN, Protocol="https", Endpoint="https://other.test/hook")
    ses.create_receipt_rule_set(RuleSetName="theirs")
    ses.create_receipt_rule(RuleSetName="theirs", Rule={"Name": "theirs", "Actions": [], "Recipients": ["other.test"]})
    ses.set_active_receipt_rule_set(RuleSetName="theirs")
    front.destinations["autonomous-inbox"] = {"Enabled": False, "MatchingEventTypes": ["SEND"]}
    run()
    statements = json.loads(s3.get_bucket_policy(Bucket=BUCKET)["Policy"])["Statement"]
    assert [row["Sid"] for row in statements] == ["Backup", "AutonomousInboxMailFromSes"]
    assert {row["ID"] for row in s3.get_bucket_lifecycle_configuration(Bucket=BUCKET)["Rules"]} == {
        "old",
        "autonomous-inbox-mail",
    }
    rules = s3.get_bucket_encryption(Bucket=BUCKET)["ServerSideEncryptionConfiguration"]["Rules"]
    assert rules[0]["ApplyServerSideEncryptionByDefault"]["SSEAlgorithm"] == "aws:kms"
    policy = json.loads(sns.get_topic_attributes(TopicArn=ARN)["Attributes"]["Policy"])
    assert len(policy["Statement"]) == 2
    assert len(sns.list_subscriptions_by_topic(TopicArn=ARN)["Subscriptions"]) == 2
    # Their rule set is the one in use, and our rule is in it: switching sets would have stopped their mail.
    active = ses.describe_active_receipt_rule_set()
    assert active["Metadata"]["Name"] == "theirs"
    assert {rule["Name"] for rule in active["Rules"]} == {"theirs", "autonomous-inbox-acme-test"}
    assert front.destinations["autonomous-inbox"]["Enabled"] is True
    assert {(m, p.partition(DESTINATIONS)[2]) for m, p, _ in front.asked if DESTINATIONS in p} == {
        ("GET", ""),
        ("PUT", "/autonomous-inbox"),
    }
    assert run()["changed"] == 0


def test_a_difference_is_shown_and_mended(front):
    run()
    ses = client(front, "ses")
    rule = ses.describe_receipt_rule(RuleSetName="autonomous-inbox", RuleName="autonomous-inbox-acme-test")["Rule"]
    ses.update_receipt_rule(RuleSetName="autonomous-inbox", Rule={**rule, "Enabled": False, "TlsPolicy": "Require"})
    front.signature_version = "1"
    front.asked.clear()
    text = run("--dry-run", as_json=False)
    assert "- Enabled: false" in text
    assert "+ SignatureVersion: 2" in text
    assert "2 of" in text
    assert writes(front) == []
    assert run()["changed"] == 2
    assert "Nothing to change" in run(as_json=False)
    mended = ses.describe_receipt_rule(RuleSetName="autonomous-inbox", RuleName="autonomous-inbox-acme-test")["Rule"]
    # What we have no opinion on is theirs.
    assert (mended["Enabled"], mended["TlsPolicy"]) == (True, "Require")


def test_a_refusal_says_where_it_stopped_and_the_next_run_goes_on(front):
    front.refuse = "CreateReceiptRuleSet"
    with pytest.raises(CommandError, match=r"AWS refused after 12 steps.*not you.*Done before it: bucket acme-mail"):
        run()
    front.refuse = ""
    result = run()
    assert {step["action"] for step in result["steps"][:12]} == {"none"}
    assert run()["changed"] == 0


@pytest.mark.parametrize(
    "options",
    [
        ["--domain", "acme"], ["--domain", "acme.test/x"], ["--region", "here"], ["--bucket", "A"], ["--topic", "a b"],
        ["--ingress", "nowhere"], ["--keep-days", "0"], ["--prefix", "a b"],
    ],
)  # fmt: skip
def test_bad_names_are_refused_before_anything_is_asked(front, options):
    with pytest.raises(CommandError):
        run(*options)
    assert front.asked == []
