"""The Date field (RFC 5322 §3.3 and the obsolete forms of §4.3) as an aware UTC time, or None."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_MONTHS = {
    name: number
    for number, name in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1
    )
}
_ZONES = {"ut": 0, "utc": 0, "gmt": 0, "z": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6,
          "pst": -8, "pdt": -7, "bst": 1, "wet": 0, "west": 1, "cet": 1, "cest": 2, "met": 1, "mest": 2, "eet": 2,
          "eest": 3, "msk": 3, "ist": 5.5, "jst": 9, "kst": 9, "hkt": 8, "aest": 10, "aedt": 11, "nzst": 12}  # fmt: skip
_CLOCK = r"(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?(?:\.\d+)?\s*([AaPp][Mm])?"
_ZONE = r"\s*(?:(?:GMT|UTC)?([+-]\d{1,2}:?\d{2})|([A-Za-z]{1,5}))?"
_USUAL = re.compile(
    rf"(?:[A-Za-z]+\.?\s*,?\s*)?(\d{{1,2}})[\s-]+([A-Za-z]{{3}})[a-z]*\.?,?[\s-]+(\d{{2,4}})[\s,]+{_CLOCK}{_ZONE}"
)
_UNIX = re.compile(
    rf"[A-Za-z]{{3,9}},?\s+([A-Za-z]{{3}})[a-z]*\s+(\d{{1,2}}),?\s+{_CLOCK}\s+(?:([A-Z]{{1,5}})\s+)?(\d{{4}})"
)
_ISO = re.compile(rf"(\d{{4}})-(\d{{2}})-(\d{{2}})[T\s]+{_CLOCK}{_ZONE}")
_MAX_FIELD = 200
_NOON = 12
_CENTURY = 100
_PIVOT = 50
_CLOSE_TO_END = 60


def parse_date(value: str) -> datetime | None:
    """An impossible or missing date is None: the time of receipt is then the better answer."""
    text = value[:_MAX_FIELD].strip()
    match = _USUAL.match(text)
    if match is not None:
        day, month, year, *clock = match.groups()
        return _moment(year, _MONTHS.get(month.lower(), 0), day, clock)
    match = _ISO.match(text)
    if match is not None:
        year, number, day, *clock = match.groups()
        return _moment(year, int(number), day, clock)
    match = _UNIX.match(text)
    if match is not None:
        month, day, hour, minute, second, half, zone, year = match.groups()
        return _moment(year, _MONTHS.get(month.lower(), 0), day, [hour, minute, second, half, None, zone])
    return None


def _moment(year: str, month: int, day: str, clock: list[str | None]) -> datetime | None:
    hour, minute, second, half, offset, zone = clock
    hours = int(hour or 0)
    if half:
        hours = hours % _NOON + (_NOON if half.lower() == "pm" else 0)
    try:
        local = datetime(_year(year), month, int(day), hours, int(minute or 0), min(int(second or 0), 59), tzinfo=UTC)
        return local - _offset(offset, zone)
    except (ValueError, OverflowError):
        return None


def _year(text: str) -> int:
    """Two and three digits as RFC 5322 §4.3 says: 00-49 are 2000 on, 50-999 are 1900 on."""
    year = int(text)
    if len(text) < 4:
        year += 2000 if year < _PIVOT else 1900
    return year


def _offset(numeric: str | None, name: str | None) -> timedelta:
    """`-0000` and unknown names are UTC (RFC 5322 §4.3)."""
    if numeric:
        digits = numeric[1:].replace(":", "").zfill(4)
        minutes = int(digits[:2]) * 60 + int(digits[2:])
        if minutes >= _CLOSE_TO_END * 24:
            return timedelta()
        return timedelta(minutes=-minutes if numeric[0] == "-" else minutes)
    return timedelta(hours=_ZONES.get((name or "").lower(), 0))
