"""What the lists of credentials may be narrowed by."""

from typing import Any

from django.db.models import Q, QuerySet
from django_filters import CharFilter, ChoiceFilter

from kernel import clock
from kernel.api.filters import Changeable, Filters
from tenancy.types import CredentialState, InvitationState


class CredentialFilters(Changeable):
    """A state follows from times; `end` is the column that holds the end."""

    end = "expires_at"
    state = ChoiceFilter(method="of_state", choices=[(value, value) for value in CredentialState.values])

    def of_state(self, rows: "QuerySet[Any]", _name: str, state: str) -> "QuerySet[Any]":
        """As the credential's own `state` says it."""
        if state == CredentialState.REVOKED:
            return rows.filter(revoked_at__isnull=False)
        ended = Q(**{f"{self.end}__lte": clock.now()})
        # A negation of the comparison, so that what has no end has not ended.
        return rows.filter(ended if state == CredentialState.EXPIRED else ~ended, revoked_at=None)


class CertificateFilters(CredentialFilters):
    end = "not_after"


class DenialFilters(Filters):
    serial = CharFilter("serial", max_length=64, help_text="In lower-case hex.")


class TokenFilters(Filters):
    jti = CharFilter("jti", max_length=80, help_text="Whether this one is revoked.")


class MemberFilters(Changeable):
    status = ChoiceFilter("status", choices=[(value, value) for value in ("active", "suspended")])
    email = CharFilter("user__email", max_length=254, help_text="Exactly this address.")


class InvitationFilters(Changeable):
    """A state follows from times."""

    state = ChoiceFilter(method="of_state", choices=[(value, value) for value in InvitationState.values])
    email = CharFilter("email", max_length=254, help_text="Exactly this address.")

    def of_state(self, rows: "QuerySet[Any]", _name: str, state: str) -> "QuerySet[Any]":
        """As the invitation's own `state` says it."""
        if state == InvitationState.ACCEPTED:
            return rows.filter(accepted_at__isnull=False)
        if state == InvitationState.REVOKED:
            return rows.filter(revoked_at__isnull=False)
        over = Q(expires_at__lte=clock.now())
        return rows.filter(over if state == InvitationState.EXPIRED else ~over, accepted_at=None, revoked_at=None)


class RoleFilters(Changeable):
    name = CharFilter("name", max_length=60, help_text="Exactly this name.")
