import pathlib

from django.urls import reverse

from audit import services
from inbox.models import Connection
from inbox.services import connecting
from kernel.transactions import in_workspace
from tests.audit.test_chain import act
from tests.console.seed import PASSWORD


def test_shots(console, world, chromium, tmp_path):
    w = world.workspace.id
    act(w, count=3)
    services.anchor_all(directory=tmp_path)
    act(w, count=2)
    a = connecting.connect(
        workspace_id=w,
        provider="smtp",
        name="Support mail",
        configuration={"host": "smtp.lindgren.example", "user": "support@lindgren.example"},
        secret="x",
    )
    b = connecting.connect(
        workspace_id=w,
        provider="ses",
        name="Newsletter",
        configuration={"region": "eu-central-1", "access_key_id": "AKIAEXAMPLE"},
        secret="x",
    )
    connecting.connect(
        workspace_id=w, provider="smtp", name="Old server", configuration={"host": "mail.old.example", "user": "hello"}
    )
    from kernel import clock

    with in_workspace(w):
        Connection.objects.filter(id=a.id).update(state="connected", last_health_at=clock.now())
        Connection.objects.filter(id=b.id).update(state="connected")
        Connection.objects.filter(id=b.id).update(
            state="degraded",
            error_code="sign_in_refused",
            error_detail="SES does not let us in: InvalidClientTokenId",
            last_health_at=clock.now(),
        )
        from audit.models import AuditEvent

        event = AuditEvent.objects.filter(action="connection.create").first().id
    out = pathlib.Path("/tmp/h2s_shots")
    out.mkdir(exist_ok=True)
    for width in (1440, 390):
        page = chromium.new_page(viewport={"width": width, "height": 900})
        page.goto(console + "/console/login/")
        page.fill("input[name=username]", "mika@lindgren.example")
        page.fill("input[name=password]", PASSWORD)
        page.click("button[type=submit], input[type=submit]")
        page.wait_for_load_state()
        for name, path in (
            ("audit", reverse("admin:audit_auditevent_changelist")),
            ("event", reverse("admin:audit_auditevent_change", args=[event])),
            ("connections", reverse("admin:inbox_connection_changelist")),
            ("connection", reverse("admin:inbox_connection_change", args=[b.id])),
            ("add", reverse("admin:inbox_connection_add")),
        ):
            page.goto(console + path)
            page.screenshot(path=str(out / f"{name}-{width}.png"), full_page=True)
            over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            print(name, width, "overflow", over)
        page.close()
