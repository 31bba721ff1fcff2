"""A processing policy as fields of a form, and back."""

from typing import Any

from django import forms
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from inbox.policy import InboxPolicy


def switch(label: str, help_text: str) -> forms.BooleanField:
    return forms.BooleanField(label=label, required=False, help_text=help_text, widget=UnfoldBooleanSwitchWidget)


def lines(label: str, help_text: str, rows: int = 3) -> forms.CharField:
    widget = UnfoldAdminTextareaWidget(attrs={"rows": rows})
    return forms.CharField(label=label, required=False, help_text=help_text, widget=widget)


def _choice(label: str, choices: list[tuple[str, str]], help_text: str) -> forms.ChoiceField:
    widget = UnfoldAdminSelectWidget
    return forms.ChoiceField(label=label, required=False, choices=choices, help_text=help_text, widget=widget)


def _number(label: str, help_text: str) -> forms.IntegerField:
    widget = UnfoldAdminIntegerFieldWidget
    return forms.IntegerField(label=label, required=False, min_value=0, help_text=help_text, widget=widget)


class PolicyForm(forms.Form):
    """What an inbox does with mail."""

    run_agent = switch("Let the agent work", "Without it mail is only kept and shown.")
    autonomy = _choice(
        "At most",
        [
            ("", "As far as the agent may"),
            ("draft", "Draft"),
            ("supervised", "Supervised"),
            ("autonomous", "Autonomous"),
        ],
        "How far an agent may go alone here.",
    )
    quarantine_spam = switch("Put spam aside", "As the receiver judged it.")
    quarantine_virus = switch("Put viruses aside", "As the receiver judged it.")
    answer_dmarc_fail = switch("Answer mail that fails DMARC", "Its sender may be somebody else.")
    honour_dmarc_policy = switch("Honour DMARC policies", "Put mail aside whose domain asks for it when DMARC fails.")
    answer_unproven = switch("Answer unproven senders", "Neither DMARC nor SPF vouches for the address.")
    quarantine_unscanned = switch("Put unscanned mail aside", "The receiver did not look for viruses.")
    answer_blind_copies = switch("Answer blind copies", "Mail that names another recipient.")
    group_by_subject = _number(
        "Group by subject within", "Hours. Mail of one sender with one subject is one conversation. Empty: it is not."
    )
    reply_address_tag = switch(
        "Tag reply addresses", "Answers find back even without ids; your mail server must take tags."
    )
    journal = switch("Keep a journal", "Proven mail in this inbox's own name joins the conversation that it answers.")
    allow_senders = lines(
        "Allowed senders", "Addresses or domains, one a line. When there are any, other mail is ignored."
    )
    block_senders = lines("Blocked senders", "Addresses or domains whose mail is ignored, one a line.")
    refuse_extensions = lines(
        "Refused attachments", "Extensions such as exe, one a line. The mail itself keeps them.", 2
    )
    max_bytes = _number("Largest attachment", "In bytes. Larger ones are left out of the conversation.")
    max_count = _number("Most attachments", "Of one mail.")
    auto_ack_text = lines(
        "Acknowledgement", "Sent once to whoever opens a conversation that no agent answers. Empty: none."
    )
    auto_ack_when = _choice("Acknowledge", [("always", "Always"), ("outside_hours", "Outside business hours")], "")
    hours_timezone = forms.CharField(
        label="Business hours in",
        required=False,
        help_text="A time zone such as Europe/Berlin.",
        widget=UnfoldAdminTextInputWidget,
    )
    hours_weekly = lines(
        "Business hours", "One interval a line: the day (1 is Monday), from, to. For example: 1 09:00 17:30"
    )
    when_inactive = _choice(
        "While it is not active",
        [("store", "Keep the mail"), ("drop", "Keep nothing but the fact"), ("bounce", "Refuse the mail")],
        "Refusing works where this server receives the mail; elsewhere it is kept.",
    )


NAMES = tuple(PolicyForm.base_fields)
_SWITCHES = (
    "quarantine_spam", "quarantine_virus", "answer_dmarc_fail", "honour_dmarc_policy", "answer_unproven",
    "quarantine_unscanned", "answer_blind_copies", "journal", "reply_address_tag",
)  # fmt: skip


def initial(policy: InboxPolicy) -> dict[str, Any]:
    """What the fields show of a policy."""
    ack, hours, limits = policy.auto_ack, policy.business_hours, policy.attachments
    plain = {name: getattr(policy, name) for name in NAMES if name in InboxPolicy.model_fields}
    return plain | {
        "run_agent": policy.lets_agent_work,
        "autonomy": policy.autonomy or "",
        "group_by_subject": policy.group_by_subject.within_hours if policy.group_by_subject else None,
        "allow_senders": "\n".join(policy.allow_senders),
        "block_senders": "\n".join(policy.block_senders),
        "refuse_extensions": "\n".join(limits.refuse_extensions),
        "max_bytes": limits.max_bytes,
        "max_count": limits.max_count,
        "auto_ack_text": ack.text if ack else "",
        "auto_ack_when": ack.when if ack else "always",
        "hours_timezone": hours.timezone if hours else "",
        "hours_weekly": "\n".join(f"{one.day} {one.begins} {one.ends}" for one in hours.weekly) if hours else "",
    }


def collect(values: dict[str, Any]) -> dict[str, Any]:
    """Take the fields out of a form's values; the policy that they say, for the service to judge."""
    given = {name: values.pop(name) for name in NAMES}
    zone, weekly = given["hours_timezone"].strip(), given["hours_weekly"].strip()
    return {
        "agent": "bound" if given["run_agent"] else "none",
        "autonomy": given["autonomy"] or None,
        **{name: given[name] for name in _SWITCHES},
        "group_by_subject": {"within_hours": given["group_by_subject"]} if given["group_by_subject"] else None,
        "allow_senders": given["allow_senders"].split(),
        "block_senders": given["block_senders"].split(),
        "attachments": {
            "refuse_extensions": given["refuse_extensions"].split(),
            "max_bytes": given["max_bytes"],
            "max_count": given["max_count"],
        },
        "auto_ack": {"text": given["auto_ack_text"], "when": given["auto_ack_when"] or "always"}
        if given["auto_ack_text"]
        else None,
        "business_hours": {"timezone": zone, "weekly": [_interval(line) for line in weekly.splitlines()]}
        if zone or weekly
        else None,
        "when_inactive": given["when_inactive"] or "store",
    }


def _interval(line: str) -> dict[str, Any]:
    """`1 09:00 17:30`; what does not fit is left for the policy to refuse."""
    day, *times = line.replace("-", " ").split()
    words = dict(zip(("from", "to"), times, strict=False))
    return {"day": int(day) if day.isascii() and day.isdigit() else day} | words
