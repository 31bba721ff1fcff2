"""What webhooks listen to: every fact, of which they publish the public ones."""

from collections.abc import Sequence

from kernel import outbox
from kernel.claims import Delivered
from webhooks.services import dispatching


@outbox.consume(name="webhooks.publish", batch=True, has_receipts=False)
def publish(events: Sequence[Delivered]) -> None:
    """Give integrators the public facts."""
    dispatching.publish(events=events)
