"""Attachments over HTTP (D3): always saved as a file, never shown, sniffed or run, under a harmless name."""

import re
from email.message import EmailMessage
from email.policy import SMTP
from urllib.parse import unquote
from uuid import uuid4

import pytest
from django.core.files.storage import default_storage

from files.models import File
from inbox.models import Attachment
from inbox.services import ingesting
from kernel.api.downloads import disposition, safe_name
from kernel.transactions import in_workspace
from tests.factories.world import hand_in, house
from tests.resources.nine import Caller

HTML = b"<!doctype html><script>alert(1)</script>"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'
EXE = b"MZ\x90\x00" + b"\x00" * 60
PDF = b"%PDF-1.7\n1 0 obj<</OpenAction<</S/JavaScript/JS(app.alert(1))>>>>endobj"
POLYGLOT = b"GIF89a/*" + b"\x00" * 8 + b"*/=1;alert(1)"
TEXT = b"just words"

# name, declared type, content, whether it is dangerous
FILES = [
    ("page.html", "text/html", HTML, True), ("page.htm", "text/html", HTML, True), ("page.txt", "text/html", HTML, True),
    ("page.png", "image/png", HTML, True), ("page", "text/plain", HTML, True), ("page.HTML", "application/octet-stream", TEXT, True),
    ("a.svg", "image/svg+xml", SVG, True), ("a.png", "image/png", SVG, True), ("a.svgz", "image/svg+xml", b"\x1f\x8b\x08\x00", True),
    ("a.xml", "text/xml", b"<?xml version='1.0'?><a/>", True), ("a.xhtml", "application/xhtml+xml", HTML, True),
    ("a.xsl", "text/xml", b"<?xml version='1.0'?><xsl:stylesheet/>", True), ("a.js", "text/javascript", b"alert(1)", True),
    ("a.mjs", "application/javascript", b"alert(1)", True), ("a.mht", "message/rfc822", b"MIME-Version: 1.0\r\n\r\n", True),
    ("a.mhtml", "multipart/related", b"MIME-Version: 1.0\r\n\r\n", True), ("a.pdf", "application/pdf", PDF, False),
    ("invoice.pdf", "application/pdf", EXE, True), ("invoice.pdf.exe", "application/pdf", EXE, True),
    ("invoice.exe", "application/octet-stream", TEXT, True), ("invoice.pdf.js", "application/pdf", TEXT, True),
    ("invoice.js.pdf", "application/pdf", PDF, True), ("run.sh", "text/plain", b"#!/bin/sh\nid", True),
    ("run", "text/plain", b"#!/bin/sh\nid", True), ("run.bat", "text/plain", b"del *", True), ("run.cmd", "text/plain", TEXT, True),
    ("run.ps1", "text/plain", TEXT, True), ("run.vbs", "text/plain", TEXT, True), ("run.hta", "text/html", HTML, True),
    ("run.jar", "application/java-archive", b"PK\x03\x04META-INF/MANIFEST.MF", True), ("run.lnk", "x/y", b"L\x00\x00\x00\x01\x14\x02\x00", True),
    ("doc.docm", "application/zip", b"PK\x03\x04word/", True), ("doc.docx", "application/zip", b"PK\x03\x04word/", False),
    ("doc.doc", "application/msword", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", True), ("x.iso", "application/x-iso9660-image", TEXT, True),
    ("poly.gif", "image/gif", POLYGLOT, False), ("poly.js", "text/javascript", POLYGLOT, True), ("ok.png", "image/png", b"\x89PNG\r\n\x1a\n", False),
    ("ok.jpg", "image/jpeg", b"\xff\xd8\xff\xe0", False), ("ok.txt", "text/plain", TEXT, False), ("ok.csv", "text/csv", b"=1+1,2", False),
    ("elf", "application/octet-stream", b"\x7fELF\x02", True), ("x.swf", "application/x-shockwave-flash", b"FWS", True),
    ("x.url", "text/plain", b"[InternetShortcut]", True), ("x.reg", "text/plain", TEXT, True), ("x.py", "text/x-python", TEXT, True),
]  # fmt: skip

NAMES = [
    "../../etc/passwd", "..\\..\\windows\\win.ini", "/etc/passwd", "C:\\con\\con", "con", "CON.txt", "nul.", "aux.tar.gz", "COM1", "lpt9.txt",
    "a\x00b.txt", "a\r\nSet-Cookie: x=1.txt", "a\tb.txt", "a\"b.txt", "a'b.txt", "a;b.txt", "a\\\"; filename=evil.html", "a%0d%0ab.txt",
    "\u202egpj.exe", "invoice\u202efdp.exe", "a\u2066b\u2069.txt", "a\u200bb.txt", "\ufeffa.txt", "a\u2028b.txt", ".htaccess", "....", "..", ".",
    "", " ", "   .txt", "a .txt ", "-rf", "--help", "~root", "$HOME", "`id`.txt", "$(id).txt", "a|b.txt", "a&b.txt", "a<b>.txt", "a?b*.txt", "a:b.txt",
    "file.txt::$DATA", "x" * 300, "x" * 300 + ".pdf", "é" * 200 + ".txt", "界" * 100, "日本語.txt", "Überweisung.pdf", "العربية.pdf", "😀.png",
    "a" * 100 + "." + "b" * 100, "=?utf-8?Q?evil=2Ehtml?=", "utf-8''evil.html", "UTF-8''%2e%2e%2fx", "a\x7fb", "a\x85b", "name with  spaces.txt",
    "e\u0301.txt", "\u0301.txt", "a\ud7ffb.txt", "COM¹.txt", "conin$", "a/b/c/d.txt", "/", "\\", "a/", "a\\",
]  # fmt: skip

PLAIN = re.compile(r'attachment; filename="([A-Za-z0-9._ ()+,@-]+)"(?:; filename\*=UTF-8\'\'([A-Za-z0-9%._~-]+))?')


def check_headers(answer) -> str:
    """The harmless frame of every download; the name that a browser would take."""
    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    assert "allow-scripts" not in answer["Content-Security-Policy"]
    assert answer["Cache-Control"] == "private, no-store"
    found = PLAIN.fullmatch(answer["Content-Disposition"])
    assert found, answer["Content-Disposition"]
    return unquote(found[2]) if found[2] else found[1]


def test_every_kind_of_file_is_only_ever_saved(db, cases):
    place = house()
    call = Caller(place.id)
    for name, declared, content, _ in FILES:
        message = EmailMessage(policy=SMTP)
        message["From"], message["To"], message["Message-ID"] = (
            "ada@customer.test",
            "support@acme.test",
            f"<{uuid4().hex}@c.test>",
        )
        message.set_content("See the file.")
        maintype, subtype = (
            ("application", "octet-stream") if declared.startswith(("message", "multipart")) else declared.split("/")
        )
        message.add_attachment(content, maintype=maintype, subtype=subtype, filename=name)
        raw = message.as_bytes().replace(
            b"application/octet-stream", declared.encode() if maintype == "application" else b"", 1
        )
        hand_in(raw if declared not in ("message/rfc822", "multipart/related") else message.as_bytes())
    ingesting.process_all()
    listed = {row["filename"]: row for row in call("GET", "/attachments?limit=100").json()["data"]}
    assert len(listed) == len(FILES)
    for name, _declared, content, dangerous in FILES:
        row = listed[name]
        assert row["sniffed_type"]
        assert row["dangerous"] is dangerous, (name, row)
        answer = call("GET", f"/attachments/{row['id']}/content")
        assert check_headers(answer) == safe_name(name)
        assert (
            b"".join(answer.streaming_content).rstrip() == content.replace(b"\r\n", b"\n").rstrip()
            or content in FREE_OF_LINES
        )
    cases("D3", len(FILES))


def test_bytes_that_are_gone_are_an_answer_that_says_so(db):
    """Nobody gets half a download that looks like a whole one."""
    place = house()
    call = Caller(place.id)
    (accepted,) = hand_in(_one_file())
    ingesting.process_all()
    with in_workspace(place.id):
        row = Attachment.objects.select_related("file").get(email_id=accepted.email_id)
    answer = call("GET", f"/attachments/{row.id}/content")
    assert int(answer["Content-Length"]) == row.file.size == len(b"".join(answer.streaming_content))
    default_storage.delete(row.file.storage_key)
    answer = call("GET", f"/attachments/{row.id}/content")
    assert (answer.status_code, answer.json()["code"]) == (503, "file_unreadable")


FREE_OF_LINES = {content for _, _, content, _ in FILES if b"\n" in content}


@pytest.mark.parametrize("ext", [""])
def test_every_hostile_name_becomes_a_harmless_one(db, cases, ext):
    place = house()
    call = Caller(place.id)
    (accepted,) = hand_in(_one_file())
    ingesting.process_all()
    with in_workspace(place.id):
        row = Attachment.objects.get(email_id=accepted.email_id)
    for name in NAMES:
        with in_workspace(place.id):
            # Straight into the row, past the cleaning at the door: the download trusts nobody.
            Attachment.objects.filter(id=row.id).update(filename=name.replace("\x00", "")[:255])
        answer = call("GET", f"/attachments/{row.id}/content")
        shown = check_headers(answer)
        b"".join(answer.streaming_content)
        assert shown
        assert shown == shown.strip(". ")
        assert not set(shown) & set('/\\<>:"|?*%$`~;&\x00\r\n\t\u202e\u2066\u2028\u200b\ufeff')
        assert len(shown.encode()) <= 160
        assert not re.match(r"(?i)^(con|nul|aux|prn|com\d|lpt\d)(\.|$)", shown)
        assert "\n" not in answer["Content-Disposition"]
        assert "Set-Cookie" not in answer.headers
    cases("D3", len(NAMES))


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("report.pdf", "report.pdf"),
        ("Überweisung März.pdf", "Überweisung März.pdf"),
        ("日本語.txt", "日本語.txt"),
        ("a  b.txt", "a b.txt"),
        ("../x.txt", "x.txt"),
        ("", "file"),
        ("...", "file"),
        ("CON", "_CON"),
        ("x" * 300 + ".pdf", "x" * 146 + ".pdf"),
    ],
)
def test_names_stay_what_they_can(given, kept):
    assert safe_name(given) == kept
    assert disposition(given).isascii()


