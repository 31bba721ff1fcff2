"""Is the process alive, and can the installation do its work? The answer to the second names what is wrong.

Both are asked by machines that know an address and no name, without TLS: a container's check, a load balancer. So they are
answered before anything looks at the host or the scheme.
"""

from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from redis.exceptions import ResponseError

from kernel import clock, nudge
from kernel.models import Heartbeat, OutboxEvent
from kernel.transactions import in_all_workspaces
from webhooks.models import WebhookDelivery
from webhooks.types import DeliveryStatus


def answering(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Answer /healthz and /readyz; leave everything else to the rest."""
    pages: dict[str, Callable[[HttpRequest], HttpResponse]] = {"/healthz": live, "/readyz": ready}

    def middleware(request: HttpRequest) -> HttpResponse:
        page = pages.get(request.path_info)
        return page(request) if page else get_response(request)

    return middleware


def live(_request: HttpRequest) -> JsonResponse:
    """No I/O: the process answers."""
    return JsonResponse({"status": "ok"})


def ready(_request: HttpRequest) -> JsonResponse:
    """200, or 503 with the list of faults."""
    faults = problems()
    return JsonResponse({"status": "ok" if not faults else "failing", "faults": faults}, status=503 if faults else 200)


def problems() -> list[str]:
    """What keeps the installation from working, one sentence each; empty when all is well."""
    checks: list[Callable[[], str]] = [_database, _migrations, _redis, _beat, _outbox, _webhooks]
    found = []
    for check in checks:
        try:
            fault = check()
        except Exception as error:  # noqa: BLE001 - a check that cannot be made is itself the fault
            fault = f"{check.__name__.strip('_')}: {type(error).__name__}: {error}"
        if fault:
            found.append(fault)
        if fault and check is _database:
            break
    return found


def _database() -> str:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT rolsuper OR rolbypassrls, current_setting('synchronous_commit') FROM pg_roles"
            " WHERE rolname = current_user"
        )
        too_mighty, commit = cursor.fetchone()
    if too_mighty:
        return "The application is signed in as a role that row-level security does not bind. Use inbox_runtime."
    if commit == "off":
        return "synchronous_commit is off: acknowledged mail could be lost. Switch it on."
    return ""


def _migrations() -> str:
    executor = MigrationExecutor(connection)
    waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return f"{len(waiting)} migrations are not applied. Run manage.py migrate." if waiting else ""


def _redis() -> str:
    nudge.client().ping()
    try:
        policy = nudge.client().config_get("maxmemory-policy").get("maxmemory-policy")
    except ResponseError:
        # Managed servers keep their configuration to themselves. Then it is theirs to see to.
        return ""
    return "" if policy in (None, "noeviction") else f"Redis may evict ({policy}). Set maxmemory-policy noeviction."


def _is_silent(name: str) -> bool:
    """Whether the periodic process has not been heard of for a minute."""
    beat = Heartbeat.objects.filter(name=name).first()
    return beat is None or clock.now() - beat.at > timedelta(seconds=60)


def _beat() -> str:
    if _is_silent("beat"):
        return "No scheduler has been seen for a minute. Start celery beat and a worker."
    return ""


def _outbox() -> str:
    limit = clock.now() - timedelta(seconds=max(60, settings.SWEEP_SECONDS * 10))
    with in_all_workspaces("health of the installation"):
        late = OutboxEvent.objects.filter(
            published_at=None, parked_at=None, attempts=0, available_at__lt=limit
        ).exists()
    return "Events wait for more than a minute. Is a worker running?" if late else ""


def _webhooks() -> str:
    """A dispatcher that is away is a fault once something waits for it: an installation without webhooks needs none."""
    with in_all_workspaces("health of the installation"):
        is_waiting = WebhookDelivery.objects.filter(
            status=DeliveryStatus.PENDING, due_at__lt=clock.now() - timedelta(seconds=60)
        ).exists()
    if is_waiting and _is_silent("webhooks"):
        return "Webhook deliveries wait, and no dispatcher has been seen for a minute. Start manage.py run_webhooks."
    return ""
