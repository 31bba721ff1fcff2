"""Files that are made to harm whoever opens them (D4): refused within two seconds and 256 MB, and honest ones are not."""

import bz2
import gzip
import io
import lzma
import stat
import struct
import subprocess
import sys
import time
import zipfile
import zlib
from email.message import EmailMessage
from email.policy import SMTP

import pytest

from files.services import scanning
from files.services.inspecting import Inspection, NotInspected
from inbox.mime.sniffing import sniff
from inbox.models import Attachment, Email
from kernel.transactions import in_workspace
from tests.factories.world import deliver, house
from tests.resources.nine import Caller

_DIRECTORY = b"PK\x01\x02" + b"\x14\x00" * 2 + b"\0" * 20 + struct.pack("<HHH", 1, 0, 0) + b"\0" * 12 + b"a"


def packed(files: dict[str, bytes], **info: int) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = info.get("attributes", 0)
            archive.writestr(entry, content)
    return made.getvalue()


def nested(depth: int) -> bytes:
    content = packed({"zeros": b"\0" * 1000})
    for _ in range(depth):
        content = packed({"a.zip": content, "b.zip": content})
    return content


def overlapping() -> bytes:
    """Every entry of the directory is the same packed megabytes of zeros."""
    plain = packed({"a": b"\0" * 4_000_000})
    at = plain.index(b"PK\x01\x02")
    end = plain.index(b"PK\x05\x06")
    entry = plain[at:end]
    count = 10
    closing = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, count, count, len(entry) * count, at, 0)
    return plain[:at] + entry * count + closing


def many_entries(count: int) -> bytes:
    directory = _DIRECTORY * count
    said = min(count, 0xFFFF)
    closing = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, said, said, len(directory), 4, 0)
    return b"PK\x03\x04" + directory + closing


def declared(size: int) -> bytes:
    """A small archive whose directory promises `size` bytes, encrypted so that nobody can look."""
    content = bytearray(packed({"a": b"x" * 10}))
    at = content.index(b"PK\x01\x02")
    struct.pack_into("<H", content, at + 8, 1)
    struct.pack_into("<I", content, at + 24, size)
    return bytes(content)


def gzips(times: int) -> bytes:
    content = b"\0" * 20_000_000
    for _ in range(times):
        content = gzip.compress(content, 9)
    return content


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack("!I", len(data)) + kind + data + struct.pack("!I", zlib.crc32(kind + data))

    head = struct.pack("!IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")
    )


LAUGHS = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]><a>&c;</a>'
BOMBS = {
    "zeros.zip": lambda: packed({"zeros": b"\0" * 200_000_000}),
    "many-zeros.zip": lambda: packed({f"z{n}": b"\0" * 5_000_000 for n in range(30)}),
    "nested.zip": lambda: nested(6),
    "nested-with-noise.zip": lambda: packed({"readme.txt": b"hello", "deep.zip": nested(6)}),
    "overlapping.zip": overlapping,
    "million.zip": lambda: many_entries(1_000_000),
    "sixty-thousand.zip": lambda: many_entries(60_000),
    "encrypted-promise.zip": lambda: declared(0xFFFF_FF00),
    "link.zip": lambda: packed({"etc": b"/etc/passwd"}, attributes=(stat.S_IFLNK | 0o777) << 16),
    "slip.zip": lambda: packed({"../../etc/cron.d/x": b"* * * * *"}),
    "slip-windows.zip": lambda: packed({"..\\..\\windows\\x.dll": b"MZ"}),
    "absolute.zip": lambda: packed({"/etc/passwd": b"x"}),
    "zeros.gz": lambda: gzip.compress(b"\0" * 300_000_000, 9),
    "zeros.bz2": lambda: bz2.compress(b"\0" * 200_000_000),
    "zeros.xz": lambda: lzma.compress(b"\0" * 200_000_000, preset=1),
    "chain.gz": lambda: gzips(7),
    "huge.png": lambda: png(50_000, 50_000),
    "laughs.docx": lambda: packed({"[Content_Types].xml": LAUGHS, "word/document.xml": b"<w/>"}),
    "laughs.xml": lambda: LAUGHS,
    "gz-in-zip.zip": lambda: packed({"a.gz": gzip.compress(b"\0" * 150_000_000, 9)}),
}
HONEST = {
    "photos.zip": lambda: packed({f"{n}.txt": b"words " * 1000 for n in range(300)}),
    "folder.zip": lambda: packed({"a/": b"", "a/..b/c": b"x", "a/b.txt": b"x"}),
    "log.gz": lambda: gzip.compress(b"GET / 200\n" * 100_000),
    "small.png": lambda: png(4000, 3000),
    "letter.docx": lambda: packed({"[Content_Types].xml": b"<Types/>", "word/document.xml": b"<w>" + b"text " * 9000}),
    "broken.zip": lambda: packed({"a": b"x"})[:40],
    "words.txt": lambda: b"no archive at all, whatever PK\x03\x04 it says",
    "page.xml": lambda: b'<?xml version="1.0"?><a>entity</a>',
}


