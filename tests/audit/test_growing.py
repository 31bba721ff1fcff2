"""A chain is verified while its workspace is at work."""

import threading
from uuid import uuid4

from django.db import connections

from audit import queries
from tests.audit.test_chain import act


def test_a_chain_that_grows_while_it_is_verified_holds(db):
    """A busy workspace is never quiet: what is added meanwhile is no cut and no other head."""
    house = uuid4()
    act(house)
    ended, failures = threading.Event(), []

    def write() -> None:
        try:
            while not ended.is_set():
                act(house)
        except Exception as error:
            failures.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=write) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        verdicts = [queries.verify(house) for _ in range(25)]
    finally:
        ended.set()
        for thread in threads:
            thread.join()
    assert failures == []
    assert [(verdict.first_bad, verdict.fault) for verdict in verdicts if not verdict.holds] == []
    assert verdicts[-1].checked > verdicts[0].checked
