"""What a text names that people act on: links, addresses, accounts, telephone numbers, amounts, percentages. Pure.

An answer may name only what the company's own texts name. So the two are compared by what is meant and not by how it is
spelt: numbers by their digits, amounts by currency and value, both also when they are in words, hosts by their labels. A
list of spellings would always lack the one that a stranger thinks of; what is left out here is what is known to be
harmless: short numbers, times, dates.
"""

import itertools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from agents.normalise import visible
from agents.number_words import dialled_in_digits, in_digits

# From here on, digits are a telephone number, an account or a code, and not a count, a year or a time.
SIGNIFICANT: Final = 6
_WINDOW: Final = 12

# Every repetition is bounded: an answer of one long word must not take seconds.
_LETTER = r"(?:[^\W\d_]|[\u0900-\u109f])"
_LABEL = r"[\w\u0900-\u109f-]{1,63}"
_DOT = r"(?:\.|\s{0,3}[\[({<]\s?(?:\.|dot|punkt|point|punto)\s?[\])}>]\s{0,3}|\s{1,3}dot\s{1,3})"
_PLACES: Final = (
    re.compile(r"(?:[a-z][a-z0-9+.-]{1,20}:)?//[^\s<>\"')\]]+", re.IGNORECASE),
    re.compile(r"\b(?:mailto|tel|javascript|data|sms|bitcoin):[^\s<>\"')\]]+", re.IGNORECASE),
    # An address, also of a payment service or a messenger, which needs no dot.
    re.compile(rf"[\w.+-]{{0,64}}@{_LABEL}(?:\.{_LABEL}){{0,8}}"),
    # A bare host name in any script, also with a dot that is spelt out or in brackets.
    re.compile(
        rf"\b(?:{_LABEL}{_DOT}){{1,8}}(?:xn--[a-z0-9-]{{2,59}}|{_LETTER}{{2,24}})(?!\w)(?:/[^\s<>\"')\]]*)?",
        re.IGNORECASE,
    ),
    re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]*\d)"),
    re.compile(r"\b[a-z]{2}\d{2}(?:\s?[a-z0-9]{4}){3,7}(?:\s?[a-z0-9]{1,3})?\b", re.IGNORECASE),  # IBAN
    # A wallet, a key: long, of letters and digits.
    re.compile(r"\b(?=[a-z]{0,90}\d)(?=\d{0,90}[a-z])[a-z0-9]{14,90}\b", re.IGNORECASE),
)
_ABBREVIATIONS: Final = frozenset({"e.g", "i.e", "z.b", "d.h", "u.a", "p.s", "a.m", "p.m", "b.c", "a.d", "n.b"})

