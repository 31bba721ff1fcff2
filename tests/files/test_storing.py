"""Attachments on disk are whole or not there: a full disk, a killed writer, two at once, and what was cut off before."""

import errno
import hashlib
import os
import signal
import stat
import threading
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path
from uuid import uuid4

import pytest
from django.conf import settings as configured
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from files import storage
from files.services import storing
from inbox.models import Attachment
from inbox.services import ingesting
from kernel.transactions import in_workspace
from tests.agents import forking
from tests.factories.world import deliver, hand_in, house
from tests.resources.nine import Caller

# Of several chunks, so that there is a middle.
CONTENT = bytes(range(256)) * 1024


@pytest.fixture(autouse=True)
def _no_wait(settings):
    settings.INGEST_LEASE_SECONDS = settings.INGEST_RETRY_SECONDS = 0


def with_file(content: bytes = CONTENT) -> bytes:
    message = EmailMessage(policy=SMTP)
    message["From"], message["To"] = "ada@customer.test", "support@acme.test"
    message["Message-ID"] = f"<{uuid4().hex}@customer.test>"
    message.set_content("See the file.")
    message.add_attachment(content, maintype="application", subtype="octet-stream", filename="all.bin")
    return message.as_bytes()


def downloads(place) -> list[bytes]:
    """What whoever asks gets of every attachment."""
    with in_workspace(place.id):
        ids = list(Attachment.objects.order_by("created_at").values_list("id", flat=True))
    call = Caller(place.id)
    return [b"".join(call("GET", f"/attachments/{one}/content").streaming_content) for one in ids]


def final(workspace_id, content: bytes = CONTENT) -> Path:
    return Path(default_storage.path(storage.key(workspace_id, hashlib.sha256(content).hexdigest())))


def lying(workspace_id) -> list[Path]:
    """All files of a workspace, finished or not."""
    return sorted(path for path in (Path(configured.FILES_ROOT) / str(workspace_id)).rglob("*") if path.is_file())


def keep(workspace_id, content: bytes = CONTENT) -> str:
    return storing.keep(workspace_id=workspace_id, sha256=hashlib.sha256(content).hexdigest(), content=content)


@pytest.mark.parametrize("why", [errno.ENOSPC, errno.EIO, errno.EDQUOT], ids=errno.errorcode.get)
@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_disk_that_refuses_in_the_middle_leaves_nothing_and_the_mail_is_filed_later(db, monkeypatch, why, after):
    place, write, written = house(), os.write, []

    def full(descriptor: int, data: bytes) -> int:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return write(descriptor, data)
        if len(written) == after:
            write(descriptor, bytes(data)[:100])
            raise OSError(why, os.strerror(why))
        written.append(data)
        return write(descriptor, data)

    hand_in(with_file())
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        ingesting.process_due()
    assert len(written) == after
    assert lying(place.id) == []
    assert downloads(place) == []
    ingesting.process_all()
    assert downloads(place) == [CONTENT]
    assert lying(place.id) == [final(place.id)]


def test_a_disk_that_refuses_to_flush_has_stored_nothing(db, monkeypatch):
    place = house()

    def fails(descriptor: int) -> None:
        raise OSError(errno.EIO, "flushing")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fails)
        with pytest.raises(OSError, match="flushing"):
            keep(place.id)
    assert [path for path in lying(place.id) if path == final(place.id)] == []
    keep(place.id)
    assert final(place.id).read_bytes() == CONTENT


def test_a_writer_killed_in_the_middle_leaves_nothing_under_the_name(db):
    place = house()
    hand_in(with_file())
    forking.killed_at("files.writing", ingesting.process_all)
    assert not final(place.id).exists()
    (begun,) = lying(place.id)
    assert 0 < begun.stat().st_size < len(CONTENT)
    ingesting.process_all()
    assert downloads(place) == [CONTENT]


def test_a_writer_who_is_overtaken_in_the_middle_harms_nothing(db):
    place = house()
    hand_in(with_file())
    slow = forking.frozen_at("files.writing", ingesting.process_all)
    try:
        assert not final(place.id).exists()
        ingesting.process_all()
        assert downloads(place) == [CONTENT]
    finally:
        # It stops at each chunk.
        while True:
            os.kill(slow, signal.SIGCONT)
            _, status = os.waitpid(slow, os.WUNTRACED)
            if not os.WIFSTOPPED(status):
                break
    assert status == 0
    assert downloads(place) == [CONTENT]
    assert lying(place.id) == [final(place.id)]


