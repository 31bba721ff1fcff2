"""What the craft costs: nothing more is asked of the database for it, least of all when mail is handed in."""

from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.api.conftest import Caller

MAIL = {
    "from": {"address": "ada@customer.test"},
    "to": [{"address": "support@acme.test"}],
    "subject": "A question",
    "text": "How are you?",
}


def statements(action) -> list[str]:
    with CaptureQueriesContext(connection) as found:
        assert action().status_code < 300
    return [query["sql"] for query in found]


def warmed(world) -> Caller:
    """A caller whose key has been used in this minute: its first use is noted, and the next ones are not."""
    caller = Caller(world.id)
    noting = [sql for sql in statements(lambda: caller.get("/workspace")) if "last_used_at" in sql]
    assert len(noting) == 1
    assert not [sql for sql in statements(lambda: caller.get("/workspace")) if "last_used_at" in sql]
    return caller


def test_handing_mail_in_costs_what_filing_it_costs(world, settings):
    """With a limit, an entity tag, a request id and the log, and without any of them: the same statements."""
    caller = warmed(world)
    settings.API_RATE_LIMIT = 0
    # The first answer that is kept loads the key that seals it.
    caller("POST", "/emails", MAIL, Idempotency_Key="first")
    bare = statements(lambda: caller("POST", "/emails", MAIL))
    settings.API_RATE_LIMIT = 1_000
    whole = statements(lambda: caller("POST", "/emails", MAIL, X_Request_Id="request-of-mine", If_Match='"x"'))
    # Who calls; and a transaction with its scope around a statement that stores the mail and one that records it.
    assert len(whole) == len(bare) == 6, whole
    keyed = statements(lambda: caller("POST", "/emails", MAIL, Idempotency_Key="once"))
    # The key is asked for with the scope, and its answer kept with the record.
    assert len(keyed) == 6, keyed
    replayed = statements(lambda: caller("POST", "/emails", MAIL, Idempotency_Key="once"))
    assert len(replayed) == 4, replayed


def test_the_answer_to_a_new_mail_is_what_can_be_read_of_it(world):
    """It is made without asking for what was stored just now."""
    caller = Caller(world.id)
    answers = {"plain": caller("POST", "/emails", MAIL).json()}
    answers["noted"] = caller("POST", "/emails", MAIL | {"custom_metadata": {"order": "4711"}}).json()
    for answer in answers.values():
        read = caller.get(f"/emails/{answer['id']}").json()
        assert read == answer


def test_reading_costs_what_it_cost(world):
    """A tag, a condition, a filter and an order add no statement to the reading of one resource or of a list."""
    caller = warmed(world)
    for path, queries in [
        (f"/webhooks/{world.ids['webhooks']}", {"If_None_Match": '"x"'}), (f"/emails/{world.ids['emails']}", {}),
    ]:  # fmt: skip
        plain = statements(lambda path=path: caller.get(path))
        assert len(statements(lambda path=path, queries=queries: caller.get(path, **queries))) == len(plain) <= 8
    plain = statements(lambda: caller.get("/emails"))
    narrowed = statements(
        lambda: caller.get("/emails?state=threaded&sort=created_at&limit=1&created_at__gte=2020-01-01T00:00:00Z")
    )
    assert len(narrowed) == len(plain)
