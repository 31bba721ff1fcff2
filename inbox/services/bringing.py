"""Bring the bytes of a mail that is accepted, and whose bytes are still where its provider put them."""

import hashlib

from django.db import connection

from inbox.services import ses_receiving
from inbox.services.filing import Claim
from kernel.transactions import in_workspace

# The claim is the fence: a worker whose lease ran out must not write over what another one brought.
_KEEP = """
UPDATE inbox_inboundmessage SET raw = %s, sha256 = %s, size = %s, reason = ''
WHERE id = %s AND lease_token = %s AND state = 'stored'
"""


def bring(claim: Claim, location: str) -> bytes:
    """Fetch the bytes and keep them with their message, before anything reads them. Raises s3.NotFetched."""
    raw = ses_receiving.fetch(location)
    with in_workspace(claim.workspace_id), connection.cursor() as cursor:
        digest = hashlib.sha256(raw).digest()
        cursor.execute(_KEEP, [raw, digest, len(raw), claim.message_id, claim.lease_token])
    return raw
