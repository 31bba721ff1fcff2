"""Pages of the console."""

from tickets.admin import desk

__all__ = ["desk"]