def _one_file() -> bytes:
    from tests.resources.nine import with_file

    return with_file()


def test_a_download_is_of_its_workspace_and_needs_a_permission(db):
    acme, globex = house(), house("globex")
    (accepted,) = hand_in(_one_file())
    ingesting.process_all()
    with in_workspace(acme.id):
        row = Attachment.objects.get(email_id=accepted.email_id)
    path = f"/attachments/{row.id}/content"
    stranger = Caller(globex.id)
    foreign = stranger("GET", path, x_request_id="the-same-request")
    absent = stranger("GET", f"/attachments/{uuid4()}/content", x_request_id="the-same-request")
    assert (foreign.status_code, foreign.content) == (404, absent.content)
    assert Caller(acme.id, "email.read")("GET", path).status_code == 403
    assert Caller(acme.id, "thread.read")("GET", path).status_code == 200
    with in_workspace(acme.id):
        File.objects.filter(id=row.file_id).update(scan_state="infected")
    assert Caller(acme.id)("GET", path).status_code == 404


def test_the_raw_mail_is_saved_too(db):
    acme = house()
    (accepted,) = hand_in(_one_file())
    answer = Caller(acme.id)("GET", f"/emails/{accepted.email_id}/raw")
    assert answer["Content-Disposition"] == f'attachment; filename="{accepted.email_id}.eml"'
    assert answer["Content-Security-Policy"].startswith("sandbox")
    assert b"".join(answer.streaming_content).startswith(b"From: Ada")


def test_the_console_gives_files_out_in_the_same_frame(db, client):
    from tests.console import seed

    acme = house()
    (accepted,) = hand_in(_one_file())
    ingesting.process_all()
    with in_workspace(acme.id):
        row = Attachment.objects.get(email_id=accepted.email_id)
        Attachment.objects.update(filename="..\\\u202egpj.exe")
    person = seed.person("mika@acme.test")
    seed.member(person, acme.workspace)
    client.force_login(person)
    from django.urls import reverse

    answer = client.get(reverse("admin:attachment", args=[row.id]))
    assert answer["Content-Disposition"] == 'attachment; filename="gpj.exe"'
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in answer["Content-Security-Policy"]
