"""Numbers that are written in words, read into digits: people act on `fifty euros` as on `50 EUR`. Pure.

English, German, French, Spanish, Italian and Dutch in one table: few words are numbers in one and something else in
another, and a sentence may mix them. Each text is read once from left to right, word by word, so that no text is slow.
"""

import itertools
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final


def _all(words: str, value: int) -> dict[str, int]:
    return dict.fromkeys(words.split(), value)


def _table(units: str, tens: str, others: dict[str, int]) -> dict[str, int]:
    table = {word: value for value, word in enumerate(units.split())}
    return table | {word: 10 * value for value, word in enumerate(tens.split(), 2)} | others


# Words are compared without their accents.
_ENGLISH: Final = _table(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen",
    "twenty thirty forty fifty sixty seventy eighty ninety",
    {"nought": 0, "nil": 0, "fourty": 40, "hundred": 100, "thousand": 1000},
)
_GERMAN: Final = _table(
    "null eins zwei drei vier funf sechs sieben acht neun zehn elf zwolf dreizehn vierzehn funfzehn sechzehn siebzehn"
    " achtzehn neunzehn",
    "zwanzig dreissig vierzig funfzig sechzig siebzig achtzig neunzig",
    {"ein": 1, "zwo": 2, "fuenf": 5, "zwoelf": 12, "fuenfzehn": 15, "fuenfzig": 50, "hundert": 100, "tausend": 1000},
)
_FRENCH: Final = _table(
    "zero un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize",
    "vingt trente quarante cinquante soixante septante huitante nonante",
    {"une": 1, "vingts": 20, "octante": 80, "mille": 1000},
)
_SPANISH: Final = _table(
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciseis diecisiete"
    " dieciocho diecinueve veinte veintiuno veintidos veintitres veinticuatro veinticinco veintiseis veintisiete"
    " veintiocho veintinueve",
    "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
    {"una": 1, "veintiun": 21, "cien": 100, "ciento": 100, "quinientos": 500, "quinientas": 500, "mil": 1000}
    | {
        f"{word}cient{end}": 100 * value
        for value, word in ((2, "dos"), (3, "tres"), (4, "cuatro"), (6, "seis"), (7, "sete"), (8, "ocho"), (9, "nove"))
        for end in ("os", "as")
    },
)
_ITALIAN: Final = _table(
    "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici"
    " diciassette diciotto diciannove",
    "venti trenta quaranta cinquanta sessanta settanta ottanta novanta",
    {"un": 1, "cento": 100, "mille": 1000, "mila": 1000},
)
# What Italian drops before a vowel: ventotto, trentuno, centottanta.
_ITALIAN_SHORT: Final = {
    word[:-1]: value for word, value in _ITALIAN.items() if word.endswith(("nti", "nta", "nto")) and value < 101
}
_DUTCH: Final = _table(
    "nul een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien"
    " achttien negentien",
    "twintig dertig veertig vijftig zestig zeventig tachtig negentig",
    {"honderd": 100, "duizend": 1000},
)
_LARGE: Final = {
    **_all("million millions millionen millones milione milioni miljoen", 10**6),
    **_all("milliard milliards milliarde milliarden miliardo miliardi miljard billion billions", 10**9),
}
_DOZENS: Final = _all("dozen dutzend douzaine docena dozzina dozijn", 12)
_ARTICLES: Final = _all("eine einen einem einer", 1)
_VALUES: Final = (
    _ENGLISH | _GERMAN | _FRENCH | _SPANISH | _ITALIAN | _DUTCH | _LARGE | _DOZENS | _ARTICLES | {"oh": 0, "cent": 100}
)
_VALUES_AND_SHORT: Final = _VALUES | _ITALIAN_SHORT
_FACTORS: Final = frozenset(
    {word for word, value in _VALUES.items() if value in (12, 100) or value >= 1000}
    - {"twelve", "zwolf", "zwoelf", "douze", "doce", "dodici", "twaalf"}
)
_AND: Final = frozenset({"and", "und", "et", "y", "e", "en"})
# Those that often are another word. Before another number they say nothing: `einen 15 EUR Gutschein`, `the sum due`.
_DOUBTFUL: Final = frozenset({"ein", "un", "une", "una", "een", "sei", "due", "once", "onze", "sept", "oh", *_ARTICLES})
_AGAIN: Final = {
    **_all("double doppel doppelt doble doppio dubbel", 2),
    **_all("triple tripel triplo", 3),
}


def _pieces(values: dict[str, int], *more: str) -> re.Pattern[str]:
    return re.compile("|".join(sorted((*values, *more), key=len, reverse=True)))


# The languages that write a number as one word, each by itself: `unten` is not one of ten.
_COMPOUND: Final = (
    _pieces(_ENGLISH | _LARGE, "and"),
    _pieces(_GERMAN | _LARGE, "und"),
    re.compile(f"cent(?=ott)|{_pieces(_ITALIAN | _ITALIAN_SHORT | _LARGE).pattern}"),
    _pieces(_DUTCH | _LARGE, "en"),
)
_LONGEST: Final = 120

