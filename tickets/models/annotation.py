from django.contrib.postgres.fields import ArrayField
from django.db import models

from tenancy.scoping import WorkspaceOwned
from tickets.types import INTERNAL, AnnotationKind

# Its place in the conversation, from the sequence that orders entries; taken under the thread's lock like theirs.
NEXT_SEQ = models.Func(models.Value("inbox_entry_seq"), function="nextval", output_field=models.BigIntegerField())


class Annotation(WorkspaceOwned):
    """What one of us adds to a conversation for colleagues: a note, with those whom it mentions.

    It is no entry, so nothing that sends, quotes or shows entries can reach it; and the database knows one audience only.
    """

    kind = models.CharField(max_length=8, choices=AnnotationKind, default=AnnotationKind.NOTE)
    thread = models.ForeignKey(
        "inbox.Thread", models.PROTECT, related_name="annotations", db_constraint=False, db_index=False
    )
    entry = models.ForeignKey(
        "inbox.Entry", models.CASCADE, null=True, related_name="+", db_constraint=False, db_index=False
    )
    seq = models.BigIntegerField(unique=True, editable=False, db_default=NEXT_SEQ)
    body = models.TextField()
    mentions = ArrayField(models.UUIDField(), default=list, help_text="Memberships.")
    visibility = models.CharField(max_length=8, default=INTERNAL, editable=False)
    author_kind = models.CharField(max_length=20)
    author_id = models.CharField(max_length=80, blank=True)
    author_label = models.TextField(blank=True)

    class Meta(WorkspaceOwned.Meta):
        constraints = [
            models.CheckConstraint(
                condition=models.Q(visibility=INTERNAL), name="tickets_annotation_never_customer_visible"
            ),
            models.CheckConstraint(condition=~models.Q(body=""), name="tickets_annotation_says_something"),
        ]
        indexes = [
            # A conversation's notes in order, and those of its messages.
            models.Index(fields=["thread", "seq"], name="tickets_annotation_order"),
            models.Index(fields=["entry"], name="tickets_annotation_of_entry", condition=models.Q(entry__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.author_label}"
