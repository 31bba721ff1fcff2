import uuid

from django.db import models
from django.db.models.functions import Now

from tenancy.models.mailed import Mailed
from tenancy.models.user import User
from tenancy.types import LoginMethod, LoginOutcome


class DeviceSession(models.Model):
    """A browser's session of the console (S3-22). Of a person, not of a workspace: it carries no workspace's label.

    The cookie's value is kept as its SHA-256, and what the session holds is sealed under that value: whoever reads this
    table can neither become the person nor read along.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # None until somebody has signed in: a half-finished sign-in has a session, too.
    user = models.ForeignKey(User, models.CASCADE, null=True, related_name="device_sessions")
    session_hash = models.BinaryField(max_length=32, unique=True, editable=False)
    csrf_hash = models.BinaryField(max_length=32, null=True, editable=False)
    data = models.BinaryField(editable=False)
    device = models.CharField(max_length=100, blank=True, editable=False, help_text="Such as “Firefox on Linux”.")
    user_agent = models.CharField(max_length=400, blank=True, editable=False)
    address = models.CharField(max_length=45, blank=True, editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    signed_in_at = models.DateTimeField(null=True, editable=False)
    last_seen_at = models.DateTimeField(editable=False, help_text="To the minute.")
    expires_at = models.DateTimeField(editable=False, help_text="The end, however busy it is.")
    revoked_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(user=None, signed_in_at=None)
                | models.Q(user__isnull=False, signed_in_at__isnull=False),
                name="tenancy_session_of_a_person_has_a_sign_in",
            )
        ]
        indexes = [
            # The page "Your sessions", and every "sign out the others".
            models.Index(
                fields=["user", "-last_seen_at"],
                condition=models.Q(revoked_at=None),
                name="tenancy_sessions_of_a_person",
            ),
            # Pruning.
            models.Index(fields=["expires_at"], name="tenancy_sessions_by_end"),
        ]

    def __str__(self) -> str:
        return self.device or "unknown device"


class LoginEvent(models.Model):
    """An attempt to sign in, however it ended (S3-23). Append-only; plain values outlive the person (X-8)."""

    at = models.DateTimeField(db_default=Now(), editable=False)
    user_id = models.UUIDField(null=True, editable=False)
    email = models.EmailField(blank=True, editable=False, help_text="As it was typed, in its plain form.")
    outcome = models.CharField(max_length=20, choices=LoginOutcome, editable=False)
    method = models.CharField(max_length=20, choices=LoginMethod, editable=False)
    # Proving again who one is, before a change that matters.
    is_step_up = models.BooleanField(default=False, editable=False)
    address = models.CharField(max_length=45, blank=True, editable=False)
    device = models.CharField(max_length=100, blank=True, editable=False)
    user_agent = models.CharField(max_length=400, blank=True, editable=False)
    request_id = models.CharField(max_length=64, blank=True, editable=False)

    class Meta:
        indexes = [
            # A person's own sign-ins; the list of all; the job that forgets.
            models.Index(fields=["user_id", "-at", "-id"], name="tenancy_logins_of_a_person"),
            models.Index(fields=["-at", "-id"], name="tenancy_logins_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.email or self.user_id}: {self.outcome}"


class ResetToken(Mailed):
    """A wish for a new password (S3-24). The link's secret is kept as its SHA-256, is good once and for a while.

    The row is written for every address that is asked for. Whether it has an account is found out later, by the worker
    that mails the link, so that the answer to who asks can tell nothing, in words or in time.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    email = models.EmailField(editable=False)
    user = models.ForeignKey(User, models.CASCADE, null=True, related_name="+", editable=False)
    used_at = models.DateTimeField(null=True, editable=False)
    address = models.CharField(max_length=45, blank=True, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(token_hash=None) | models.Q(user__isnull=False),
                name="tenancy_reset_token_is_of_a_person",
            )
        ]
        indexes = [
            # The worker that mails.
            models.Index(
                fields=["mail_due_at"],
                condition=models.Q(mail_state__in=["queued", "sending"]),
                name="tenancy_reset_mail_due",
            ),
            # Pruning.
            models.Index(fields=["expires_at"], name="tenancy_resets_by_end"),
        ]

    def __str__(self) -> str:
        return str(self.id)
