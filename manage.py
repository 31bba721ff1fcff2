#!/usr/bin/env python
"""Django's command line. `manage.py up` starts everything; `manage.py doctor` says what is wrong."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.dev")
    from django.core.management import execute_from_command_line

    from config.starting import or_refuse

    with or_refuse():
        execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