def test_of_many_writers_at_once_each_leaves_the_whole(db):
    """Whoever looks meanwhile sees all of it or nothing."""
    workspace_id, start, wrong = uuid4(), threading.Barrier(9), []
    contents = [bytes([number]) * 1_000_000 for number in range(4)]

    def write(number: int) -> None:
        start.wait()
        keep(workspace_id, contents[number % 4])

    def look() -> None:
        start.wait()
        while any(thread.is_alive() for thread in writers):
            wrong.extend(
                path for path in (final(workspace_id, content) for content in contents)
                if path.exists() and path.stat().st_size != 1_000_000
            )  # fmt: skip

    writers = [threading.Thread(target=write, args=[number]) for number in range(8)]
    looker = threading.Thread(target=look)
    for thread in [*writers, looker]:
        thread.start()
    for thread in [*writers, looker]:
        thread.join()
    assert wrong == []
    assert lying(workspace_id) == sorted(final(workspace_id, content) for content in contents)
    assert [final(workspace_id, content).read_bytes() for content in contents] == contents


@pytest.mark.parametrize("length", [0, 1, len(CONTENT) - 1, len(CONTENT) + 1])
def test_what_has_another_length_is_written_again_and_what_is_whole_is_not(db, length):
    place = house()
    deliver(with_file())
    was = final(place.id).stat()
    deliver(with_file())
    assert final(place.id).stat().st_ino == was.st_ino
    final(place.id).write_bytes((CONTENT + b"x")[:length])
    deliver(with_file())
    assert downloads(place) == [CONTENT] * 3
    assert lying(place.id) == [final(place.id)]


def test_what_was_abandoned_goes_and_what_is_being_written_stays(db):
    workspace_id = uuid4()
    keep(workspace_id)
    folder = final(workspace_id).parent
    abandoned, begun = folder / ".a.1.unfinished", folder / ".b.2.unfinished"
    for path in (abandoned, begun):
        path.write_bytes(b"half")
    for path in (abandoned, final(workspace_id)):
        os.utime(path, (0, 0))
    # Another content of the same folder.
    other = next(text for n in range(100_000) if final(workspace_id, text := str(n).encode()).parent == folder)
    keep(workspace_id, other)
    assert lying(workspace_id) == sorted([begun, final(workspace_id), final(workspace_id, other)])


def test_a_file_may_be_read_by_whom_the_settings_say(db, settings):
    workspace_id = uuid4()
    keep(workspace_id)
    assert stat.S_IMODE(final(workspace_id).stat().st_mode) == settings.FILE_UPLOAD_PERMISSIONS


def test_another_store_keeps_the_same_promise_or_says_that_it_does_not(db, settings):
    """One that never writes over anything: the same again is nothing new, and what is wrong there is not called stored."""
    settings.STORAGES = settings.STORAGES | {"default": {"BACKEND": "django.core.files.storage.InMemoryStorage"}}
    workspace_id = uuid4()
    name = keep(workspace_id)
    assert keep(workspace_id) == name
    assert b"".join(storage.stream(name)) == CONTENT
    default_storage.delete(name)
    default_storage.save(name, ContentFile(b"half"))
    with pytest.raises(storage.NotStored):
        keep(workspace_id)
    folder = name.rpartition("/")[0]
    assert default_storage.listdir(folder)[1] == [name.rpartition("/")[2]]


def test_a_process_that_is_killed_anywhere_leaves_the_whole_or_nothing(db):
    """SIGKILL from outside, at whatever moment, not only where the code expects it."""
    workspace_id = uuid4()
    contents = [bytes([number]) * 3_000_000 for number in range(40)]
    for number in range(12):
        child = forking.start(lambda: [keep(workspace_id, content) for content in contents])
        threading.Event().wait(0.01 + number * 0.005)
        os.kill(child, signal.SIGKILL)
        forking.ended(child)
        for content in contents:
            path = final(workspace_id, content)
            assert not path.exists() or path.stat().st_size == len(content)
    keep(workspace_id, contents[0])
    assert final(workspace_id, contents[0]).read_bytes() == contents[0]
