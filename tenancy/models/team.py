from django.db import models

from tenancy.models.membership import Membership
from tenancy.scoping import WorkspaceOwned


class Team(WorkspaceOwned):
    """People who look after the same inboxes. Where the workspace says so, members see the inboxes of their teams only."""

    name = models.CharField(max_length=60)

    class Meta(WorkspaceOwned.Meta):
        constraints = [models.UniqueConstraint(fields=["workspace", "name"], name="tenancy_one_team_per_name")]

    def __str__(self) -> str:
        return self.name


class TeamMember(WorkspaceOwned):
    """A member of a team. Both ends are paired with the workspace."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="member_links", db_constraint=False, db_index=False)
    membership = models.ForeignKey(Membership, models.CASCADE, related_name="team_links", db_constraint=False)

    class Meta(WorkspaceOwned.Meta):
        constraints = [models.UniqueConstraint(fields=["team", "membership"], name="tenancy_once_in_a_team")]

    def __str__(self) -> str:
        return f"{self.membership_id} in {self.team_id}"


class TeamInbox(WorkspaceOwned):
    """An inbox that a team looks after."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="inbox_links", db_constraint=False, db_index=False)
    # inbox lies above this app: the column is plain here, and the inbox app's migration pairs it with its table.
    inbox_id = models.UUIDField()

    class Meta(WorkspaceOwned.Meta):
        constraints = [models.UniqueConstraint(fields=["team", "inbox_id"], name="tenancy_one_link_per_inbox")]

    def __str__(self) -> str:
        return f"{self.inbox_id} of {self.team_id}"
