from django.db import models

from tenancy.scoping import WorkspaceOwned


class WorkspaceControlState(WorkspaceOwned):
    """Whether anything may leave the workspace: one row of each, made with it by a trigger (S3-52).

    Everything that claims an effect outside notes the generation, which rises at each stop and at each release; what was
    claimed under an earlier one is refused at its effect. It lives here and not in agents, since inbox and webhooks
    ask it in the statement of their claims and lie below agents.
    """

    generation = models.PositiveIntegerField(db_default=1)
    stopped = models.BooleanField(db_default=False)
    reason = models.CharField(max_length=500, blank=True, db_default="")
    actor_kind = models.CharField(max_length=20, blank=True, db_default="")
    actor_id = models.CharField(max_length=80, blank=True, db_default="")
    actor_label = models.CharField(max_length=200, blank=True, db_default="")
    changed_at = models.DateTimeField(null=True, help_text="When it was last stopped or released.")

    class Meta(WorkspaceOwned.Meta):
        constraints = [
            models.UniqueConstraint(fields=["workspace"], name="tenancy_one_control_state"),
            models.CheckConstraint(
                condition=models.Q(stopped=False) | (~models.Q(reason="") & models.Q(changed_at__isnull=False)),
                name="tenancy_stop_has_a_reason",
            ),
        ]
        indexes = [
            # Every claim leaves out what is stopped: mostly nothing.
            models.Index(fields=["workspace"], name="tenancy_stopped", condition=models.Q(stopped=True))
        ]

    def __str__(self) -> str:
        return f"{'stopped' if self.stopped else 'running'}, generation {self.generation}"
