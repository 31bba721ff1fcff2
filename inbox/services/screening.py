"""Ask the installation's scanner about a whole mail before it is filed: body, attachments and what is packed in them."""

from dataclasses import replace
from uuid import UUID

from files.services import scanning
from inbox.models import Email, InboundMessage
from inbox.services.filing import Claim
from kernel.transactions import in_workspace


def screen(claim: Claim, raw: bytes) -> Claim:
    """The claim with the scanner's verdict, as `virus`, beside those that came with the mail. Without a scanner: as it is.

    A mail that the scanner could not judge is filed with its files held back, until they are scanned one by one.
    """
    found = scanning.ask(raw)
    if found is None:
        return claim
    condemned = bool(found) or str(claim.verdicts.get("virus", "")).upper() == "FAIL"
    verdict = {"virus": "FAIL" if condemned else "PASS"} | ({"virus_name": found} if found else {})
    if any(claim.verdicts.get(name) != value for name, value in verdict.items()):
        _keep(claim.workspace_id, claim.message_id, claim.verdicts | verdict)
    return replace(claim, verdicts=claim.verdicts | verdict, is_clean=not condemned)


def _keep(workspace_id: UUID, message_id: UUID, verdicts: dict[str, object]) -> None:
    with in_workspace(workspace_id):
        InboundMessage.objects.filter(id=message_id).update(verdicts=verdicts)
        Email.objects.filter(inbound_message_id=message_id).update(verdicts=verdicts)
