"""The operator console."""

from unfold.sites import UnfoldAdminSite


class Console(UnfoldAdminSite):
    site_title = "Autonomous Inbox"
    site_header = "Autonomous Inbox"
    index_title = "Home"
