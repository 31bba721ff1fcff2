"""Hand the sample mails in as the world would: half by SMTP, half as signed SNS notifications."""

import re
import smtplib
from dataclasses import dataclass
from email.utils import parseaddr
from pathlib import Path
from uuid import uuid4

import urllib3

from config.demo.amazon import Topic, receipt
from inbox.mime.parsing import parse
from inbox.services import accepting

_REFERENCE_LINES = re.compile(rb"(?im)^(message-id|in-reply-to|references):[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*")
_OURS = (".test",)


@dataclass(frozen=True)
class Sample:
    """One delivery: a file, the way it came, and the provider id by which it is found again."""

    file: str
    way: str
    provider_id: str
    raw: bytes
    recipients: list[str]
    is_repeat: bool = False


def samples(folder: Path, *, run: str) -> list[Sample]:
    """The deliveries of a run. Message-IDs get the run's mark, so that a second run is new mail; the first plain one
    and the first signed one are handed in twice, as after a lost acknowledgement."""
    found: list[Sample] = []
    for index, path in enumerate(sorted(folder.glob("*.eml"))):
        raw = _marked(path.read_bytes(), run)
        if not raw.endswith(b"\r\n"):
            raw += b"\r\n"  # what SMTP does to a message without a last line end
        mail = parse(raw)
        named = [a.address for a in (*mail.to, *mail.cc) if a.address.lower().endswith(_OURS)]
        recipients = list(dict.fromkeys(named)) or ["support@acme.test"]
        if index % 2:
            found.append(Sample(path.name, "SNS", f"demo-{run}-{uuid4().hex}", raw, recipients))
        else:
            found.append(Sample(path.name, "SMTP", accepting.content_id(raw), raw, recipients))
    repeats = [next(s for s in found if s.way == way) for way in ("SMTP", "SNS")]
    return [*found, *(Sample(s.file, s.way, s.provider_id, s.raw, s.recipients, is_repeat=True) for s in repeats)]


def _marked(raw: bytes, run: str) -> bytes:
    """The mark goes into every cited id alike, so threads stay threads."""
    head, gap, body = raw.partition(b"\r\n\r\n")
    mark = f".{run}@".encode()
    return _REFERENCE_LINES.sub(lambda line: line[0].replace(b"@", mark), head) + gap + body


def by_smtp(sample: Sample, *, port: int) -> None:
    """One session for each mail, as strangers' servers do."""
    with smtplib.SMTP("127.0.0.1", port, timeout=30) as client:
        client.sendmail(_sender(sample.raw), sample.recipients, sample.raw)


def by_sns(sample: Sample, *, topic: Topic, url: str, version: str) -> None:
    """A signed notification to the running web server."""
    message = receipt(
        sample.raw, ses_id=sample.provider_id, recipients=sample.recipients, envelope_from=_sender(sample.raw)
    )
    body = topic.notification(message, version=version)
    answer = urllib3.request("POST", url, body=body, headers={"x-amz-sns-topic-arn": topic.arn}, timeout=30)
    if answer.status != 200:
        raise RuntimeError(f"The ingress answered {answer.status}: {answer.data[:300]!r}")


def _sender(raw: bytes) -> str:
    """The envelope sender that the sample's Return-Path names; empty for the null path."""
    match = re.search(rb"(?im)^return-path:\s*(<[^>]*>)", raw.partition(b"\r\n\r\n")[0])
    if match is not None:
        return match[1].decode("ascii", "replace").strip("<>")
    mail = parse(raw)
    return parseaddr(mail.from_.address)[1] if mail.from_ else ""
