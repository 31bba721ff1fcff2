"""Where providers hand in mail over HTTP. Proof is in the request itself, so there is no session and no token."""

import logging

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from inbox.services import ses_receiving
from kernel.api.problems import CONTENT_TYPE, document
from kernel.errors import DomainError

logger = logging.getLogger(__name__)


@csrf_exempt
@require_POST
def ses(request: HttpRequest) -> HttpResponse:
    """Amazon SNS posts here. 200 only after mail or news is safe (or was before); a refusal says why, and is logged."""
    try:
        outcome = ses_receiving.receive(request.body, headers=request.headers)
    except DomainError as error:
        logger.warning("an SNS request was refused", extra={"code": error.code, "why": error.detail})
        body = document(status_code=error.status, code=error.code, title=error.title, detail=error.detail)
        return JsonResponse(body, status=error.status, content_type=CONTENT_TYPE)
    return JsonResponse({"status": outcome})
