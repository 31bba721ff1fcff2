"""The look at a connection before a request: one that lives is used, one that the server has closed is not."""

import time

import psycopg
from django.conf import settings
from django.db import connection


def test_a_connection_that_the_server_has_closed_is_seen(db):
    connection.ensure_connection()
    assert connection.is_usable()
    with psycopg.connect(settings.DATABASE_URL, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [connection.connection.info.backend_pid])
    ends = time.monotonic() + 10
    while connection.is_usable():
        assert time.monotonic() < ends, "a closed connection passes for a living one"
        time.sleep(0.01)
    connection.close()
    assert connection.ensure_connection() is None
    assert connection.is_usable()
