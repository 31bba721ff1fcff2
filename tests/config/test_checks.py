"""What a deployment must not start with is said by the check that every command, worker and server runs first."""

import pytest
from django.core.checks import run_checks
from django.core.management import call_command
from django.core.management.base import SystemCheckError


def test_the_settings_of_the_tests_are_in_order():
    assert [error.id for error in run_checks() if (error.id or "").startswith("inbox.")] == []


@pytest.mark.parametrize(("deadline", "is_refused"), [(119.0, False), (120.0, True), (121.0, True)])
def test_a_conversation_ends_before_its_lease_does(settings, deadline, is_refused):
    settings.SEND_LEASE_SECONDS, settings.SEND_DEADLINE_SECONDS = 120.0, deadline
    if not is_refused:
        call_command("check")
        return
    with pytest.raises(SystemCheckError, match=r"inbox\.E003.*SEND_LEASE_SECONDS[\s\S]*Shorten SEND_DEADLINE_SECONDS"):
        call_command("check")
