"""What the demo's people have on their desk: labels, canned answers, a view."""

from uuid import UUID

from kernel.transactions import in_workspace
from tickets.models import CannedAnswer, SavedView, Tag
from tickets.services import answering, tagging, viewing

_LABELS = {"Refund": "amber", "Shipping": "blue", "Bug": "red", "Invoice": "green"}
_ANSWERS = {
    "Thank you": "Hello {name},\n\nthank you for writing about “{subject}”. We look into it and come back to you today.\n\n{me}",
    "Order number": "Hello {name},\n\nplease tell us your order number, so that we can look.\n\n{me}",
}


def furnish(workspace_id: UUID) -> None:
    """Put them there, once."""
    with in_workspace(workspace_id):
        labels = set(Tag.objects.values_list("name", flat=True))
        answers = set(CannedAnswer.objects.values_list("name", flat=True))
        has_view = SavedView.objects.exists()
    for name, color in _LABELS.items():
        if name not in labels:
            tagging.create(workspace_id=workspace_id, name=name, color=color)
    for name, text in _ANSWERS.items():
        if name not in answers:
            answering.create(workspace_id=workspace_id, name=name, text=text)
    if not has_view:
        viewing.create(
            workspace_id=workspace_id,
            name="Longest waiting",
            filter={"status": "open", "unanswered": True},
            sort="waiting",
        )
