"""What kind of sender a mail has, and whether a machine may answer it (RFC 3834, 2369, 2919, 3464, 8098).

Nothing inside a message proves spam or virus: those come as verdicts from the receiving service. The two
answers are separate on purpose: mail that asks not to be answered automatically can be a person's (§1.4).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping

import msgspec

from inbox.mime import subjects, through_us
from inbox.mime.types import Kind, ParsedMail

HOP_HEADER = "X-Autonomous-Inbox-Hop"
OwnAddresses = Callable[[str], bool] | Collection[str]

_COMMENT = re.compile(r"\([^()]*\)")
# What answering machines begin their subjects with, and people sometimes, too.
_ANSWERING_MACHINE = re.compile(
    r"\s*\[?(?:automatic reply|auto(?:matic)?[- ]?(?:reply|response|responder)|out of (?:the )?office(?: (?:auto[- ]?)?(?:reply|response|message|notice|notification))?"
    r"|ooo\b|on vacation|away from (?:my )?(?:mail|office)"
    r"|automatische antwort|abwesenheits(?:notiz|nachricht|assistent|meldung)|abwesend\b|ich bin nicht im büro"
    r"|réponse automatique|absence du bureau|message d'absence|absent du bureau"
    r"|respuesta automática|fuera de (?:la )?oficina|ausente de la oficina"
    r"|risposta automatica|fuori sede|fuori ufficio|assente dall'ufficio"
    r"|resposta automática|fora do escritório|ausência temporária"
    r"|automatisch antwoord|afwezigheids(?:bericht|melding|assistent)|niet aanwezig"
    r"|autosvar|automatiskt svar|automatisk svar|frånvaro(?:meddelande|assistent)?|fraværs(?:besked|melding|assistent)|ikke til stede"
    r"|automaattinen vastaus|poissaoloviesti|poissa toimistosta"
    r"|odpowiedź automatyczna|autoodpowiedź|automatyczna odpowiedź|nieobecność|poza biurem"
    r"|automatická odpověď|automatická odpoveď|mimo kancelář|nepřítomnost"
    r"|automatikus válasz|házon kívül|răspuns automat|absent din birou|otomatik yanıt|ofis dışında"
    r"|автоматический ответ|автоответ|автоматична відповідь|автовідповідь|нет на рабочем месте|отсутствие на работе"
    r"|αυτόματη απάντηση|εκτός γραφείου|automatski odgovor|samodejni odgovor|автоматичен отговор"
    r"|自動返信|自動応答|自動回覆|自動回复|自动回复|自动答复|不在办公室|부재 ?중|자동 ?(?:회신|응답)|תשובה אוטומטית|רד אוטומטי|رد تلقائي|الرد التلقائي)",
    re.IGNORECASE,
)
# Behind the whole phrase: a colon before the subject that is answered, or nothing more. A person goes on in words.
_THAT_IS_ALL = re.compile(r"\s*(?:[:：\]]|[.!。！]*\s*$)")
# Whole sentences that programs write and people do not: who is away (Notes), and reports known by their subject alone
# (RFC 7489 §7.2.1.1, complaints of a feedback loop).
_AWAY = re.compile(
    r"\s*(?:auto:.{1,150}?\bis out of (?:the )?office\b|.{1,150}?\bis out of (?:the )?office\.?\s*\(returning\b)",
    re.IGNORECASE,
)
_REPORT_SUBJECT = re.compile(
    r"\s*(?:(?:\[preview\]\s*)?report domain:\s*\S+\s+submitter:|complaint about message from [\d.:a-f]+\s*$)",
    re.IGNORECASE,
)
_BOUNCE_SUBJECT = re.compile(
    r"\s*(?:undeliver(?:able|ed)|mail delivery (?:failed|failure|system|subsystem|status)|delivery (?:status notification|failure|has failed|delayed|incomplete)"
    r"|(?:your )?mail (?:system error|could not be delivered)|returned mail|failure notice|warning: (?:message|could not send)|message (?:delivery|could not be delivered|undeliverable)|nondeliverable"
    r"|unzustellbar|nicht zustellbar|unzustellbare? |zustellung fehlgeschlagen|fehlgeschlagene zustellung|non remis|échec de la remise|remise impossible|no se puede entregar|no entregado"
    r"|mensaje no entregado|non recapitabile|mancato recapito|onbestelbaar|não entregue|kan inte levereras|kunne ikke leveres|niedostarczalna|недоставленное|не удалось доставить|kohaletoimetamatu|配信不能|メッセージを配信できません|メールエラー|无法送达|(?:系统)?退信)",
    re.IGNORECASE,
)
_DAEMON = re.compile(r"(?:mailer[-_.]?daemon|mail[-_.]?daemon|mail-delivery-sub?system)(?:$|[+@-])", re.IGNORECASE)
_DAEMON_NAME = re.compile(r"\bmail(?:er)?[-_.]?daemon\b", re.IGNORECASE)
_POSTMASTER = re.compile(r"post[-_.]?master@", re.IGNORECASE)
_NOT_A_PERSON = re.compile(
    r"(?:mailer[-_.]?daemon|mail[-_.]?daemon|post[-_.]?master|(?:.+[-_.])?(?:(?:do[-_.]?)?not?[-_.]?reply|dont[-_.]?reply)|bounces?|owner-.+|.+[+-](?:owner|request|bounces?)|listserv|majordomo)"
    r"(?:[+-].*)?",
    re.IGNORECASE,
)
_PRECEDENCE = {"bulk": "list", "junk": "list", "list": "list", "auto_reply": "auto_reply"}
_MACHINE_FIELDS = (
    "x-autoreply",
    "x-autorespond",
    "x-autoresponder",
    "x-autoreply-from",
    "x-mail-autoreply",
    "x-fc-machinegenerated",
    "x-auto-reply-from",
    "x-cron-env",
    "x-ebay-mailtracker",
)
_LIST_FIELDS = ("list-id", "list-unsubscribe", "list-post", "list-help", "list-subscribe", "list-owner", "list-archive")
_OLD_LIST_FIELDS = ("mailing-list", "x-mailing-list", "x-beenthere", "x-google-group-id")
_REPORTS: dict[str, tuple[Kind, str]] = {
    "delivery-status": ("bounce", "delivery report (RFC 3464)"),
    "global-delivery-status": ("bounce", "delivery report (RFC 6533)"),
    "disposition-notification": ("auto_reply", "read receipt (RFC 8098)"),
    "feedback-report": ("bounce", "feedback report (RFC 5965)"),
}
_FAIL = "FAIL"
_MAX_CITED = 50


class Classification(msgspec.Struct, frozen=True):
    """`reason` names the rule that decided, for the person who asks why."""

    kind: Kind
    reason: str
    may_auto_answer: bool


class _Message:
    """The fields in lower case, so that each rule is one look-up."""

    def __init__(self, mail: ParsedMail, envelope_from: str | None) -> None:
        self.mail = mail
        self.fields: dict[str, list[str]] = {}
        for name, value in mail.headers:
            self.fields.setdefault(name.lower(), []).append(value)
        path = mail.return_path if envelope_from is None else envelope_from.strip().strip("<>")
        self.null_path = path == ""
        self.path = path or ""

    def first(self, name: str) -> str:
        values = self.fields.get(name)
        return values[0] if values else ""

    def writer(self) -> str:
        """The address in From, or what From says without one: `Mail System <MAILER-DAEMON>`, the null path, nothing."""
        value = self.first("from").strip()
        if "@" in value:
            return self.mail.from_.address if self.mail.from_ is not None else ""
        found = _DAEMON_NAME.search(value)
        return found[0] if found else "mailer-daemon" if value == "<>" else ""

    def token(self, name: str) -> str:
        """The value without comments and parameters, in lower case."""
        value = self.first(name)
        return _COMMENT.sub("", value).partition(";")[0].strip().strip('"').lower() if value else ""


def classify(
    mail: ParsedMail,
    *,
    envelope_from: str | None = None,
    verdicts: Mapping[str, str] | None = None,
    own_addresses: OwnAddresses = (),
    own_token_check: Callable[[str], bool] | None = None,
    recipient: str | Callable[[], bool] | None = None,
) -> Classification:
    """The first rule that holds. `envelope_from` "" is the null path; None leaves it to the Return-Path field.

    `recipient` is the inbox that got the mail, or tells whether To or Cc name it: one that they do not has a blind copy.
    """
    message = _Message(mail, envelope_from)
    found = _by_verdict(verdicts or {}) or _signed(message, own_token_check)
    if found is None:
        sign = _machine(message) or _list_of_others(message, own_addresses, own_token_check)
        found = _own(message, own_addresses, is_machine=sign is not None) or sign
    if found is not None:
        return Classification(found[0], found[1], False)
    refusal = _through_us(message, own_addresses) or _refusal(message, recipient)
    return Classification("human", refusal or "no sign of a machine", refusal is None)


def looks_like_bounce(mail: ParsedMail) -> bool:
    """Whether it would be a bounce if the envelope said that it has no return path."""
    return _BOUNCE_SUBJECT.match(subjects.ungated(mail.subject)) is not None


Found = tuple[Kind, str] | None


def _by_verdict(verdicts: Mapping[str, str]) -> Found:
    """SES `receipt` names (`virusVerdict`) or short ones (`virus`); anything but FAIL leaves the mail as it is."""
    for kind in ("virus", "spam"):
        status = verdicts.get(kind) or verdicts.get(f"{kind}Verdict") or ""
        if status.upper() == _FAIL:
            return ("virus" if kind == "virus" else "spam"), f"{kind} verdict {_FAIL}"
    return None


def _signed(message: _Message, check: Callable[[str], bool] | None) -> Found:
    """Our own mail come back, by its signed marker: whatever else it says."""
    candidates = [message.first(HOP_HEADER.lower()), message.mail.message_id or ""]
    if check is not None and any(candidate and check(candidate) for candidate in candidates):
        return "self", "carries our own token"
    return None


def _own(message: _Message, own: OwnAddresses, *, is_machine: bool) -> Found:
    """Our own mail come back, its marker lost: by From, unless a person has written through that address (ZM-7).

    Not by the return path where somebody says to have written: a mailbox that forwards to us puts itself there, in one
    form or another (`support+caf_=…` at Gmail, `support+SRS=…` at Microsoft 365), and leaves the customer in From.
    """
    origin = message.mail.from_
    if origin is None:
        is_back = bool(message.path) and _is_own(message.path, own)
        return ("self", "return path is one of our inboxes") if is_back else None
    if not _is_own(origin.address, own):
        return None
    is_persons = not is_machine and through_us.author(message.mail, lambda address: _is_own(address, own)) is not origin
    return None if is_persons else ("self", "sender is one of our inboxes")


def _is_own(address: str, own: OwnAddresses) -> bool:
    return own(address) if callable(own) else address.casefold() in {item.casefold() for item in own}


def _report(message: _Message) -> Found:
    """multipart/report (RFC 6522): delivery status, disposition (read receipt), feedback (RFC 5965)."""
    mail = message.mail
    if mail.content_type not in {"multipart/report", "message/delivery-status", "message/disposition-notification"}:
        return None
    kind = (mail.report_type or "").lower()
    parts = {mail.content_type, *(item.content_type for item in mail.attachments)}
    for name, found in _REPORTS.items():
        if kind == name or (kind not in _REPORTS and f"message/{name}" in parts):
            return found
    return ("auto_reply", f"report: {kind[:40]}") if kind else ("bounce", "a report of no kind")


def _bounce(message: _Message) -> Found:
    mail = message.mail
    if message.first("x-failed-recipients"):
        return "bounce", "X-Failed-Recipients"
    writer = message.writer()
    is_system = not writer or _POSTMASTER.match(writer) is not None
    # Some servers write their daemon for the null path, also on what a person's answering machine has sent.
    by_daemon = _DAEMON.match(message.path) and (is_system or _answering_machine(message) is None)
    if by_daemon or _DAEMON.match(writer):
        return "bounce", "sender is a mailer daemon"
    if (message.null_path or is_system) and looks_like_bounce(mail):
        by = "null return path" if message.null_path else "from a postmaster or nobody"
        return "bounce", f"{by}, and the subject of a bounce"
    # A postmaster who is away says so (RFC 3834); what reports a failure need not say what it is.
    if message.null_path and is_system and message.token("auto-submitted") != "auto-replied":
        return "bounce", "null return path, from a postmaster or nobody"
    return None


def _answering_machine(message: _Message) -> Found:
    submitted = message.token("auto-submitted")
    if submitted and submitted != "no":
        return "auto_reply", f"Auto-Submitted: {submitted[:40]}"
    for name in _MACHINE_FIELDS:
        if name in message.fields:
            return "auto_reply", f"has {name}"
    if "x-loop" in message.fields and _list(message) is None:  # a list's own guard says nothing of who wrote to it
        return "auto_reply", "has x-loop"
    if message.token("precedence") == "auto_reply" or message.token("x-precedence") == "auto_reply":
        return "auto_reply", "Precedence: auto_reply"
    if "autoresponder" in message.first("delivered-to").lower():
        return "auto_reply", "Delivered-To: Autoresponder"
    return _silent_machine(message)


def _silent_machine(message: _Message) -> Found:
    """No field says so: Exchange's out-of-office is known by its subject alone (ZM-7), others by the null path."""
    subject = subjects.ungated(message.mail.subject)
    begun = _ANSWERING_MACHINE.match(subject)
    if (begun and _THAT_IS_ALL.match(subject, begun.end())) or _AWAY.match(subject):
        return "auto_reply", "subject of an answering machine"
    if _REPORT_SUBJECT.match(subject):
        return "auto_reply", "subject of a report"
    if begun and _answers_unasked(message):
        return "auto_reply", "begins like an answering machine, and came like one"
    if message.null_path and not any(name in message.fields for name in _LIST_FIELDS):
        return "auto_reply", "null return path"
    return None


