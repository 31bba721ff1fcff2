"""Who is in a conversation in which they never took part, found from the raw mails and nothing that the product noted."""

from email import message_from_bytes
from email.policy import default
from email.utils import getaddresses

from inbox.models import Entry
from kernel.transactions import in_workspace
from tests.factories.world import House

# People move entries on purpose; delivery reports speak of a message, in the name of a machine.
_BY_PEOPLE = frozenset({"merge", "split", "move", "delivery_report", "journal"})


def wrong_persons(place: House) -> list[tuple[str, str]]:
    """Sender and subject of each mail that joined a conversation whose earlier messages neither came from its sender nor
    went to them."""
    with in_workspace(place.id):
        entries = list(
            Entry.objects.select_related("email__inbound_message", "outbound")
            .exclude(direction="internal")
            .order_by("seq")
        )
    known: dict[object, set[str]] = {}
    found = []
    for entry in entries:
        company = known.setdefault(entry.thread_id, set())
        if entry.direction == "outbound":
            company |= set(entry.outbound.envelope_to)
            continue
        sender, others = _people(bytes(entry.email.inbound_message.raw))
        if company and sender not in company and entry.thread_decision.get("rule") not in _BY_PEOPLE:
            found.append((sender, entry.subject))
        company |= {sender, *others}
    return found


def _people(raw: bytes) -> tuple[str, set[str]]:
    message = message_from_bytes(raw, policy=default)

    def addresses(*names: str) -> list[str]:
        values = [str(value) for name in names for value in message.get_all(name, [])]
        return [address.lower() for _, address in getaddresses(values)]

    return next(iter(addresses("from")), ""), set(addresses("to", "cc"))