_TOKEN: Final = re.compile(r"[^\W\d_]+|\d+(?:[.,']\d+)*")
_CLOSE: Final = re.compile(r"[\s-]{0,3}")
_POINT: Final = re.compile(r"\s{1,3}(?:point|punkt|punt|punto|komma|comma|coma|virgule|virgola)\s{1,3}", re.IGNORECASE)
_SIGNS: Final = re.compile(r"[\s.,()\[\]{}/\\_'’·•|*~:+=#-]{0,5}")
# `deux cents euros` are two hundred, `two cents` are not.
_OF_HUNDREDS: Final = re.compile(
    rf"[\s-]{{1,3}}(?:[€$£¥]|(?:euros?|eur|dollars?|usd|francs?|chf|livres?|yens?|millions?|milliards?|{'|'.join(_FRENCH)})\b)",
    re.IGNORECASE,
)
# `deux millions d'euros`
_OF_MILLIONS: Final = re.compile(r"\s{1,3}(?:d['’]|de\s|di\s|of\s)\s?(?=\w)", re.IGNORECASE)
# Money in Korea, where nothing costs less than a thousand, and a verb: `one won't`.
_VERB: Final = re.compile(r"\s{1,3}won\b", re.IGNORECASE)
# Further than any name of money looks for its number.
_APART: Final = " " * 4


@dataclass
class _Number:
    start: int
    end: int
    digits: str  # As it is written, until a word belongs to it.
    total: int = 0  # The thousands and what is above them
    low: int = 0  # and the rest.
    scale: int = 10**15
    last: str = ""
    spoken: bool = False
    closed: bool = False

    def takes(self, word: str, value: int, *, linked: bool) -> bool:
        """Let one more word belong to this number, if that makes one number in any of the languages."""
        if self.closed or not self._adds(word, value, linked=linked):
            return False
        self.last, self.spoken, self.digits = word, True, str(self.total + self.low)
        return True

    def _adds(self, word: str, value: int, *, linked: bool) -> bool:
        if word in _FACTORS:
            return self._multiplies(value)
        ones = self.low % 100
        if value == 0 or value >= 1000 or self.last == "":
            return False
        if word in ("vingt", "vingts") and self.last == "quatre":
            self.low += 76
        elif (
            (ones == 0 and (self.low or self.total) and (value < 100 or not self.low))
            or (ones >= 20 and ones % 10 == 0 and value < 10)
            or (self.last == "dix" and 7 <= value <= 9)
            or (self.last in ("soixante", "vingt", "vingts") and ones in (60, 80) and 10 <= value < 20)
            or (linked and 0 < ones < 10 and value in range(20, 100, 10))  # neunundvierzig
        ):
            self.low += value
        else:
            return False
        return True

    def _multiplies(self, factor: int) -> bool:
        if factor < 1000:
            if self.low >= 100 or (self.low == 0 and not self.total):
                return False
            self.low = (self.low or 1) * factor
        elif factor < self.scale and self.low:
            self.total, self.low, self.scale = self.total + self.low * factor, 0, factor
        elif self.scale == 1000 and factor > 1000 and self.total < 10**6:  # mil millones
            self.total, self.low, self.scale = (self.total + self.low) * factor, 0, factor
        else:
            return False
        return True


def in_digits(text: str) -> str:
    """The text with its numbers in digits. Words that follow each other without making one number are put together."""
    parts, reached = [], 0
    for run in _runs(text):
        if len(run) > 1 and run[0].last in _DOUBTFUL and _is_plain(run[0]):
            del run[0]
        first, last = run[0], run[-1]
        if not any(number.spoken for number in run) or (_VERB.match(text, last.end) and last.low + last.total < 1000):
            continue
        parts += [text[reached : first.start], _APART if _begins_anew(text, run) else "", _joined(text, run)]
        reached = last.end
        if last.total >= 10**6 and last.low == 0 and (of := _OF_MILLIONS.match(text, reached)):
            parts.append(" ")
            reached = of.end()
    return "".join((*parts, text[reached:]))


def dialled_in_digits(text: str) -> str:
    """The text with those numbers in digits that are said piece by piece, as people do with telephones and accounts."""
    parts, reached = [], 0
    for run in _runs(text):
        if sum(number.spoken for number in run) > 1:
            parts += [text[reached : run[0].start], _joined(text, run)]
            reached = run[-1].end
    return "".join((*parts, text[reached:]))


def _is_plain(number: _Number) -> bool:
    """Whether a number is one small word."""
    return number.spoken and not number.total and number.low < 13


def _begins_anew(text: str, run: list[_Number]) -> bool:
    """Whether a number belongs to no money before it: `We take EUR. One of us ...`, `per Lei una chiave`."""
    first = run[0]
    begins = text[first.start].isupper() and text[max(0, first.start - 3) : first.start].rstrip().endswith(".")
    return len(run) == 1 and _is_plain(first) and (begins or first.last in _DOUBTFUL)


