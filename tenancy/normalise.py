"""One form for what people type in many."""

import unicodedata


def email(text: str) -> str:
    """An address as it is kept and looked up: compatibility forms and capitals folded, no space around it.

    Whatever reaches an account has been through here, so every spelling that reaches it shares its counters.
    """
    return unicodedata.normalize("NFKC", text).strip().lower()
