"""All resources, as attributes of a client.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from autonomous_inbox.paging import AsyncSender, Sender
from autonomous_inbox.resources.agent_runs import AgentRunsResource, AsyncAgentRunsResource
from autonomous_inbox.resources.agents import AgentsResource, AsyncAgentsResource
from autonomous_inbox.resources.approvals import ApprovalsResource, AsyncApprovalsResource
from autonomous_inbox.resources.attachments import AsyncAttachmentsResource, AttachmentsResource
from autonomous_inbox.resources.client_certificates import AsyncClientCertificatesResource, ClientCertificatesResource
from autonomous_inbox.resources.emails import AsyncEmailsResource, EmailsResource
from autonomous_inbox.resources.event_types import AsyncEventTypesResource, EventTypesResource
from autonomous_inbox.resources.inboxes import AsyncInboxesResource, InboxesResource
from autonomous_inbox.resources.knowledge_passages import AsyncKnowledgePassagesResource, KnowledgePassagesResource
from autonomous_inbox.resources.knowledge_sources import AsyncKnowledgeSourcesResource, KnowledgeSourcesResource
from autonomous_inbox.resources.machine_keys import AsyncMachineKeysResource, MachineKeysResource
from autonomous_inbox.resources.provisioning import AsyncProvisioningResource, ProvisioningResource
from autonomous_inbox.resources.replies import AsyncRepliesResource, RepliesResource
from autonomous_inbox.resources.request_log import AsyncRequestLogResource, RequestLogResource
from autonomous_inbox.resources.revoked_client_certificates import (
    AsyncRevokedClientCertificatesResource,
    RevokedClientCertificatesResource,
)
from autonomous_inbox.resources.revoked_tokens import AsyncRevokedTokensResource, RevokedTokensResource
from autonomous_inbox.resources.system_events import AsyncSystemEventsResource, SystemEventsResource
from autonomous_inbox.resources.threads import AsyncThreadsResource, ThreadsResource
from autonomous_inbox.resources.webhook_deliveries import AsyncWebhookDeliveriesResource, WebhookDeliveriesResource
from autonomous_inbox.resources.webhooks import AsyncWebhooksResource, WebhooksResource
from autonomous_inbox.resources.workspace import AsyncWorkspaceResource, WorkspaceResource


class Resources:
    """What a client offers."""

    def __init__(self, client: Sender) -> None:
        self.agent_runs = AgentRunsResource(client)
        self.agents = AgentsResource(client)
        self.approvals = ApprovalsResource(client)
        self.attachments = AttachmentsResource(client)
        self.client_certificates = ClientCertificatesResource(client)
        self.emails = EmailsResource(client)
        self.event_types = EventTypesResource(client)
        self.inboxes = InboxesResource(client)
        self.knowledge_passages = KnowledgePassagesResource(client)
        self.knowledge_sources = KnowledgeSourcesResource(client)
        self.machine_keys = MachineKeysResource(client)
        self.provisioning = ProvisioningResource(client)
        self.replies = RepliesResource(client)
        self.request_log = RequestLogResource(client)
        self.revoked_client_certificates = RevokedClientCertificatesResource(client)
        self.revoked_tokens = RevokedTokensResource(client)
        self.system_events = SystemEventsResource(client)
        self.threads = ThreadsResource(client)
        self.webhook_deliveries = WebhookDeliveriesResource(client)
        self.webhooks = WebhooksResource(client)
        self.workspace = WorkspaceResource(client)


class AsyncResources:
    """What an asynchronous client offers."""

    def __init__(self, client: AsyncSender) -> None:
        self.agent_runs = AsyncAgentRunsResource(client)
        self.agents = AsyncAgentsResource(client)
        self.approvals = AsyncApprovalsResource(client)
        self.attachments = AsyncAttachmentsResource(client)
        self.client_certificates = AsyncClientCertificatesResource(client)
        self.emails = AsyncEmailsResource(client)
        self.event_types = AsyncEventTypesResource(client)
        self.inboxes = AsyncInboxesResource(client)
        self.knowledge_passages = AsyncKnowledgePassagesResource(client)
        self.knowledge_sources = AsyncKnowledgeSourcesResource(client)
        self.machine_keys = AsyncMachineKeysResource(client)
        self.provisioning = AsyncProvisioningResource(client)
        self.replies = AsyncRepliesResource(client)
        self.request_log = AsyncRequestLogResource(client)
        self.revoked_client_certificates = AsyncRevokedClientCertificatesResource(client)
        self.revoked_tokens = AsyncRevokedTokensResource(client)
        self.system_events = AsyncSystemEventsResource(client)
        self.threads = AsyncThreadsResource(client)
        self.webhook_deliveries = AsyncWebhookDeliveriesResource(client)
        self.webhooks = AsyncWebhooksResource(client)
        self.workspace = AsyncWorkspaceResource(client)
