"""manage.py parse_mail FILE... : what the parser makes of a mail. Touches no database."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import msgspec
from django.core.management.base import BaseCommand
from rich.console import Console
from rich.table import Table
from rich.text import Text

from inbox.mime.child import ParserChild, ParserCrashed
from inbox.mime.rendering import quarantined, render
from inbox.mime.types import ParsedMail

_PREVIEW = 2_000


class Command(BaseCommand):
    """Exit status 1 when a file could not be read; a hostile mail is an answer (`quarantined`), not an error."""

    help = "Parse mail files in the same bounded child process that ingest uses, and print what was found."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", metavar="FILE", help="a message as it came (.eml)")
        parser.add_argument("--json", action="store_true", help="one JSON object a line, in the order of the files")
        parser.add_argument(
            "--body", action="store_true", help="each file is a plain-text body: print its new text only"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        child = ParserChild()
        failed = False
        try:
            for file in options["files"]:
                try:
                    data = Path(file).read_bytes()
                except OSError as error:
                    self.stderr.write(f"{file}: {error.strerror or error}")
                    failed = True
                    continue
                show = self._show_body if options["body"] else self._show_mail
                show(child, file, data, options["json"])
        finally:
            child.close()
        if failed:
            raise SystemExit(1)

    def _show_body(self, child: ParserChild, file: str, data: bytes, as_json: bool) -> None:
        try:
            text = child.reply_text(data)
        except ParserCrashed:
            text = data.decode("utf-8", "replace")
        self._write(_json({"file": file, "reply_text": text}) if as_json else text)

    def _show_mail(self, child: ParserChild, file: str, data: bytes, as_json: bool) -> None:
        try:
            mail = child.parse(data)
        except ParserCrashed as crash:
            mail = quarantined(f"parser stopped: {crash}", len(data))
        if as_json:
            self._write(_json(render(mail, file)))
        else:
            self._summary(mail, file)

    def _write(self, text: str) -> None:
        self.stdout.write(text)

    def _summary(self, mail: ParsedMail, file: str) -> None:
        """Text() everywhere: what a stranger wrote is never read as console markup."""
        console = Console(file=self.stdout, highlight=False)  # type: ignore[arg-type]
        table = Table(title=Text(file), show_header=False, title_justify="left", expand=False)
        table.add_column(style="bold")
        table.add_column(overflow="fold")
        for label, value in _rows(mail):
            table.add_row(label, Text(value))
        console.print(table)
        console.print(Text(mail.reply_text[:_PREVIEW] or "(no text)"))
        console.print()


def _rows(mail: ParsedMail) -> list[tuple[str, str]]:
    origin = f"{mail.from_.name} <{mail.from_.address}>".strip() if mail.from_ else "unknown sender"
    rows = [
        ("status", f"{mail.status}: {mail.reason}" if mail.reason else mail.status),
        ("class", f"{mail.mail_class} ({mail.class_reason})"),
        ("automatic answer", "allowed" if mail.may_auto_answer else "not allowed"),
        ("from", f"{origin} (ambiguous)" if mail.from_ambiguous else origin),
        ("to", ", ".join(item.address for item in mail.to)),
        ("subject", mail.subject),
        ("date", mail.date.isoformat() if mail.date else ""),
        ("message id", mail.message_id or ""),
        ("in reply to", " ".join(mail.in_reply_to)),
    ]
    files = [
        f"{item.filename or '(no name)'}  {item.sniffed_type}  {item.size:,} bytes{'  inline' if item.inline else ''}"
        for item in mail.attachments
    ]
    rows += [("attachment", line) for line in files]
    return rows + [("warning", line) for line in mail.warnings]


def _json(value: dict[str, Any]) -> str:
    return msgspec.json.encode(value).decode()
