from django.db import models


class ThreadCount(models.Model):
    """How many conversations there are of each kind, so that no page counts them.

    Triggers on conversations and labels add a row with +1 or -1 (an insert waits for nobody, an update of one counter
    would make every mail of an inbox wait for the one before); a task folds them. A count is the sum of its rows.
    Rows without a label count conversations, rows with one count those that bear it.
    """

    workspace_id = models.UUIDField()
    inbox_id = models.UUIDField()
    status = models.CharField(max_length=8)
    assignee_id = models.UUIDField(null=True)
    unanswered = models.BooleanField()
    tag_id = models.UUIDField(null=True)
    threads = models.BigIntegerField()

    class Meta:
        # The sums of a view: few columns, so that they are read from the index alone.
        indexes = [
            models.Index(
                fields=["workspace_id", "tag_id", "status"],
                include=["inbox_id", "assignee_id", "unanswered", "threads"],
                name="tickets_count_sums",
            )
        ]

    def __str__(self) -> str:
        return f"{self.threads:+} {self.status}"
