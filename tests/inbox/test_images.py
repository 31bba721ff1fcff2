"""Images in mail (D2): nothing is asked of anybody until a person wants it, and then by us, guarded, drawn anew."""

import io
import time
from uuid import uuid4

import pytest
from django.core import signing
from django.test import Client
from PIL import Image
from pytest_httpserver import HTTPServer
from werkzeug import Response

from audit.models import AuditEvent
from inbox.mime import clean_html
from inbox.models import Entry, RemoteImage
from inbox.services import images
from kernel.transactions import in_workspace
from tests.factories.every import make
from tests.factories.world import house
from tests.inbox.test_bombs import png

REMOTE = [
    "<img src=https://evil.example/1.png>", "<img src='http://evil.example/2.png'>", "<img src=//evil.example/3.png>",
    "<img srcset='https://evil.example/4.png 2x'>", "<img src=x srcset=//evil.example/5.png>",
    "<picture><source srcset=https://evil.example/6.webp><img></picture>", "<image src=https://evil.example/7.png>",
    "<image href=https://evil.example/8.png>", "<svg><image href=https://evil.example/9.png /></svg>",
    "<svg><image xlink:href=https://evil.example/10.png /></svg>", "<svg><use href=https://evil.example/11.svg#a /></svg>",
    "<body background=https://evil.example/12.png>", "<table background=https://evil.example/13.png><tr><td>x</table>",
    "<td background=https://evil.example/14.png>", "<p style='background:url(https://evil.example/15.png)'>x",
    "<p style='background-image:url(//evil.example/16.png)'>x", "<p style='list-style:url(https://evil.example/17.png)'>x",
    "<p style='border-image:url(https://evil.example/18.png)'>x", "<p style='content:url(https://evil.example/19.png)'>x",
    "<p style='background:image-set(\"https://evil.example/20.png\" 1x)'>x", "<style>p{background:url(https://evil.example/21.png)}</style>",
    "<style>@import 'https://evil.example/22.css'</style>", "<link rel=stylesheet href=https://evil.example/23.css>",
    "<link rel=icon href=https://evil.example/24.ico>", "<link rel=prefetch href=https://evil.example/25>",
    "<link rel=dns-prefetch href=//evil.example>", "<video poster=https://evil.example/27.png></video>",
    "<video src=https://evil.example/28.mp4 autoplay></video>", "<audio src=https://evil.example/29.mp3 autoplay></audio>",
    "<video><source src=https://evil.example/30.mp4></video>", "<object data=https://evil.example/31.svg></object>",
    "<embed src=https://evil.example/32.swf>", "<iframe src=https://evil.example/33></iframe>", "<input type=image src=https://evil.example/34.png>",
    "<img lowsrc=https://evil.example/35.png>", "<img dynsrc=https://evil.example/36.avi>", "<bgsound src=https://evil.example/37.mid>",
    "<img src='data:image/svg+xml,<svg xmlns=\"http://www.w3.org/2000/svg\"><image href=\"https://evil.example/38.png\"/></svg>'>",
    "<font face='x' style='font-family:url(https://evil.example/39.woff)'>x</font>", "<p style='color:red;cursor:url(https://evil.example/40.cur),auto'>x",
    "<img src='  https://evil.example/41.png  '>", "<img src='ht\ntps://evil.example/42.png'>", "<img src='https:\\\\evil.example\\43.png'>",
]  # fmt: skip


def picture(kind: str = "PNG", size: tuple[int, int] = (40, 30), **options) -> bytes:
    written = io.BytesIO()
    Image.new("RGB", size, "red").save(written, kind, **options)
    return written.getvalue()


def written(workspace_id, html: str) -> Entry:
    return make(Entry, workspace_id, body_html=clean_html.clean(html))


def test_nothing_that_is_stored_names_a_place_that_a_browser_would_ask(cases):
    for html in REMOTE:
        stored = clean_html.clean(html)
        rest = stored.replace('src="remote-image:', "")
        assert "url(" not in rest
        for name in (
            ' src="http',
            " srcset",
            " background",
            " poster",
            " href",
            "evil.example/2.css",
            "<link",
            "<style",
        ):
            assert name not in rest, (html, stored)
        shown = clean_html.present(stored, lambda _: None)
        assert "evil.example" not in shown, (html, shown)
        assert clean_html.clean(stored) == stored
    cases("D2", len(REMOTE))


def test_only_a_person_who_asks_gets_links_and_only_to_us(db):
    acme = house()
    entry = written(acme.id, "<p>Hi</p><img src=https://evil.example/1.png><img src=cid:unknown@x>")
    with in_workspace(acme.id):
        before = images.show(entry, remote=False, prefix="/images/")
        assert (before.html, before.held) == ("<p>Hi</p><img><img>", 1)
        assert not AuditEvent.objects.filter(action="images.show").exists()
        after = images.show(entry, remote=True, prefix="/images/")
    assert after.html.startswith('<p>Hi</p><img src="/images/')
    assert "evil.example" not in after.html
    with in_workspace(acme.id):
        assert AuditEvent.objects.get(action="images.show").resource_id == str(entry.id)


@pytest.fixture
def world(settings):
    """A stranger's server on the loopback, which alone may be called, and by its address: no name leads there."""
    settings.OUTBOUND_ALLOW_HTTP, settings.OUTBOUND_ALLOWED_NETWORKS = True, ["127.0.0.1/32"]
    settings.IMAGE_TIMEOUT_SECONDS = 2
    with HTTPServer(host="127.0.0.1", threaded=True) as server:
        yield server


def ask(workspace_id, address: str):
    token = images._sign({"w": str(workspace_id), "u": address})
    # As from the frame that shows it: without a session.
    return Client().get(f"/images/{token}")