def _answers_unasked(message: _Message) -> bool:
    """What else tells a machine from a person: an answer to a mail under a subject of its own, or mail of low rank."""
    ranks = (message.token("precedence"), message.token("x-precedence"))
    return message.null_path or bool(message.mail.in_reply_to) or any(rank in _PRECEDENCE for rank in ranks)


def _machine(message: _Message) -> Found:
    return _report(message) or _bounce(message) or _answering_machine(message) or _by_rank(message)


def _by_rank(message: _Message) -> Found:
    """Bulk says what the mail is, whoever passes it on; `list` says only by which way it came."""
    for name in ("precedence", "x-precedence"):
        rank = message.token(name)
        if rank != "list" and _PRECEDENCE.get(rank) == "list":
            return "list", f"Precedence: {rank}"
    return None


def _list_of_others(message: _Message, own: OwnAddresses, check: Callable[[str], bool] | None) -> Found:
    """What a list has sent, but for one that is ours, and for a person's answer to us that looks like a list's."""
    listed = _list(message)
    if listed is None or message.null_path:
        return listed
    is_persons = _is_of_our_list(message.mail, own) or _answers_us(message.mail, check)
    return None if is_persons else listed


def _is_of_our_list(mail: ParsedMail, own: OwnAddresses) -> bool:
    """A list that names itself is judged by its name; one that does not, by who sends."""
    if through_us.list_addresses(mail):
        return through_us.is_own_list(mail, lambda address: _is_own(address, own))
    return mail.from_ is not None and _is_own(mail.from_.address, own)


