"""Row 3: CPU of our parser beside the standard library's, reading the same fields of the same mails."""

import time
from collections.abc import Callable, Sequence
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from hashlib import sha256
from itertools import chain
from statistics import median
from typing import Any

from inbox.mime.parsing import parse
from tests.bench.mails import KINDS, Kind, Writer
from tests.bench.report import Figure, Run, against

COUNTS: dict[Kind, tuple[int, int]] = {"text": (60, 300), "alternative": (40, 150), "inline": (10, 40), "pdf": (3, 10)}


def by_library(raw: bytes) -> dict[str, Any]:
    """The fields as `email.policy.default` reads them."""
    mail: EmailMessage = BytesParser(policy=policy.default).parsebytes(raw)
    plain, html = mail.get_body(("plain",)), mail.get_body(("html",))
    bodies = {id(plain), id(html)}
    files = [part for part in mail.walk() if not part.is_multipart() and id(part) not in bodies]
    return {
        "subject": str(mail["subject"]),
        "from": [(a.display_name, a.addr_spec) for a in mail["from"].addresses],
        "to": [(a.display_name, a.addr_spec) for a in mail["to"].addresses],
        "date": mail["date"].datetime,
        "message_id": str(mail["message-id"]).strip("<>"),
        "references": [item.strip("<>") for item in str(mail["references"] or "").split()],
        "text": plain.get_content() if plain else "",
        "html": html.get_content() if html else "",
        "files": [_file(part) for part in files],
        "headers": [(name.lower(), str(value)) for name, value in mail.items()],
    }


def _file(part: Any) -> tuple[str | None, str, int, str]:
    content = part.get_content()
    data: bytes = content.encode() if isinstance(content, str) else content
    return part.get_filename(), part.get_content_type(), len(data), sha256(data).hexdigest()


def by_us(raw: bytes) -> dict[str, Any]:
    """The same fields as ours reads them (it does more: class, reply text, sniffing, limits)."""
    mail = parse(raw)
    return {
        "subject": mail.subject,
        "from": [(mail.from_.name, mail.from_.address)] if mail.from_ else [],
        "to": [(a.name, a.address) for a in mail.to],
        "date": mail.date,
        "message_id": mail.message_id,
        "references": mail.references,
        "text": mail.text,
        "html": mail.html,
        "files": [(f.filename, f.content_type, f.size, f.sha256) for f in mail.attachments],
        "headers": mail.headers,
    }


def differences(raws: Sequence[bytes]) -> dict[str, int]:
    """How often each field differs, line ends and outer white space apart (`headers` are read but not compared)."""
    found: dict[str, int] = {}
    for raw in raws:
        ours, theirs = by_us(raw), by_library(raw)
        for name in ours.keys() - {"headers"}:
            if _plain(ours[name]) != _plain(theirs[name]):
                found[name] = found.get(name, 0) + 1
    return found


def _plain(value: Any) -> Any:
    return "\n".join(line.rstrip() for line in value.strip().splitlines()) if isinstance(value, str) else value


def _cpu(read: Callable[[bytes], Any], raws: Sequence[bytes]) -> float:
    """Microseconds of CPU for each mail."""
    began = time.process_time()
    for raw in raws:
        read(raw)
    return (time.process_time() - began) / len(raws) * 1e6


def measure(run: Run) -> list[Figure]:
    writer = Writer(["support@house.test"])
    writer.openers()
    figures, all_raws = [], []
    for kind in KINDS:
        raws = [mail.raw for mail in writer.batch(run.size(*COUNTS[kind]), kind)]
        all_raws.append(raws)
        run.say(f"row 3, {kind}")
        for read in (by_us, by_library):
            _cpu(read, raws[:2])
        ours, theirs = [], []
        for _ in range(run.rounds):
            ours.append(_cpu(by_us, raws))
            theirs.append(_cpu(by_library, raws))
        speed = against(Figure("3", f"MIME parse CPU, {kind}", "µs", 0, "email.policy.default"), ours, theirs)
        ratio = median(theirs) / median(ours)
        figures.append(
            Figure(
                "3", speed.what, "µs", speed.ours, speed.against, speed.theirs, ratio, 3.0, 15.0, samples=speed.samples
            )
        )
    raws = list(chain(*all_raws))
    found = differences(raws)
    note = ", ".join(f"{name}: {count}" for name, count in sorted(found.items())) or "all fields equal"
    total = float(sum(found.values()))
    figures.append(
        Figure(
            "3", f"fields read otherwise, {len(raws)} mails", "", total, "", 0.0, total, 0.0, at_most=True, note=note
        )
    )
    return figures
