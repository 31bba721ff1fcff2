"""Who wrote a mail, as it was filed: From, or the Reply-To of mail that came through an address of ours."""

from inbox.mime.through_us import WRITTEN_THROUGH_US
from inbox.models import Email

# What is read of a mail to tell.
FIELDS = ("from_name", "from_address", "reply_to", "class_reason")


def of(email: Email) -> tuple[str, str]:
    """Name and address."""
    if email.class_reason == WRITTEN_THROUGH_US:
        for item in email.reply_to:
            if "@" in item["address"]:
                return item["name"], item["address"]
    return email.from_name, email.from_address
