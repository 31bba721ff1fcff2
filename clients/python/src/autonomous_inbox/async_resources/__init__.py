"""All resources, as attributes of an asynchronous client.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from autonomous_inbox.async_resources.agent_runs import AsyncAgentRunsResource
from autonomous_inbox.async_resources.agents import AsyncAgentsResource
from autonomous_inbox.async_resources.approvals import AsyncApprovalsResource
from autonomous_inbox.async_resources.attachments import AsyncAttachmentsResource
from autonomous_inbox.async_resources.audit_anchors import AsyncAuditAnchorsResource
from autonomous_inbox.async_resources.audit_events import AsyncAuditEventsResource
from autonomous_inbox.async_resources.canned_answers import AsyncCannedAnswersResource
from autonomous_inbox.async_resources.circuit_breakers import AsyncCircuitBreakersResource
from autonomous_inbox.async_resources.client_certificates import AsyncClientCertificatesResource
from autonomous_inbox.async_resources.connections import AsyncConnectionsResource
from autonomous_inbox.async_resources.emails import AsyncEmailsResource
from autonomous_inbox.async_resources.emergency_stop import AsyncEmergencyStopResource
from autonomous_inbox.async_resources.event_types import AsyncEventTypesResource
from autonomous_inbox.async_resources.inboxes import AsyncInboxesResource
from autonomous_inbox.async_resources.invitations import AsyncInvitationsResource
from autonomous_inbox.async_resources.knowledge_passages import AsyncKnowledgePassagesResource
from autonomous_inbox.async_resources.knowledge_sources import AsyncKnowledgeSourcesResource
from autonomous_inbox.async_resources.machine_keys import AsyncMachineKeysResource
from autonomous_inbox.async_resources.members import AsyncMembersResource
from autonomous_inbox.async_resources.provisioning import AsyncProvisioningResource
from autonomous_inbox.async_resources.replies import AsyncRepliesResource
from autonomous_inbox.async_resources.request_log import AsyncRequestLogResource
from autonomous_inbox.async_resources.revoked_client_certificates import AsyncRevokedClientCertificatesResource
from autonomous_inbox.async_resources.revoked_tokens import AsyncRevokedTokensResource
from autonomous_inbox.async_resources.roles import AsyncRolesResource
from autonomous_inbox.async_resources.system_events import AsyncSystemEventsResource
from autonomous_inbox.async_resources.tags import AsyncTagsResource
from autonomous_inbox.async_resources.teams import AsyncTeamsResource
from autonomous_inbox.async_resources.thread_changes import AsyncThreadChangesResource
from autonomous_inbox.async_resources.threads import AsyncThreadsResource
from autonomous_inbox.async_resources.views import AsyncViewsResource
from autonomous_inbox.async_resources.webhook_deliveries import AsyncWebhookDeliveriesResource
from autonomous_inbox.async_resources.webhooks import AsyncWebhooksResource
from autonomous_inbox.async_resources.workspace import AsyncWorkspaceResource
from autonomous_inbox.async_resources.workspace_settings import AsyncWorkspaceSettingsResource
from autonomous_inbox.paging import AsyncSender


class AsyncResources:
    """What an asynchronous client offers."""

    def __init__(self, client: AsyncSender) -> None:
        self.agent_runs = AsyncAgentRunsResource(client)
        self.agents = AsyncAgentsResource(client)
        self.approvals = AsyncApprovalsResource(client)
        self.attachments = AsyncAttachmentsResource(client)
        self.audit_anchors = AsyncAuditAnchorsResource(client)
        self.audit_events = AsyncAuditEventsResource(client)
        self.canned_answers = AsyncCannedAnswersResource(client)
        self.circuit_breakers = AsyncCircuitBreakersResource(client)
        self.client_certificates = AsyncClientCertificatesResource(client)
        self.connections = AsyncConnectionsResource(client)
        self.emails = AsyncEmailsResource(client)
        self.emergency_stop = AsyncEmergencyStopResource(client)
        self.event_types = AsyncEventTypesResource(client)
        self.inboxes = AsyncInboxesResource(client)
        self.invitations = AsyncInvitationsResource(client)
        self.knowledge_passages = AsyncKnowledgePassagesResource(client)
        self.knowledge_sources = AsyncKnowledgeSourcesResource(client)
        self.machine_keys = AsyncMachineKeysResource(client)
        self.members = AsyncMembersResource(client)
        self.provisioning = AsyncProvisioningResource(client)
        self.replies = AsyncRepliesResource(client)
        self.request_log = AsyncRequestLogResource(client)
        self.revoked_client_certificates = AsyncRevokedClientCertificatesResource(client)
        self.revoked_tokens = AsyncRevokedTokensResource(client)
        self.roles = AsyncRolesResource(client)
        self.system_events = AsyncSystemEventsResource(client)
        self.tags = AsyncTagsResource(client)
        self.teams = AsyncTeamsResource(client)
        self.thread_changes = AsyncThreadChangesResource(client)
        self.threads = AsyncThreadsResource(client)
        self.views = AsyncViewsResource(client)
        self.webhook_deliveries = AsyncWebhookDeliveriesResource(client)
        self.webhooks = AsyncWebhooksResource(client)
        self.workspace = AsyncWorkspaceResource(client)
        self.workspace_settings = AsyncWorkspaceSettingsResource(client)