# The codes of ISO 4217 in use, and of what is paid with beside them.
_CODES: Final = (
    "aed|afn|amd|aoa|ars|aud|awg|azn|bbd|bdt|bgn|bhd|bif|bmd|bnd|brl|bsd|btn|bwp|byn|bzd|cad|cdf|chf|clp|cnh|cny|crc"
    "|cve|czk|djf|dkk|dop|dzd|egp|ern|etb|eur|fjd|fkp|gbp|ghs|gip|gmd|gnf|gtq|gyd|hkd|hnl|hrk|htg|huf|idr|ils|inr|iqd"
    "|irr|isk|jmd|jod|jpy|kes|kgs|khr|kmf|kpw|krw|kwd|kyd|kzt|lbp|lkr|lrd|lsl|lyd|mdl|mga|mkd|mmk|mnt|mru|mvr|mwk|mxn"
    "|myr|mzn|nad|ngn|nio|nok|npr|nzd|omr|pab|pgk|php|pkr|pln|pyg|qar|rmb|rsd|rub|rwf|sar|sbd|scr|sdg|sek|sgd|shp|sle"
    "|srd|ssp|stn|svc|syp|szl|thb|tjs|tmt|tnd|ttd|twd|tzs|uah|ugx|usd|uyu|uzs|ves|vnd|vuv|wst|xaf|xau|xcd|xof|xpf|yer"
    "|zar|zmw|zwg|zwl|btc|eth|ltc|usdc|usdt|xmr|xrp"
)
# Codes that are also words: only in capitals are they money.
_CAPITALS: Final = "ALL|ANG|BAM|BOB|COP|CUP|GEL|LAK|MAD|MOP|MUR|PEN|RON|SOL|SOS|TOP|TRY"
# Names of money that is spelt in other ways than by its code. The rest goes by the name that it has.
_SAME: Final = {
    "€": "eur", "euro": "eur", "euros": "eur", "$": "usd", "us$": "usd", "dollar": "usd", "dollars": "usd", "bucks": "usd",
    "dólar": "usd", "dólares": "usd", "dollaro": "usd", "dollari": "usd", "евро": "eur",
    "£": "gbp", "pound": "gbp", "pounds": "gbp", "quid": "gbp", "¥": "jpy", "yen": "jpy", "円": "jpy", "元": "cny",
    "yuan": "cny", "₹": "inr", "rs": "inr", "rupee": "inr", "rupees": "inr", "₽": "rub", "руб": "rub", "рублей": "rub",
    "ksh": "kes", "kshs": "kes", "r$": "brl", "reais": "brl", "sfr": "chf", "franken": "chf", "zł": "pln", "kč": "czk",
    "₦": "ngn", "naira": "ngn", "₩": "krw", "원": "krw", "฿": "thb", "baht": "thb", "bitcoin": "btc", "bitcoins": "btc",
}  # fmt: skip
_BEFORE = r"euro|ksh?s?|[tu]sh|rs|rp|rm|kr|sfr|r\$|us\$|nt\$|[a-z]{1,2}\$|s/|bs|lei|руб|грн|zł|kč"
_AFTER = (
    r"euros?|евро|dollars?|dollar[oi]|d[oó]lar(?:es)?|pounds?|bucks|quid|cents?|pence|francs?|franken|yen|yuan|rupees?|rupiahs?|rubles?|roubles?|рубл\w*|руб"
    r"|гривен|грн|pesos?|reais|soles|liras?|lirasi|kron[aeo]r?|kroner|kr|koruna|korun|kč|zł|zlot\w+|złot\w+|forints?|ft|lei"
    r"|лв|leva|shillings?|kshs?|[tu]sh|nairas?|rands?|cedis?|birr|baht|dong|won|ringgit|dirhams?|riyals?|dinars?|shekels?"
    r"|taka|rs|bitcoins?|sats|元|円|원"
)
_NUMBER = r"\d{1,20}(?: \d{3}(?!\d)|[.,']\d{1,9}){0,6}"
_TIMES = r"(?:[,.]?-{1,2})?\s?(?:(?:k|m|bn|mio|mrd|million(?:en|s|es)?|thousand|tausend|hundred|lakhs?|crores?)\b\.?)?"
_SIGN = r"[$€£¥\u0e3f\u17db\u20a0-\u20cf]"
# A part of a price is a promise as a price is: 90 % off. Some languages have the sign, or the word, before the number.
_PERCENT: Final = re.compile(
    r"(?<![^\W\d_])(?:per\s?cento?|pour\s?cent|por\s?(?:cien(?:to)?|cento)|pro[csz]ent|процент|відсот|sz[aá]zalék|y[uü]zde)[^\W\d_]{0,4}"
    r"|(?:(?<=\d)|(?<=\d ))(?:pct|proc)\b|τοις εκατό|パーセント|퍼센트|प्रतिशत|\u066a",
    re.IGNORECASE,
)
_WHOLE: Final = re.compile(r"\bcent\s+pour\s+cent\b", re.IGNORECASE)
_AMOUNTS: Final = (
    re.compile(
        rf"(?P<money>{_SIGN}|(?<!\d)(?<!\d )%|(?<![^\W\d_])(?:(?i:{_BEFORE}|{_CODES})|{_CAPITALS}|R(?=\s?\d\d)))[\s.:=]{{0,3}}(?P<number>{_NUMBER})"
    ),
    re.compile(
        rf"(?<!\d)(?<!\d[.,'])(?!(?<=\d )\d{{3}}(?!\d))(?P<number>{_NUMBER})(?P<times>(?i:{_TIMES}))\s{{0,3}}(?P<money>{_SIGN}|[%‰]|(?:(?i:{_AFTER}|{_CODES})|{_CAPITALS})(?![^\W\d_]))"
    ),
)

_TIME = r"(?:[01]?\d|2[0-4])[:.][0-5]\d(?::[0-5]\d)?"
_SPAN = rf"{_TIME}(?:\s?-\s?{_TIME})?"
_YEAR = r"(?:19\d\d|20[0-4]\d)"
_DAY, _MONTH = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|[12]\d|3[01])"
_DATE = rf"(?:{_YEAR}(?P<a>[-./]){_MONTH}(?P=a){_DAY}|{_DAY}(?P<b>[-./])\s?{_MONTH}(?P=b)\s?(?:{_YEAR}|\d\d)|{_YEAR}\s?[-/]\s?{_YEAR})"
# A date or a time that stands alone: beside more digits it is a part of a number that looks like one.
_MOMENT: Final = re.compile(
    rf"(?<![\d+(])(?<!\d[\s./-])(?<!\d[\s./-][\s./-])(?:{_DATE}(?:[T\s]\s?{_SPAN})?|{_SPAN})(?!\d|[\s./:-]{{1,2}}\d)"
)
# What stands between the digits of one number, whoever writes it. A comma before a space is between two.
_BETWEEN = r"(?:[\s.()\[\]{}/\\_'’·•|*~:+=#-]|,(?=\d)){0,5}"
_DIGITS: Final = re.compile(rf"[+(]{{0,2}}\d(?:{_BETWEEN}\d){{{SIGNIFICANT - 1},}}")
# The zero that is dialled at home only.
_HOME_ZERO: Final = re.compile(r"(\+\d{1,3}[\s.-]?)\(0\)")


@dataclass
class Named:
    """What some texts name, each as it is compared, with the spelling that people see."""

    places: dict[str, str] = field(default_factory=dict)
    # With all that it may mean: in `15 EUR. 3 keys` the name of the money may belong to either number.
    amounts: list[tuple[set[str], str]] = field(default_factory=list)
    numbers: list[tuple[list[str], str]] = field(default_factory=list)


