"""The processing policy of an inbox: typed, versioned, with a meaning for every key (S0-17).

Stored as JSON with its version and only the keys that differ from the defaults, so that a better default reaches every
inbox. `parse` reads every version that there ever was; what it returns is always the present one.
"""

import itertools
from datetime import datetime, time
from functools import cache
from typing import Annotated, Any, Final, Literal
from zoneinfo import ZoneInfo, available_timezones

from django.conf import settings
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from inbox import normalise
from kernel.errors import Invalid

VERSION: Final = 2

_MAX_SENDERS = 1_000
_MAX_INTERVALS = 100


def _sender(text: str) -> str:
    """An address, or a domain, of which every address is meant."""
    plain = text if "@" in text else f"any@{text}"
    try:
        fine = normalise.address(plain).isprintable() and "." in plain.rpartition("@")[2]
    except Invalid:
        fine = False
    if not fine:
        raise ValueError("must be a mail address or a domain, such as bad@example.com or example.com")
    return text


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


def _zone(name: str) -> str:
    if name not in _zones():
        raise ValueError("must be an IANA time zone such as Europe/Berlin")
    return name


def _extension(text: str) -> str:
    if not (text.isascii() and text.isalnum() and text == text.lower()):
        raise ValueError("must be a file name's extension in small letters, such as exe")
    return text


Clock = Annotated[str, Field(pattern=r"^(?:[01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$")]
Senders = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=320), AfterValidator(_sender)], ...],
    Field(max_length=_MAX_SENDERS),
]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, validate_by_name=False)


class AutoAck(_Part):
    """A first word to whoever opens a conversation that no agent will answer."""

    text: Annotated[str, Field(min_length=1, max_length=5_000)]
    when: Literal["always", "outside_hours"] = "always"


class AttachmentLimits(_Part):
    """What is left out of an entry. The mail itself keeps all of it."""

    max_bytes: Annotated[int, Field(ge=0)] | None = None
    max_count: Annotated[int, Field(ge=0)] | None = None
    refuse_extensions: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=20), AfterValidator(_extension)], ...],
        Field(max_length=200),
    ] = ()


class Interval(_Part):
    """Open on one day of the week (1 is Monday) from one time to another."""

    day: Annotated[int, Field(ge=1, le=7)]
    begins: Clock = Field(alias="from")
    ends: Clock = Field(alias="to")

    @model_validator(mode="after")
    def _forwards(self) -> "Interval":
        if self.begins >= self.ends:
            raise ValueError("must end after it begins")
        return self


class BusinessHours(_Part):
    """When people are there."""

    timezone: Annotated[str, AfterValidator(_zone)]
    weekly: Annotated[tuple[Interval, ...], Field(max_length=_MAX_INTERVALS)] = ()

    @model_validator(mode="after")
    def _apart(self) -> "BusinessHours":
        ordered = sorted(self.weekly, key=lambda one: (one.day, one.begins))
        for earlier, later in itertools.pairwise(ordered):
            if earlier.day == later.day and later.begins < earlier.ends:
                raise ValueError("has intervals that overlap")
        return self

    def is_open(self, at: datetime) -> bool:
        local = at.astimezone(ZoneInfo(self.timezone))
        now = local.time().replace(tzinfo=None)
        return any(
            one.day == local.isoweekday()
            and time.fromisoformat(one.begins) <= now
            and (one.ends == "24:00" or now < time.fromisoformat(one.ends))
            for one in self.weekly
        )


class SubjectGrouping(_Part):
    """Mail that cites nothing joins an open conversation of the same sender with the same subject."""

    within_hours: Annotated[int, Field(ge=1, le=24 * 90)] = 72


