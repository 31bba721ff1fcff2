"""The API's description, made once for each process: it depends on the code alone."""

from functools import cache

import orjson
from django.http import HttpRequest, HttpResponse


@cache
def _document() -> bytes:
    from drf_spectacular.generators import SchemaGenerator

    return orjson.dumps(SchemaGenerator().get_schema(request=None, public=True))  # type: ignore[no-untyped-call]


def schema(_request: HttpRequest) -> HttpResponse:
    """OpenAPI 3.1 in JSON."""
    return HttpResponse(_document(), content_type="application/json")


SPECTACULAR_SETTINGS = {
    "TITLE": "Autonomous Inbox",
    "DESCRIPTION": "Mail in, governed agents, replies out. Errors are RFC 9457 problems; lists are keyset pages.",
    "VERSION": "1.0.0",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": [],
    "SCHEMA_PATH_PREFIX": r"/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": ["drf_spectacular.hooks.postprocess_schema_enums", "kernel.api.components.add"],
    "APPEND_COMPONENTS": {
        "securitySchemes": {
            "provisioning": {
                "type": "http",
                "scheme": "bearer",
                "description": "PROVISIONING_TOKEN of the installation, for the account system alone.",
            }
        }
    },
    "ENUM_NAME_OVERRIDES": {
        "EmailState": "inbox.types.EmailState",
        "MailClass": "inbox.types.MailClass",
        "ThreadStatus": "inbox.types.ThreadStatus",
        "AgentStatus": "agents.types.AgentStatus",
        "ExecutionStatus": "agents.types.ExecutionStatus",
        "StepStatus": "agents.types.StepStatus",
        "IntentStatus": "agents.types.IntentStatus",
        "ApprovalState": "agents.types.ApprovalState",
        "WebhookState": "webhooks.types.WebhookState",
        "DeliveryStatus": "webhooks.types.DeliveryStatus",
        "WorkspaceStatus": "tenancy.types.WorkspaceStatus",
        "CredentialState": "tenancy.types.CredentialState",
        "InvitationState": "tenancy.types.InvitationState",
        "MailState": "tenancy.types.MailState",
    },
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}
