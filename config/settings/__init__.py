"""Settings: `base` and `limits` for all, `dev` makes what a machine without configuration needs, `production` refuses.

A start makes some hundred thousand objects that stay. Looking for garbage among them takes a seventh of its time, so the
collector rests from here until the applications are ready (`config/apps.py`).
"""

import gc

gc.disable()
