"""What the API takes and gives. Times are text in ISO 8601.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from autonomous_inbox.types.agent_runs import (
    Decision,
    ExecutionStatus,
    Intent,
    IntentStatus,
    Run,
    RunDetail,
    Step,
    StepKind,
    StepStatus,
)
from autonomous_inbox.types.agents import Agent, AgentStatus, Autonomy
from autonomous_inbox.types.audit_anchors import AuditAnchor
from autonomous_inbox.types.audit_events import AuditActor, AuditEvent, AuditVerification, Outcome
from autonomous_inbox.types.circuit_breakers import CircuitBreaker, Scope
from autonomous_inbox.types.client_certificates import Certificate
from autonomous_inbox.types.connections import Connection, ConnectionState, Provider
from autonomous_inbox.types.emails import (
    Address,
    CorrespondentInput,
    Email,
    EmailState,
    MailClass,
    ReparseChange,
    Reparsed,
)
from autonomous_inbox.types.event_types import EventType
from autonomous_inbox.types.inboxes import Inbox, InboxConnection, InboxKind
from autonomous_inbox.types.invitations import Invitation, InvitationState, InvitationWithLink, Inviter, MailState
from autonomous_inbox.types.knowledge_passages import Passage
from autonomous_inbox.types.knowledge_sources import Knowledge, KnowledgeDetail
from autonomous_inbox.types.machine_keys import MachineKey, MachineKeyWithSecret, RevokedKeys
from autonomous_inbox.types.members import Member, MemberStatus
from autonomous_inbox.types.replies import Reply, ReplyStatus
from autonomous_inbox.types.request_log import Request
from autonomous_inbox.types.revoked_client_certificates import Denial
from autonomous_inbox.types.revoked_tokens import Cutoff, RevokedToken
from autonomous_inbox.types.roles import Role, RoleLink
from autonomous_inbox.types.shared import (
    Answer,
    Approval,
    ApprovalState,
    Attachment,
    ChangedBy,
    Color,
    CredentialState,
    Delivery,
    DeliveryStatus,
    Issuer,
    Note,
    Problem,
    Risk,
    RoleName,
    Stop,
    Tag,
    ThreadChange,
    ThreadChangeKind,
    Workspace,
)
from autonomous_inbox.types.system_events import Event
from autonomous_inbox.types.teams import Team
from autonomous_inbox.types.threads import (
    Blank,
    Confidence,
    Entry,
    Placement,
    Recipient,
    RecipientState,
    Rule,
    Thread,
    ThreadStatus,
    ThreadTags,
    ThreadUpdateStatus,
)
from autonomous_inbox.types.views import ListedThread, Sort, View
from autonomous_inbox.types.webhook_deliveries import Attempt, DeliveryDetail
from autonomous_inbox.types.webhooks import (
    DeliveryCounts,
    Enabled,
    Percentiles,
    Replay,
    Resolution,
    Statistics,
    StatisticsStep,
    Waiting,
    Webhook,
    WebhookState,
    WebhookWithSecret,
)
from autonomous_inbox.types.workspace_settings import Settings

__all__ = [
    "Address",
    "Agent",
    "AgentStatus",
    "Answer",
    "Approval",
    "ApprovalState",
    "Attachment",
    "Attempt",
    "AuditActor",
    "AuditAnchor",
    "AuditEvent",
    "AuditVerification",
    "Autonomy",
    "Blank",
    "Certificate",
    "ChangedBy",
    "CircuitBreaker",
    "Color",
    "Confidence",
    "Connection",
    "ConnectionState",
    "CorrespondentInput",
    "CredentialState",
    "Cutoff",
    "Decision",
    "Delivery",
    "DeliveryCounts",
    "DeliveryDetail",
    "DeliveryStatus",
    "Denial",
    "Email",
    "EmailState",
    "Enabled",
    "Entry",
    "Event",
    "EventType",
    "ExecutionStatus",
    "Inbox",
    "InboxConnection",
    "InboxKind",
    "Intent",
    "IntentStatus",
    "Invitation",
    "InvitationState",
    "InvitationWithLink",
    "Inviter",
    "Issuer",
    "Knowledge",
    "KnowledgeDetail",
    "ListedThread",
    "MachineKey",
    "MachineKeyWithSecret",
    "MailClass",
    "MailState",
    "Member",
    "MemberStatus",
    "Note",
    "Outcome",
    "Passage",
    "Percentiles",
    "Placement",
    "Problem",
    "Provider",
    "Recipient",
    "RecipientState",
    "ReparseChange",
    "Reparsed",
    "Replay",
    "Reply",
    "ReplyStatus",
    "Request",
    "Resolution",
    "RevokedKeys",
    "RevokedToken",
    "Risk",
    "Role",
    "RoleLink",
    "RoleName",
    "Rule",
    "Run",
    "RunDetail",
    "Scope",
    "Settings",
    "Sort",
    "Statistics",
    "StatisticsStep",
    "Step",
    "StepKind",
    "StepStatus",
    "Stop",
    "Tag",
    "Team",
    "Thread",
    "ThreadChange",
    "ThreadChangeKind",
    "ThreadStatus",
    "ThreadTags",
    "ThreadUpdateStatus",
    "View",
    "Waiting",
    "Webhook",
    "WebhookState",
    "WebhookWithSecret",
    "Workspace",
]
