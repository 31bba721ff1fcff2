"""Every periodic task, in one list. Sweeps re-drive whatever is not final; nothing else depends on a lost wake-up."""

from typing import Any

from celery.schedules import crontab

from config.beat import Slots


def beat_schedule(*, sweep: float) -> dict[str, dict[str, Any]]:
    """Celery's beat schedule; `sweep` is the seconds between two looks for forgotten work."""
    sweeps = [
        "kernel.tasks.drain_outbox",
        "inbox.tasks.process_messages",
        "inbox.tasks.send_mail",
        "agents.tasks.run_executions",
    ]
    entries: dict[str, dict[str, Any]] = {
        name: {"task": name, "schedule": Slots(sweep), "options": {"expires": sweep * 4}} for name in sweeps
    }
    entries["files.tasks.scan_files"] = {"task": "files.tasks.scan_files", "schedule": Slots(30.0)}
    entries["tickets.tasks.fold_counts"] = {"task": "tickets.tasks.fold_counts", "schedule": Slots(30.0)}
    entries["inbox.tasks.wake_threads"] = {"task": "inbox.tasks.wake_threads", "schedule": Slots(30.0)}
    entries["kernel.tasks.beat_heartbeat"] = {"task": "kernel.tasks.beat_heartbeat", "schedule": Slots(10.0)}
    entries["agents.tasks.expire_approvals"] = {"task": "agents.tasks.expire_approvals", "schedule": Slots(30.0)}
    entries["inbox.tasks.match_news"] = {"task": "inbox.tasks.match_news", "schedule": Slots(30.0)}
    entries["inbox.tasks.check_connections"] = {"task": "inbox.tasks.check_connections", "schedule": Slots(30.0)}
    entries["audit.tasks.anchor"] = {"task": "audit.tasks.anchor", "schedule": Slots(600.0)}
    entries["kernel.tasks.prune_plumbing"] = {"task": "kernel.tasks.prune_plumbing", "schedule": crontab(minute="17")}
    entries["tenancy.tasks.prune_tokens"] = {"task": "tenancy.tasks.prune_tokens", "schedule": crontab(minute="47")}
    entries["tenancy.tasks.send_letters"] = {"task": "tenancy.tasks.send_letters", "schedule": Slots(30.0)}
    entries["tenancy.tasks.prune_people"] = {"task": "tenancy.tasks.prune_people", "schedule": crontab(minute="7")}
    entries["audit.tasks.prune_requests"] = {"task": "audit.tasks.prune_requests", "schedule": crontab(minute="37")}
    entries["inbox.tasks.prune_images"] = {"task": "inbox.tasks.prune_images", "schedule": crontab(minute="7")}
    entries["webhooks.tasks.prune"] = {"task": "webhooks.tasks.prune", "schedule": crontab(minute="27")}
    return entries
