"""What the drivers share. They run in the environments of the peers, so nothing of this project is importable."""

import json
import os
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

OUT = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # whatever a peer prints must not get between the answers


def settings(**more: Any) -> dict[str, Any]:
    """The Django settings that all need: this database, no mail, errors only."""
    home = Path(os.environ["BENCH_HOME"])
    return {
        "SECRET_KEY": "bench",
        "DEBUG": False,
        "USE_TZ": True,
        "ALLOWED_HOSTS": ["*"],
        "SITE_ID": 1,
        "DEFAULT_AUTO_FIELD": "django.db.models.AutoField",
        "DATABASES": {
            "default": {
                "ENGINE": "django.db.backends.postgresql",
                "NAME": os.environ["PGDATABASE"],
                "USER": os.environ["PGUSER"],
                "PASSWORD": os.environ.get("PGPASSWORD", ""),
                "HOST": os.environ["PGHOST"],
                "PORT": os.environ["PGPORT"],
            }
        },
        "EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend",
        "CACHES": {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}},
        "MEDIA_ROOT": str(home / "media"),
        "STATIC_ROOT": str(home / "static"),
        "STATIC_URL": "/static/",
        "LOGGING": {"version": 1, "root": {"level": "ERROR", "handlers": []}},
        "TEMPLATES": [
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "APP_DIRS": True,
                "OPTIONS": {
                    "context_processors": [
                        "django.template.context_processors.request",
                        "django.contrib.auth.context_processors.auth",
                        "django.contrib.messages.context_processors.messages",
                    ]
                },
            }
        ],
        **more,
    }


def serve(work: Callable[[bytes], object], rows: Callable[[], int]) -> None:
    """Answer orders: `load` a file of mails, `work` from one index to another, and count what became of them."""
    mails: list[bytes] = []
    _say({"ready": True})
    for line in sys.stdin:
        order = json.loads(line)
        try:
            if order["do"] == "load":
                mails = [raw for *_, raw in pickle.loads(Path(order["path"]).read_bytes())]
                done = len(mails)
            elif order["do"] == "work":
                chosen = mails[order["start"] : order["stop"]]
                for raw in chosen:
                    work(raw)
                done = len(chosen)
            else:
                done = rows()
            _say({"done": done})
        except Exception as error:
            _say({"error": f"{type(error).__name__}: {error}"})


def _say(answer: dict[str, Any]) -> None:
    OUT.write(json.dumps(answer) + "\n")
    OUT.flush()
