"""The console's base classes, and the pages of the plumbing."""

from kernel.admin import plumbing as plumbing