def test_bombs_are_refused_and_honest_files_are_not(cases):
    for name, make in BOMBS.items():
        content = make()
        began = time.thread_time()
        reason = Inspection().hazard(content, sniff(content))
        took = time.thread_time() - began
        assert reason, name
        assert took < 2, (name, took)
    cases("D4", len(BOMBS))
    for name, make in HONEST.items():
        content = make()
        assert Inspection().hazard(content, sniff(content)) == "", name


@pytest.mark.parametrize("name", ["zeros.gz", "nested.zip", "million.zip", "zeros.xz", "gz-in-zip.zip"])
def test_a_look_costs_little_memory(tmp_path, name):
    """In a process of its own, since memory is counted by process."""
    (tmp_path / "bomb").write_bytes(BOMBS[name]())
    program = (
        "import resource, sys; from files.services.inspecting import Inspection; from inbox.mime.sniffing import sniff\n"
        "content = open(sys.argv[1], 'rb').read(); peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = peak(); reason = Inspection().hazard(content, sniff(content)); print(reason and (peak() - before) // 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "bomb"], capture_output=True, text=True, timeout=60
    )
    assert int(done.stdout) < 256, (done.stdout, done.stderr)


def small_bombs(count: int) -> list[bytes]:
    """Each of its own, of some hundred bytes, and a fifth of a second to see through."""
    bomb = bz2.compress(b"\0" * 70_000_000)
    return [bomb + struct.pack("<I", number) for number in range(count)]


def slow_archives(count: int) -> list[bytes]:
    """No bombs: each takes its time honestly."""
    page = gzip.compress(b"".join(b"%d GET / 200\n" % number for number in range(400_000)), 1)
    return [page + struct.pack("<I", number) for number in range(count)]


def outcomes(contents: list[bytes], inspection: Inspection) -> list[str | None]:
    """What one mail's inspection says of its files, one after the other; None: it was not looked into."""
    found = []
    for content in contents:
        try:
            found.append(inspection.hazard(content, sniff(content)))
        except NotInspected:
            found.append(None)
    return found


@pytest.mark.parametrize("make", [small_bombs, slow_archives])
def test_the_files_of_one_mail_together_cost_what_one_may(make):
    contents = [*make(990), HONEST["photos.zip"](), HONEST["words.txt"]()]
    inspection = Inspection(seconds=0.5)
    found = outcomes(contents, inspection)
    # The file at which the time ended may take a piece of work more than there was.
    assert -1 < inspection.seconds < 0
    assert found[0] == ("archive bomb" if make is small_bombs else "")
    # What is beyond is not said to be harmless; what needs no looking into is judged as ever.
    assert found[-3:] == [None, None, ""]


def test_the_same_bytes_are_looked_at_once():
    bomb, honest = small_bombs(1)[0], HONEST["photos.zip"]()
    found = outcomes([bomb, *[honest, bomb] * 400, HONEST["letter.docx"]()], Inspection())
    assert found == ["archive bomb", *["", "archive bomb"] * 400, ""]


def test_a_mail_of_small_bombs_is_filed_and_what_was_not_looked_into_waits_for_an_operator(db):
    acme = house()
    message = EmailMessage(policy=SMTP)
    message["From"], message["To"], message["Subject"] = "ada@customer.test", "support@acme.test", "Many files"
    message.set_content("See the files.")
    bombs = small_bombs(300)
    for number, content in enumerate([*bombs, HONEST["photos.zip"](), b"words"]):
        message.add_attachment(content, maintype="application", subtype="octet-stream", filename=f"{number}.bin")
    began = time.process_time()
    (accepted,) = deliver(message.as_bytes())
    assert time.process_time() - began < 10
    with in_workspace(acme.id):
        assert Email.objects.get(id=accepted.email_id).state == "threaded"
        rows = list(Attachment.objects.select_related("file").order_by("position"))
    states = [row.file.scan_state for row in rows]
    assert set(states[:300]) == {"infected", "failed"}
    assert states[300:] == ["failed", "none"]
    last_bomb, honest, words = rows[299:]
    assert honest.file.scan_reason
    call = Caller(acme.id)
    answers = [call("GET", f"/attachments/{row.id}/content").status_code for row in (last_bomb, honest, words)]
    assert answers == [409, 409, 200]
    for row in (last_bomb, honest):
        scanning.scan_again(workspace_id=acme.id, file_id=row.file_id)
    answers = [call("GET", f"/attachments/{row.id}/content").status_code for row in (last_bomb, honest, words)]
    assert answers == [404, 200, 200]
