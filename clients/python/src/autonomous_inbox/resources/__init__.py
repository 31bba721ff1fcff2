"""All resources, as attributes of a client.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from autonomous_inbox.paging import Sender
from autonomous_inbox.resources.agent_runs import AgentRunsResource
from autonomous_inbox.resources.agents import AgentsResource
from autonomous_inbox.resources.approvals import ApprovalsResource
from autonomous_inbox.resources.attachments import AttachmentsResource
from autonomous_inbox.resources.audit_anchors import AuditAnchorsResource
from autonomous_inbox.resources.audit_events import AuditEventsResource
from autonomous_inbox.resources.canned_answers import CannedAnswersResource
from autonomous_inbox.resources.circuit_breakers import CircuitBreakersResource
from autonomous_inbox.resources.client_certificates import ClientCertificatesResource
from autonomous_inbox.resources.connections import ConnectionsResource
from autonomous_inbox.resources.emails import EmailsResource
from autonomous_inbox.resources.emergency_stop import EmergencyStopResource
from autonomous_inbox.resources.event_types import EventTypesResource
from autonomous_inbox.resources.inboxes import InboxesResource
from autonomous_inbox.resources.invitations import InvitationsResource
from autonomous_inbox.resources.knowledge_passages import KnowledgePassagesResource
from autonomous_inbox.resources.knowledge_sources import KnowledgeSourcesResource
from autonomous_inbox.resources.machine_keys import MachineKeysResource
from autonomous_inbox.resources.members import MembersResource
from autonomous_inbox.resources.provisioning import ProvisioningResource
from autonomous_inbox.resources.replies import RepliesResource
from autonomous_inbox.resources.request_log import RequestLogResource
from autonomous_inbox.resources.revoked_client_certificates import RevokedClientCertificatesResource
from autonomous_inbox.resources.revoked_tokens import RevokedTokensResource
from autonomous_inbox.resources.roles import RolesResource
from autonomous_inbox.resources.system_events import SystemEventsResource
from autonomous_inbox.resources.tags import TagsResource
from autonomous_inbox.resources.teams import TeamsResource
from autonomous_inbox.resources.thread_changes import ThreadChangesResource
from autonomous_inbox.resources.threads import ThreadsResource
from autonomous_inbox.resources.views import ViewsResource
from autonomous_inbox.resources.webhook_deliveries import WebhookDeliveriesResource
from autonomous_inbox.resources.webhooks import WebhooksResource
from autonomous_inbox.resources.workspace import WorkspaceResource
from autonomous_inbox.resources.workspace_settings import WorkspaceSettingsResource


class Resources:
    """What a client offers."""

    def __init__(self, client: Sender) -> None:
        self.agent_runs = AgentRunsResource(client)
        self.agents = AgentsResource(client)
        self.approvals = ApprovalsResource(client)
        self.attachments = AttachmentsResource(client)
        self.audit_anchors = AuditAnchorsResource(client)
        self.audit_events = AuditEventsResource(client)
        self.canned_answers = CannedAnswersResource(client)
        self.circuit_breakers = CircuitBreakersResource(client)
        self.client_certificates = ClientCertificatesResource(client)
        self.connections = ConnectionsResource(client)
        self.emails = EmailsResource(client)
        self.emergency_stop = EmergencyStopResource(client)
        self.event_types = EventTypesResource(client)
        self.inboxes = InboxesResource(client)
        self.invitations = InvitationsResource(client)
        self.knowledge_passages = KnowledgePassagesResource(client)
        self.knowledge_sources = KnowledgeSourcesResource(client)
        self.machine_keys = MachineKeysResource(client)
        self.members = MembersResource(client)
        self.provisioning = ProvisioningResource(client)
        self.replies = RepliesResource(client)
        self.request_log = RequestLogResource(client)
        self.revoked_client_certificates = RevokedClientCertificatesResource(client)
        self.revoked_tokens = RevokedTokensResource(client)
        self.roles = RolesResource(client)
        self.system_events = SystemEventsResource(client)
        self.tags = TagsResource(client)
        self.teams = TeamsResource(client)
        self.thread_changes = ThreadChangesResource(client)
        self.threads = ThreadsResource(client)
        self.views = ViewsResource(client)
        self.webhook_deliveries = WebhookDeliveriesResource(client)
        self.webhooks = WebhooksResource(client)
        self.workspace = WorkspaceResource(client)
        self.workspace_settings = WorkspaceSettingsResource(client)