def _answers_us(mail: ParsedMail, check: Callable[[str], bool] | None) -> bool:
    """It cites what we have signed: no newsletter does, and a person's mail program may well add a list's fields."""
    if check is None:
        return False
    tagged = [item.address for item in (*mail.to, *mail.cc) if "+" in item.address]
    return any(check(text) for text in (*mail.in_reply_to, *mail.references, *tagged[:_MAX_CITED]))


def _list(message: _Message) -> Found:
    for name in (*_LIST_FIELDS, *_OLD_LIST_FIELDS):
        if name in message.fields:
            return "list", f"has {name}"
    if any(name.startswith("list-") for name in message.fields):
        return "list", "has a List- field"
    for name in ("precedence", "x-precedence"):
        if _PRECEDENCE.get(message.token(name)) == "list":
            return "list", f"Precedence: {message.token(name)}"
    return None


def _through_us(message: _Message, own: OwnAddresses) -> str | None:
    """A person behind an address of ours or behind the fields of a list: nothing proves them, so people answer."""
    origin = message.mail.from_
    if origin is not None and _is_own(origin.address, own):
        return through_us.WRITTEN_THROUGH_US
    return "has the fields of a list, which is ours, or answers us" if _list(message) else None


def _refusal(message: _Message, recipient: str | Callable[[], bool] | None) -> str | None:
    """A person, as far as we see, who is not to be answered by a machine."""
    suppressed = {item.strip().lower() for item in message.first("x-auto-response-suppress").split(",")}
    if suppressed & {"all", "oof", "autoreply"}:
        return "X-Auto-Response-Suppress"
    # On what an installation of this product writes by itself; a person may have passed it on, and reads the answer.
    if message.first(HOP_HEADER.lower()):
        return f"{HOP_HEADER} of another installation"
    mail = message.mail
    if mail.from_ is None:
        return "no sender to answer"
    for address in (mail.from_.address, message.path):
        if address and _NOT_A_PERSON.fullmatch(address.rpartition("@")[0]):
            return f"{address.rpartition('@')[0][:40]} reads no answers"
    if recipient is not None and not (recipient() if callable(recipient) else _named(mail, recipient)):
        return "blind copy: the inbox is named in neither To nor Cc"
    return None


def _named(mail: ParsedMail, recipient: str) -> bool:
    wanted = recipient.casefold()
    return any(item.address.casefold() == wanted for item in (*mail.to, *mail.cc))
