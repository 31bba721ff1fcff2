"""The samples that the product ships, and the command that shows them."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from django.conf import settings

if not settings.configured:  # run without the Django plug-in: the command needs no application at all
    settings.configure()

from inbox.management.commands.parse_mail import Command
from inbox.mime.classify import classify
from inbox.mime.parsing import parse

SAMPLES = Path(__file__).resolve().parents[3] / "samples" / "mail"
FILES = sorted(SAMPLES.glob("*.eml"))
ROW = re.compile(r"^\| `([\w.-]+\.eml)` \|[^|]+\| (\w+) \|", re.MULTILINE)
EXPECTED = dict(ROW.findall((SAMPLES / "README.md").read_text("utf-8")))
KEYS = {"file", "status", "subject", "from", "to", "cc", "date", "message_id", "in_reply_to", "references", "class", "text", "html",
        "reply_text", "attachments", "warnings"}  # fmt: skip


def run(*arguments: str) -> tuple[str, str, int]:
    out, err = io.StringIO(), io.StringIO()
    command = Command(stdout=out, stderr=err, no_color=True)
    parser = command.create_parser("manage.py", "parse_mail")
    options = vars(parser.parse_args(list(arguments)))
    try:
        command.execute(**options)
    except SystemExit as ended:
        return out.getvalue(), err.getvalue(), int(ended.code or 0)
    return out.getvalue(), err.getvalue(), 0


def test_the_readme_names_every_sample() -> None:
    assert len(FILES) >= 18
    assert set(EXPECTED) == {file.name for file in FILES}


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_sample(name: str) -> None:
    raw = (SAMPLES / name).read_bytes()
    mail = parse(raw)
    assert mail.mail_class == EXPECTED[name]
    assert mail.status == ("quarantined" if "bomb" in name else "parsed")
    assert mail.message_id
    assert mail.from_
    assert mail.date
    assert raw.count(b"\n") == raw.count(b"\r\n")
    assert len(raw) <= 200_000


def test_every_kind_of_mail_is_there() -> None:
    assert {"human", "auto_reply", "bounce", "list"} <= set(EXPECTED.values())
    own = parse((SAMPLES / "17-from-ourselves.eml").read_bytes())
    assert classify(own, own_addresses={"support@acme.test"}).kind == "self"


def test_the_thread_hangs_together() -> None:
    first, second = (parse((SAMPLES / name).read_bytes()) for name in ("09-thread-first.eml", "10-thread-second.eml"))
    assert second.in_reply_to == second.references == [first.message_id]


def test_json_has_one_line_a_file_and_all_keys() -> None:
    names = [
        str(SAMPLES / "01-refund-policy.eml"),
        str(SAMPLES / "12-attachments.eml"),
        str(SAMPLES / "01-refund-policy.eml"),
    ]
    out, err, code = run("--json", *names)
    rows = [json.loads(line) for line in out.splitlines()]
    assert (err, code) == ("", 0)
    assert [row["file"] for row in rows] == names
    assert all(row.keys() >= KEYS for row in rows)
    assert rows[0]["from"] == {"name": "Lena Hoffmann", "address": "lena.hoffmann@mailbox.example"}
    assert rows[0]["date"] == "2026-03-02T08:12:38+00:00"
    assert {"filename", "content_type", "size", "sha256", "inline"} <= rows[1]["attachments"][0].keys()
    assert rows[0] == rows[2]


def test_a_hostile_file_is_an_answer_and_a_missing_one_an_error() -> None:
    out, err, code = run(
        "--json", str(SAMPLES / "20-nested-bomb.eml"), "/no/such/file.eml", str(SAMPLES / "03-opening-hours.eml")
    )
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["status"] for row in rows] == ["quarantined", "parsed"]
    assert "/no/such/file.eml: No such file" in err
    assert code == 1


def test_body_mode(tmp_path: Path) -> None:
    file = tmp_path / "body.txt"
    file.write_text("Yes.\n\n> Shall we?\n")
    assert json.loads(run("--body", "--json", str(file))[0]) == {"file": str(file), "reply_text": "Yes."}
    assert run("--body", str(file))[0] == "Yes.\n"


def test_summary_for_people() -> None:
    out, _, _ = run(str(SAMPLES / "18-prompt-injection.eml"), str(SAMPLES / "12-attachments.eml"))
    assert "c.d@throwaway.example" in out
    assert "Bestellung 4711" in out


def test_a_strangers_markup_is_not_read_as_markup(tmp_path: Path) -> None:
    file = tmp_path / "markup.eml"
    file.write_bytes(b"Subject: [bold]x[/bold] [/]\r\n\r\n[red]text[/nothing]\r\n")
    out, err, code = run(str(file))
    assert "[bold]x[/bold] [/]" in out
    assert "[red]text[/nothing]" in out
    assert (err, code) == ("", 0)