def foreign(answer: str, trusted: Sequence[str]) -> list[str]:
    """What an answer names and no trusted text does, as it is spelt in the answer; words for numbers are in digits."""
    known, said = Named(), named(answer)
    for text in trusted:
        _add(known, text)
    digits, amounts = _spellings(known), {amount for amounts, _ in known.amounts for amount in amounts}
    found = {seen for key, seen in said.places.items() if key not in known.places}
    found |= {seen for meant, seen in said.amounts if meant.isdisjoint(amounts)}
    found |= {seen for groups, seen in said.numbers if not _is_known(groups, digits)}
    return sorted(found)


def named(text: str) -> Named:
    """What one text names."""
    found = Named()
    _add(found, text)
    return found


def _add(found: Named, text: str) -> None:
    seen = _plain(text)
    for pattern in _PLACES:
        for match in pattern.finditer(seen):
            key = _comparable(match.group())
            if key and key not in _ABBREVIATIONS:
                found.places[key] = match.group().strip()
    found.amounts += _amounts(in_digits(_PERCENT.sub("%", _WHOLE.sub("100 %", seen))))
    seen = _HOME_ZERO.sub(r"\1", _MOMENT.sub(" a ", dialled_in_digits(seen)))
    for match in _DIGITS.finditer(seen):
        found.numbers.append((re.findall(r"\d+", match.group()), " ".join(match.group().split())))


def _plain(text: str) -> str:
    """The text in one spelling: digits of every script, dashes and spaces of every width, no marks on or around digits."""
    seen = unicodedata.normalize("NFKC", visible(text))
    if seen.isascii():
        return seen
    seen = "".join(map(_plain_character, seen))
    # The full stop of Chinese and Japanese ends sentences there, and is a dot in a name elsewhere.
    return re.sub(r"(?<=[^\W\u3000-\u9fff])\u3002(?=[^\W\u3000-\u9fff])", ".", seen)


def _plain_character(character: str) -> str:
    if character.isascii():
        return character
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    category = unicodedata.category(character)
    if category in ("Pd", "Sm"):
        return "-"
    return "" if category == "Me" else character


def _comparable(place: str) -> str:
    joined = re.sub(_DOT, ".", place.casefold())
    name = re.sub(r"[\s'-]", "", joined).rstrip(".,;:!?/")
    return name if name.isascii() else ".".join(map(_ascii, name.split(".")))


def _ascii(label: str) -> str:
    """A label as the name service knows it, so that both spellings of a name are one."""
    try:
        return label if label.isascii() else label.encode("idna").decode().replace("-", "")
    except UnicodeError:
        return label


def _amounts(text: str) -> list[tuple[set[str], str]]:
    found: dict[int, tuple[set[str], str]] = {}
    for match in itertools.chain.from_iterable(pattern.finditer(text) for pattern in _AMOUNTS):
        parts = match.groupdict()
        money = parts["money"].casefold()
        times = re.sub(r"[\s,.-]", "", (parts.get("times") or "").casefold())
        meant, _ = found.setdefault(match.start("money"), (set(), match.group().strip()))
        meant.add(f"{_SAME.get(money, money)} {_value(parts['number'])}{times}")
    return list(found.values())


def _value(number: str) -> str:
    """A number without the marks between thousands and without empty cents."""
    whole, mark, cents = re.fullmatch(r"(.*?)(?:([.,])(\d{1,2}))?", number).groups()  # type: ignore[union-attr] # always
    whole = re.sub(r"\D", "", whole).lstrip("0") or "0"
    return f"{whole}.{cents.ljust(2, '0')}" if mark and cents.strip("0") else whole


def _spellings(known: Named) -> frozenset[str]:
    """The digits of every known number, also from any group on, without the zeros and the country that may lead it."""
    # An amount is digits, too, with or without its cents.
    values = [re.findall(r"\d+", amount) for meant, _ in known.amounts for amount in meant]
    found = {digits for whole, *_ in values for digits in (whole, f"{whole}00")}
    for groups, _ in known.numbers:
        for start in range(len(groups)):
            for _, joined in _joined(groups, start):
                bare = joined.lstrip("0")
                found.update(bare[cut:] for cut in range(4) if len(bare) - cut >= SIGNIFICANT)
                found.add(bare)
    return frozenset(found)


def _joined(groups: list[str], start: int) -> Iterator[tuple[int, str]]:
    """The groups from one on, put together, as far as they may be one number; with where each ends."""
    joined = ""
    for end in range(start, min(start + _WINDOW, len(groups))):
        joined += groups[end]
        if len(joined) >= SIGNIFICANT:
            yield end + 1, joined


def _is_known(groups: list[str], known: frozenset[str]) -> bool:
    """Whether digits are known numbers, one after another. A digit before or after makes it somebody else's number."""
    reached = {0}
    for start in range(len(groups)):
        if start in reached:
            reached.update(end for end, joined in _joined(groups, start) if joined.lstrip("0") in known)
    return len(groups) in reached