class InboxPolicy(_Part):
    """What the inbox does with mail."""

    version: Literal[2] = VERSION
    # `bound` lets the inbox's agent work, `none` leaves every mail to people.
    agent: Literal["bound", "none"] = "bound"
    # How far an agent may go alone here, whatever more its own autonomy would allow.
    autonomy: Literal["draft", "supervised", "autonomous"] | None = None
    auto_ack: AutoAck | None = None
    business_hours: BusinessHours | None = None
    answer_blind_copies: bool = False
    # Off unless wanted: two questions with one subject are two questions to most people (CW-3).
    group_by_subject: SubjectGrouping | None = None
    # Answers go out with a signed tag in their Reply-To, for customers whose programs lose ids. Where the receiving server
    # takes no tags (support+tag@…), answers would not arrive, so it is off unless wanted.
    reply_address_tag: bool = False
    # Mail in the inbox's own name, proven to be, is an answer that somebody gave outside: it joins what it cites.
    journal: bool = False
    quarantine_spam: bool = True
    quarantine_virus: bool = True
    # Mail that fails DMARC is shown and marked; an agent asks a person before it answers, unless this is on.
    answer_dmarc_fail: bool = False
    # Mail that fails DMARC and whose domain asks for quarantine or rejection of such mail is put aside.
    honour_dmarc_policy: bool = True
    # Mail for whose sender nobody vouches (no DMARC, no aligned SPF) is answered like any other.
    answer_unproven: bool = True
    # Mail that the receiver could not, or did not, scan for viruses is put aside.
    quarantine_unscanned: bool = False
    # When there are any, nobody else's mail is taken up. `block_senders` wins.
    allow_senders: Senders = ()
    block_senders: Senders = ()
    attachments: AttachmentLimits = AttachmentLimits()
    # Of mail to an inbox that is not active: keep it, keep nothing but the fact, or refuse it where we are the
    # receiving server (elsewhere it has been accepted before we hear of it, and is kept).
    when_inactive: Literal["store", "drop", "bounce"] = "store"

    @model_validator(mode="after")
    def _has_hours(self) -> "InboxPolicy":
        if self.auto_ack and self.auto_ack.when == "outside_hours" and self.business_hours is None:
            raise ValueError("needs business_hours, because auto_ack is for outside of them")
        return self

    @property
    def lets_agent_work(self) -> bool:
        return self.agent == "bound"

    def stranger(self, sender: str) -> str:
        """Why mail of this sender is not taken up; empty when it is."""
        sender = normalise.lenient(sender)
        if any(_matches(sender, entry) for entry in self.block_senders):
            return "blocked_sender"
        if self.allow_senders and not any(_matches(sender, entry) for entry in self.allow_senders):
            return "sender_not_allowed"
        return ""

    def acknowledges(self, at: datetime) -> str:
        """The text for whoever wrote at that time; empty when there is none."""
        if self.auto_ack is None:
            return ""
        if self.auto_ack.when == "outside_hours" and self.business_hours and self.business_hours.is_open(at):
            return ""
        return self.auto_ack.text


def parse(content: dict[str, Any]) -> InboxPolicy:
    """Read a policy of any version; Invalid points at the first member that cannot be.

    What it leaves out is as INBOX_POLICY says for the installation.
    """
    try:
        return InboxPolicy.model_validate(_sequences(_present(settings.INBOX_POLICY) | _present(content)))
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = "/".join(str(part).replace("~", "~0").replace("/", "~1") for part in fault["loc"])
        text = fault["msg"].removeprefix("Value error, ")
        known = f" Known here: {', '.join(_keys(fault['loc']))}." if fault["type"] == "extra_forbidden" else ""
        pointer = f"/policy/{where}".rstrip("/")
        raise Invalid(f"{pointer}: {text[:1].lower()}{text[1:]}.{known}", pointer=pointer) from error


def stored(policy: InboxPolicy) -> dict[str, Any]:
    """The policy as the database keeps it."""
    usual = shown({})
    given = policy.model_dump(mode="json", by_alias=True)
    return {"version": VERSION} | {name: value for name, value in given.items() if value != usual[name]}


def shown(content: dict[str, Any]) -> dict[str, Any]:
    """A stored policy, of whatever version, with every key of the present one."""
    return parse(content).model_dump(mode="json", by_alias=True)


def _present(content: dict[str, Any]) -> dict[str, Any]:
    """The same in the words of the present version."""
    version = content.get("version", 1 if "run_agent" in content else VERSION)
    if version == 1 and not isinstance(version, bool):
        # 1 said `run_agent` for `agent`, and knew neither autonomy, hours, acknowledgements nor limits.
        renamed = {name: value for name, value in content.items() if name not in ("version", "run_agent")}
        asked = content.get("run_agent", True)
        if not isinstance(asked, bool):
            raise Invalid("/policy/run_agent: must be true or false.", pointer="/policy/run_agent")
        return renamed | {"version": VERSION, "agent": "bound" if asked else "none"}
    if "version" in content and content["version"] != VERSION:
        raise Invalid(f"/policy/version: this installation reads 1 to {VERSION}.", pointer="/policy/version")
    return content


def _sequences(value: Any) -> Any:
    """JSON has lists where the policy, which cannot be changed, has tuples."""
    if isinstance(value, dict):
        return {name: _sequences(inner) for name, inner in value.items()}
    return tuple(_sequences(inner) for inner in value) if isinstance(value, list | tuple) else value


def _keys(where: tuple[int | str, ...]) -> list[str]:
    """What may stand beside an unknown member."""
    parts: dict[str, type[BaseModel]] = {
        "auto_ack": AutoAck,
        "business_hours": BusinessHours,
        "attachments": AttachmentLimits,
        "group_by_subject": SubjectGrouping,
        "weekly": Interval,
    }
    names = [part for part in where[:-1] if isinstance(part, str)]
    model: type[BaseModel] = parts.get(names[-1], InboxPolicy) if names else InboxPolicy
    return [field.alias or name for name, field in model.model_fields.items()]


def _matches(sender: str, entry: str) -> bool:
    if "@" in entry:
        return sender == normalise.lenient(entry)
    return sender.endswith("@" + normalise.ascii_domain(entry))
