"""Public mail with the results its authors expect, where the corpus lies beside the checkout.

Counted as agreeing although the reference says less: where it has U+FFFD (a byte it could not read) any
reading counts, and where it shows no text at all for a broken mail we may show some.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inbox.mime.parsing import parse
from inbox.mime.types import ParsedMail

CORPUS = Path(__file__).resolve().parents[4] / "shared" / "corpora" / "stalwart"
pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPUS.is_dir(), reason=f"public mail is not there: {CORPUS}"),
]
# What differs on purpose, and why.
KNOWN = {
    "sender": {"thirdparty/007": "`moderator` without a domain is no address to answer"},
    "text": {},
    "files": {
        "malformed/001": "an outer boundary ends the inner multipart (RFC 2046 §5.1.2)",
        "malformed/007": "a part whose header never ends",
        "malformed/012": "an outer boundary ends the inner multipart (RFC 2046 §5.1.2)",
        "malformed/017": "the file name of a disposition without a type is kept",
        "rfc/001": "the path is taken off the file name",
        "thirdparty/002": "a text part that is no base64 is shown, not attached",
        "thirdparty/015": "three attached messages stay three files",
    },
}


def values(part: dict[str, Any], name: str) -> list[Any]:
    return [field["value"] for field in part["headers"] if field["name"] == name]


def words(text: str | None) -> str:
    return " ".join((text or "").replace("\0", "").split())


def agrees(reference: str, ours: str) -> bool:
    if "\ufffd" not in reference:
        return reference == ours
    pattern = ".*?".join(re.escape(piece) for piece in re.split("\ufffd+", reference))
    return re.fullmatch(pattern, ours, re.DOTALL) is not None


def reference_sender(part: dict[str, Any]) -> str | None:
    for value in values(part, "from"):
        if isinstance(value, dict):
            found = value["Address"]
            listed = found.get("List") or [item for group in found.get("Group", []) for item in group["addresses"]]
            return listed[0]["address"] if listed else None
    return None


def reference_name(part: dict[str, Any]) -> str | None:
    for field, attribute in (("content_disposition", "filename"), ("content_type", "name")):
        for value in values(part, field):
            for pair in (value.get("ContentType", {}).get("attributes") or []) if isinstance(value, dict) else []:
                if pair["name"] == attribute:
                    return str(pair["value"])
    return None


def same_subject(expected: dict[str, Any], mail: ParsedMail) -> bool:
    found = [value.get("Text") for value in values(expected["parts"][0], "subject")]
    return agrees(words(found[0]) if found else "", words(mail.subject))


def same_sender(expected: dict[str, Any], mail: ParsedMail) -> bool:
    return reference_sender(expected["parts"][0]) == (mail.from_.address if mail.from_ else None)


def same_text(expected: dict[str, Any], mail: ParsedMail) -> bool:
    """The first body part; more may follow it, in ours as in theirs."""
    if not expected["text_body"]:
        return True
    body = expected["parts"][expected["text_body"][0]]["body"]
    kind = next(iter(body))
    reference = words(body[kind]) if kind in {"Text", "Html"} else ""
    ours = words(mail.html if kind == "Html" else mail.text)
    return agrees(reference, ours) or agrees(reference, ours[: len(reference)])


def same_files(expected: dict[str, Any], mail: ParsedMail) -> bool:
    reference = sorted((reference_name(expected["parts"][index]) or "") for index in expected["attachments"])
    ours = sorted(item.filename or "" for item in mail.attachments)
    return len(reference) == len(ours) and all(map(agrees, reference, ours))


CHECKS = {"subject": same_subject, "sender": same_sender, "text": same_text, "files": same_files}
FLOORS = {"subject": 107, "sender": 106, "text": 107, "files": 100}


def test_agreement_with_the_reference(cases: Callable[[str, int], None]) -> None:
    files = sorted(CORPUS.glob("*/*.json"))
    counts = dict.fromkeys(CHECKS, 0)
    missed: list[str] = []
    for file in files:
        expected = json.loads(file.read_text("utf-8"))
        mail = parse(file.with_suffix(".eml").read_bytes())
        key = f"{file.parent.name}/{file.stem}"
        assert mail.status == "parsed", key
        for name, check in CHECKS.items():
            if check(expected, mail):
                counts[name] += 1
            elif key not in KNOWN.get(name, {}):
                missed.append(f"{name} of {key}")
    assert len(files) == 107
    assert not missed
    assert all(counts[name] >= floor for name, floor in FLOORS.items()), counts
    for name, count in counts.items():
        cases(f"public mail, {name} as the reference, of {len(files)}: ", count)
