"""Words of the desk."""

from django.db.models import TextChoices


class TagColor(TextChoices):
    GREY = "grey"
    BLUE = "blue"
    GREEN = "green"
    AMBER = "amber"
    RED = "red"
    VIOLET = "violet"


class AnnotationKind(TextChoices):
    """What somebody of ours adds to a conversation."""

    NOTE = "note"


# There is one kind of reader for annotations, and a check of the database that there is no other.
INTERNAL = "internal"


class ViewOrder(TextChoices):
    NEWEST = "newest"
    WAITING = "waiting", "longest waiting first"
