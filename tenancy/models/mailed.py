from django.db import models

from tenancy.types import MailState


class Posted(models.Model):
    """A letter to somebody on the staff: the row is its queue, a worker sends it."""

    mail_state = models.CharField(max_length=10, choices=MailState, default=MailState.NONE, editable=False)
    mail_due_at = models.DateTimeField(null=True, editable=False)
    mail_attempts = models.PositiveSmallIntegerField(default=0, editable=False)
    mail_error = models.CharField(max_length=300, blank=True, editable=False)

    class Meta:
        abstract = True


class Mailed(Posted):
    """A link that is mailed to somebody: a secret of which the hash is kept, its end, and the letter's state.

    The secret is made when the letter is: it is in no queue, no task and no row, and each letter has its own.
    """

    token_hash = models.BinaryField(max_length=32, null=True, unique=True, editable=False)
    expires_at = models.DateTimeField(editable=False)

    class Meta:
        abstract = True
