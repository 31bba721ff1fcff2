"""`make bench`: our figures beside those of peers and of what PostgreSQL itself can do, in interleaved rounds.

Ratios are what counts; absolute figures belong to the machine. Goals and their reasons: docs/performance.md.
"""