def _joined(text: str, run: list[_Number]) -> str:
    parts = [run[0].digits]
    for before, number in itertools.pairwise(run):
        between = text[before.end : number.start]
        if before.spoken and number.spoken and _CLOSE.fullmatch(between):
            between = ""
        parts += ["." if _POINT.fullmatch(between) else between, number.digits]
    return "".join(parts)


def _runs(text: str) -> Iterator[list[_Number]]:
    """The numbers of a text, those together that have only signs between them."""
    run: list[_Number] = []
    for number in _numbers(text):
        if run and not _follows(text, run[-1].end, number.start):
            yield run
            run = []
        run.append(number)
    if run:
        yield run


def _follows(text: str, end: int, start: int) -> bool:
    # The longest word for a point has eight letters.
    between = text[end : min(start, end + 15)]
    return bool((_SIGNS.fullmatch(between) and ", " not in between) or _POINT.fullmatch(between))


def _numbers(text: str) -> Iterator[_Number]:
    """Each number of a text, in order, whether in words or in digits."""
    reader = _Reader()
    end = 0
    for match in _TOKEN.finditer(text):
        # Signs, as a comma or a full stop, are between two numbers.
        if not _CLOSE.fullmatch(text[end : min(match.start(), end + 4)]):
            reader.ends()
        token, start, end = match.group(), match.start(), match.end()
        if token[0].isdecimal():
            reader.reads_digits(token, start, end)
        elif words := _words(token, text, end):
            reader.reads_words(words, start, end)
        else:
            reader.ends()
            reader.again = _AGAIN.get(_plain(token), 0)
            reader.again_from = start
        yield from reader.finished
        reader.finished = []
    reader.ends()
    yield from reader.finished


@dataclass
class _Reader:
    """The number that is being read, and what was said about the next word."""

    number: _Number | None = None
    finished: list[_Number] = field(default_factory=list)
    linked: bool = False
    again: int = 0
    again_from: int = 0

    def ends(self, following: _Number | None = None) -> None:
        if self.number:
            self.finished.append(self.number)
        self.number, self.linked, self.again = following, False, 0

    def reads_digits(self, token: str, start: int, end: int) -> None:
        if not (self.number and self.number.spoken and _takes_digits(self.number, token, end)):
            self.ends(_of_digits(token, start, end))

    def reads_words(self, words: list[str], start: int, end: int) -> None:
        if self.number and self.number.closed and not self.number.spoken and words[0] in _FACTORS:
            self.ends()  # `1.5 million` is left to those who read digits.
            return
        for word in words:
            if word in _AND:
                self.linked = True
                continue
            value = _VALUES_AND_SHORT[word]
            if self.number and self.number.takes(word, value, linked=self.linked):
                self.number.end, self.linked = end, False
            else:
                self._begins(_of_word(word, value, start, end))
            start = end

    def _begins(self, number: _Number) -> None:
        if self.again and number.low + number.total < 10:
            number.start, number.digits, number.closed = self.again_from, number.digits * self.again, True
        self.ends(number)


def _of_word(word: str, value: int, start: int, end: int) -> _Number:
    number = _Number(start, end, str(value), last=word, spoken=True, closed=value == 0)
    if value >= 1000:
        number.total, number.scale = value, value
    else:
        number.low = value
    return number


def _of_digits(token: str, start: int, end: int) -> _Number:
    if token.isdecimal() and len(token) <= 6:
        return _Number(start, end, token, low=int(token))
    return _Number(start, end, token, closed=True)


def _takes_digits(number: _Number, token: str, end: int) -> bool:
    """Digits go on with a number only below its hundreds or thousands: `one thousand 490`."""
    room = 100 if number.low else 1000
    fits = token.isdecimal() and len(token) <= 3 and number.low % 100 == 0 and (number.low or number.total)
    if not fits or number.closed or not 0 < int(token) < room:
        return False
    number.low += int(token)
    number.digits, number.last, number.end = str(number.total + number.low), token, end
    return True


def _words(token: str, text: str, end: int) -> list[str]:
    """The words for numbers that a token is made of; none when it is anything else."""
    if len(token) > _LONGEST:
        return []
    word = _plain(token)
    if word in ("cent", "cents"):
        return ["cent"] if _OF_HUNDREDS.match(text, end) else []
    if word in _VALUES or word in _AND:
        return [word]
    return next((found for pattern in _COMPOUND if (found := _split(word, pattern))), [])


def _split(word: str, pieces: re.Pattern[str]) -> list[str]:
    found, reached = [], 0
    while match := pieces.match(word, reached):
        found.append(match.group())
        reached = match.end()
    return found if reached == len(word) and found[0] not in _AND and found[-1] in _VALUES else []


def _plain(token: str) -> str:
    """A word as the tables have it."""
    word = token.casefold()
    return word if word.isascii() else re.sub(r"[\u0300-\u036f]", "", unicodedata.normalize("NFD", word))
