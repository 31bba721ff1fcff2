"""Small marks that every list and page shares: when something happened, which state it is in, how big it is."""

from datetime import datetime

from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from kernel import clock

_STEPS = (
    (60, "s", 1),
    (3600, "min", 60),
    (86400, "h", 3600),
    (86400 * 30, "d", 86400),
    (86400 * 365, "mo", 86400 * 30),
)

# What a state means to the person who looks: done, going on, to be looked at, wrong, or neither.
_TONES = {
    "ok": "sent handled delivered succeeded done active approved consumed executed verified clean accepted allow low applied",
    "busy": "queued sending pending delivering running executing stored received parsed threaded waiting_effect invited",
    "warn": "waiting_approval ask uncertain snoozed needs_human paused medium expired waiting loop_suspected draft delayed soft_bounced soft_bounce",
    "bad": "failed quarantined rejected disabled infected denied deny blocked high suspended bounced complained bounce complaint spam virus",
}
TONE_OF = {word: tone for tone, words in _TONES.items() for word in words.split()}


def words(state: str) -> str:
    """A state as people read it."""
    return state.replace("_", " ").replace(".", " ")


def chip(state: str, label: str = "", *, tone: str = "") -> SafeString:
    """A coloured label; the colour repeats what the word says and never says it alone."""
    if not state:
        return SafeString("")
    return format_html('<span class="c-chip c-{}">{}</span>', tone or TONE_OF.get(state, "mute"), label or words(state))


def distance(moment: datetime, now: datetime) -> str:
    """`3 h ago`, `in 2 d`."""
    seconds = (now - moment).total_seconds()
    size = abs(seconds)
    if size < 45:
        return "just now" if seconds >= 0 else "in a moment"
    for limit, unit, step in _STEPS:
        if size < limit:
            text = f"{round(size / step)} {unit}"
            break
    else:
        text = f"{round(size / 86400 / 365)} y"
    return f"{text} ago" if seconds >= 0 else f"in {text}"


def ago(moment: datetime | None) -> SafeString:
    """A relative time with the exact one in its title; the page's script keeps it fresh."""
    if moment is None:
        return SafeString('<span class="c-none">–</span>')
    exact = timezone.localtime(moment).strftime("%A, %-d %B %Y, %H:%M:%S %Z")
    return format_html(
        '<time class="c-time" datetime="{}" title="{}">{}</time>',
        moment.isoformat(),
        exact,
        distance(moment, clock.now()),
    )


def size(count: int | None) -> str:
    """Bytes as people read them."""
    value = float(count or 0)
    for unit in ("B", "KB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def money(micros: int | None) -> str:
    """Millionths of a US dollar."""
    value = (micros or 0) / 1_000_000
    if value == 0:
        return "$0"
    return f"${value:.2f}" if value >= 1 else f"${value:.4f}"
