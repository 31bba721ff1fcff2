"""How the operator console looks. Colours are one restrained indigo on a cool grey; fonts are the reader's own."""

from typing import Any

from django.templatetags.static import static
from django.utils.functional import lazy

_static = lazy(static, str)

UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Autonomous Inbox",
    "SITE_HEADER": "Autonomous Inbox",
    "SITE_URL": None,
    "SITE_SYMBOL": "all_inbox",
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": lambda _: _static("console/icon.svg")}],
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "BORDER_RADIUS": "8px",
    "STYLES": [lambda _: _static("console/console.css"), lambda _: _static("console/pages.css")],
    "SCRIPTS": [lambda _: _static("console/console.js")],
    "SIDEBAR": {
        "show_search": True,
        "command_search": True,
        "navigation": "config.console.navigation.sidebar",
    },
    "COLORS": {
        "base": {
            "50": "oklch(98.4% .003 265)",
            "100": "oklch(96.6% .004 265)",
            "200": "oklch(92.4% .007 265)",
            "300": "oklch(86.6% .011 265)",
            "400": "oklch(71.5% .02 265)",
            "500": "oklch(53.5% .025 265)",
            "600": "oklch(43.5% .026 265)",
            "700": "oklch(36.5% .026 265)",
            "800": "oklch(27% .022 265)",
            "900": "oklch(20.5% .018 265)",
            "950": "oklch(15.5% .016 265)",
        },
        "primary": {
            "50": "oklch(97.2% .014 272)",
            "100": "oklch(94.2% .03 272)",
            "200": "oklch(88.8% .058 272)",
            "300": "oklch(81% .098 272)",
            "400": "oklch(73% .135 272)",
            "500": "oklch(66.5% .155 272)",
            "600": "oklch(51.5% .19 272)",
            "700": "oklch(45.5% .18 272)",
            "800": "oklch(39.5% .15 272)",
            "900": "oklch(34% .12 272)",
            "950": "oklch(25% .09 272)",
        },
    },
}
