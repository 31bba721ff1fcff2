"""What must hold at any moment, each as one query whose answer must be zero. Read by `doctor --deep` and by tests."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from django.apps import apps
from django.db import connection

from audit import queries as audit
from kernel.transactions import in_all_workspaces


@dataclass(frozen=True)
class Finding:
    """An invariant, and how many rows contradict it."""

    name: str
    broken: int


CHECKS: Final[dict[str, str]] = {
    "every accepted message is in a state, and a finished one has an e-mail for an inbox": """
        SELECT count(*) FROM inbox_inboundmessage m WHERE m.state = 'done' AND m.reason = ''
          AND NOT EXISTS (SELECT 1 FROM inbox_email e WHERE e.inbound_message_id = m.id)""",
    "no finished message has an unread e-mail": """
        SELECT count(*) FROM inbox_email e JOIN inbox_inboundmessage m ON m.id = e.inbound_message_id
        WHERE m.state = 'done' AND e.state IN ('received', 'stored', 'parsed')""",
    "every threaded e-mail has exactly one entry": """
        SELECT count(*) FROM inbox_email e WHERE e.state IN ('threaded', 'queued', 'running', 'waiting_approval',
          'handled') AND (SELECT count(*) FROM inbox_entry n WHERE n.email_id = e.id) <> 1""",
    "seq rises with time within a thread": """
        SELECT count(*) FROM (SELECT occurred_at, lag(occurred_at) OVER (PARTITION BY thread_id ORDER BY seq) AS before
          FROM inbox_entry) x WHERE before > occurred_at + interval '1 second'""",
    "a thread's counters equal its entries": """
        SELECT count(*) FROM inbox_thread t LEFT JOIN (SELECT thread_id, count(*) AS n, max(seq) AS last FROM inbox_entry
          GROUP BY thread_id) e ON e.thread_id = t.id
        WHERE t.entry_count <> coalesce(e.n, 0) OR t.last_entry_seq <> coalesce(e.last, 0)""",
    "the kept counts of conversations equal a recount": """
        SELECT count(*) FROM (
          SELECT workspace_id, inbox_id, status, assignee_id, unanswered, tag_id, sum(threads) AS n FROM tickets_threadcount
          GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(threads) <> 0
        ) kept FULL JOIN (
          SELECT t.workspace_id, t.inbox_id, t.status, t.assignee_id, t.first_unanswered_inbound_at IS NOT NULL AS unanswered,
            l.tag_id, count(*) AS n
          FROM inbox_thread t CROSS JOIN LATERAL (
            SELECT NULL::uuid AS tag_id UNION ALL SELECT tag_id FROM tickets_threadtag WHERE thread_id = t.id) l
          WHERE t.merged_into_id IS NULL GROUP BY 1, 2, 3, 4, 5, 6
        ) found ON (kept.workspace_id, kept.inbox_id, kept.status, kept.unanswered) =
            (found.workspace_id, found.inbox_id, found.status, found.unanswered)
          AND coalesce(kept.assignee_id::text, '') = coalesce(found.assignee_id::text, '')
          AND coalesce(kept.tag_id::text, '') = coalesce(found.tag_id::text, '')
        WHERE kept.n IS DISTINCT FROM found.n""",
    "the open turn is the first unanswered mail of a person": """
        SELECT count(*) FROM inbox_thread t WHERE t.first_unanswered_inbound_at IS DISTINCT FROM inbox_turn_v1(t.id)""",
    "no thread is merged in a circle, and none that was merged has entries": """
        WITH RECURSIVE way AS (
          SELECT id AS origin, merged_into_id AS at, 1 AS steps FROM inbox_thread WHERE merged_into_id IS NOT NULL
          UNION ALL SELECT w.origin, t.merged_into_id, w.steps + 1 FROM way w JOIN inbox_thread t ON t.id = w.at
            WHERE t.merged_into_id IS NOT NULL AND w.steps < 1000)
        SELECT count(*) FROM (SELECT origin FROM way WHERE at = origin OR steps >= 1000
          UNION SELECT t.id FROM inbox_thread t WHERE t.merged_into_id IS NOT NULL
            AND EXISTS (SELECT 1 FROM inbox_entry e WHERE e.thread_id = t.id)) x""",
    "an executed intent has its outgoing entry, and one only": """
        SELECT count(*) FROM agents_actionintent i WHERE i.status IN ('executing', 'executed', 'uncertain')
          AND (SELECT count(*) FROM inbox_outboundmessage o WHERE o.entry_id = i.entry_id) <> 1""",
    "an executed intent that had to be approved has the approval of its exact content, in time, used once": """
        SELECT count(*) FROM agents_actionintent i WHERE i.status = 'executed' AND i.decision = 'ask' AND NOT EXISTS (
          SELECT 1 FROM agents_approvalrequest a WHERE a.intent_id = i.id AND a.state = 'consumed'
            AND a.content_hash = i.content_hash AND a.decided_at <= a.expires_at AND a.decided_at <= i.executed_at)""",
    "an inbound mail has at most one automatic answer": """
        SELECT count(*) FROM (SELECT e.in_reply_to_id FROM inbox_entry e JOIN inbox_outboundmessage o ON o.entry_id = e.id
          WHERE o.is_automatic AND e.in_reply_to_id IS NOT NULL GROUP BY 1 HAVING count(*) > 1) x""",
    "each public event has a delivery for each endpoint at most once": """
        SELECT count(*) FROM (SELECT 1 FROM webhooks_webhookdelivery GROUP BY webhook_id, system_event_id, replay_no
          HAVING count(*) > 1) x""",
    "a delivered webhook has a time": """
        SELECT count(*) FROM webhooks_webhookdelivery WHERE (status = 'delivered') <> (delivered_at IS NOT NULL)""",
}


def deep() -> list[Finding]:
    """Recompute every invariant on live data."""
    findings = []
    with in_all_workspaces("the doctor looks at the whole estate"), connection.cursor() as cursor:
        for name, statement in CHECKS.items():
            cursor.execute(statement)
            findings.append(Finding(name, int(cursor.fetchone()[0])))
        findings.append(Finding("no row refers to another workspace", _foreign_references()))
    broken = sum(not audit.verify(owner).holds for owner in audit.chain_owners())
    findings.append(Finding("every audit chain verifies", broken))
    return findings


def _foreign_references() -> int:
    """Over every column that refers to a workspace-owned table, from the models' catalogue."""
    with connection.cursor() as cursor:
        total = 0
        for table, column, target in _references():
            cursor.execute(
                f"SELECT count(*) FROM {table} a JOIN {target} b ON b.id = a.{column}"  # noqa: S608 - names of models
                " WHERE a.workspace_id <> b.workspace_id"
            )
            total += int(cursor.fetchone()[0])
    return total


def _references() -> Iterator[tuple[str, str, str]]:
    owned = {
        model: model._meta.db_table
        for model in apps.get_models()
        if any(field.column == "workspace_id" for field in model._meta.concrete_fields)
    }
    for model, table in owned.items():
        for field in model._meta.concrete_fields:
            if field.is_relation and field.related_model in owned and field.column:
                yield table, field.column, owned[field.related_model]
