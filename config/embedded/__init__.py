"""PostgreSQL and Valkey as child processes, for a machine that offers neither.

Nothing in this package imports Django: it runs before the settings are read, because the settings read the
addresses it provides. `config/__init__.py` must stay as free of Django for the same reason.

    services.py    what callers use: `running(...)` and the environment variables it yields
    postgres.py    one file per service: how to prepare it, start it and tell that it answers
    valkey.py
    attach.py      start a service or adopt the one that runs, and let go of it afterwards
    guard.py       the small program between us and every child: nothing outlives those who need it
    supervisor.py  the long-running processes of `manage.py up` and `manage.py demo`
    __main__.py    `bin/with-services`
"""