def test_an_image_is_fetched_once_drawn_anew_and_forgotten(db, world, settings):
    acme = house()
    exif = Image.Exif()
    exif[0x010E] = "a secret of the sender"
    original = picture("JPEG", (3000, 2000), exif=exif)
    seen = []

    def serve(request):
        seen.append(dict(request.headers))
        return Response(original, content_type="image/jpeg", headers={"Set-Cookie": "who=you"})

    world.expect_request("/photo.jpg").respond_with_handler(serve)
    address = world.url_for("/photo.jpg")
    answer = ask(acme.id, address)
    assert answer.status_code == 200
    assert answer["Content-Type"] == "image/jpeg"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert not answer.cookies
    assert b"a secret of the sender" not in answer.content
    with Image.open(io.BytesIO(answer.content)) as drawn:
        assert drawn.size == (1600, 1067)
    assert not {"Cookie", "Referer", "Authorization"} & set(seen[0])
    assert ask(acme.id, address).content == answer.content
    assert len(seen) == 1
    with in_workspace(acme.id):
        RemoteImage.objects.update(expires_at="2020-01-01T00:00:00Z")
    assert images.prune() == 1
    assert ask(acme.id, address).status_code == 200
    assert len(seen) == 2


def test_what_is_no_fit_image_is_not_shown(db, world, settings, cases):
    acme = house()
    settings.IMAGE_MAX_BYTES = 200_000
    bodies = {
        "/page.html": (b"<script>alert(1)</script>", 200), "/vector.svg": (b"<svg onload='alert(1)'/>", 200),
        "/huge.png": (png(50_000, 50_000), 200), "/wide.png": (png(30_000_000, 1), 200), "/cut.jpg": (picture("JPEG")[:200], 200),
        "/large.bmp": (picture("BMP", (400, 400)), 200), "/gone.png": (picture(), 404), "/empty.png": (b"", 200),
        "/text.png": (b"\x89PNG\r\n\x1a\n" + b"x" * 100, 200), "/error": (b"", 500), "/poly.gif": (b"GIF89a/*" + b"\0" * 20, 200),
        "/not-modified": (b"", 304), "/pdf": (b"%PDF-1.7", 200), "/ps": (b"%!PS", 200), "/tiff": (b"II*\0" + b"\0" * 50, 200),
    }  # fmt: skip
    for path, (body, status) in bodies.items():
        world.expect_request(path).respond_with_data(body, status=status, content_type="image/png")
    for path, place in (
        ("/in", "http://127.0.0.1:1/"),
        ("/meta", "http://169.254.169.254/latest"),
        ("/file", "file:///etc/passwd"),
    ):
        world.expect_request(path).respond_with_data(b"", status=302, headers={"Location": place})
    world.expect_request("/round").respond_with_data(b"", status=302, headers={"Location": "/round"})

    def slowly(_request):
        time.sleep(4)
        return Response(picture())

    world.expect_request("/slow.png").respond_with_handler(slowly)
    refused = [world.url_for(path) for path in (*bodies, "/in", "/meta", "/file", "/round", "/slow.png")]
    refused += [
        "http://127.0.0.2/x.png",
        "http://[::1]/x.png",
        "https://localhost/x.png",
        "ftp://127.0.0.1/x",
        "http://10.0.0.1/x.png",
    ]
    for address in refused:
        began = time.monotonic()
        answer = ask(acme.id, address)
        assert (answer.status_code, answer.content) == (404, b""), address
        assert time.monotonic() - began < 3.5, address
    with in_workspace(acme.id):
        assert RemoteImage.objects.filter(content_type="").count() == len(refused)
        assert not RemoteImage.objects.filter(problem="").exists()
    cases("D2", len(refused))
    world.expect_request("/moved").respond_with_data(b"", status=301, headers={"Location": world.url_for("/good.png")})
    world.expect_request("/good.png").respond_with_data(picture(), content_type="text/plain")
    assert ask(acme.id, world.url_for("/moved")).status_code == 200


def test_a_link_is_ours_and_ends(db, world, settings):
    acme = house()
    world.expect_request("/a.png").respond_with_data(picture())
    token = images._sign({"w": str(acme.id), "u": world.url_for("/a.png")})
    forged = [token[:-1] + ("A" if token[-1] != "A" else "B"), "x", signing.dumps({"w": str(acme.id)}, salt="other")]
    for wrong in forged:
        assert Client().get(f"/images/{wrong}").status_code == 404
    assert Client().post(f"/images/{token}").status_code == 405
    assert Client().get(f"/images/{token}").status_code == 200
    settings.IMAGE_LINK_SECONDS = -1
    assert Client().get(f"/images/{token}").status_code == 404
    assert world.log[-1][0].path == "/a.png"
    assert len(world.log) == 1


def test_a_picture_that_the_mail_brings_is_shown_unless_it_is_kept_away(db):
    from files.models import File
    from files.services import storing
    from inbox.models import Attachment

    acme = house()
    entry = written(acme.id, '<img src="CID:Logo@mail">')
    content = picture("GIF")
    with in_workspace(acme.id):
        file = make(File, acme.id, storage_key=storing.keep(workspace_id=acme.id, sha256=uuid4().hex, content=content))
        make(Attachment, acme.id, entry=entry, file=file, content_id="<logo@mail>", inline=True)
        html = images.show(entry, remote=False, prefix="/images/").html
    path = html.removeprefix('<img src="').removesuffix('">')
    answer = Client().get(path)
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/png")
    with in_workspace(acme.id):
        File.objects.filter(id=file.id).update(scan_state="infected")
    assert Client().get(path).status_code == 404
