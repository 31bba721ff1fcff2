"""The day of one small shop, told with the pieces of `seed`."""

from datetime import timedelta

from audit.services import record
from kernel import clock
from kernel.context import Actor, acting_as
from kernel.transactions import in_workspace
from tenancy.models import User
from tests.console import seed, seed_agents, seed_desk, seed_webhooks
from tests.console.seed import World

REFUND = """Hi Nora,

thank you for writing, and I am sorry that the lamp arrived broken. You do not need to send it back. A photo of the box is enough, and we will send you a new one within two working days.

Kind regards
Lindgren Lamps Support"""


def tell(owner: User, *, name: str = "Lindgren Lamps", domain: str = "lindgren.example", days: int = 2) -> World:
    """Conversations in every state, questions that wait, a failing endpoint, mail put aside."""
    world = seed.workspace(name, owner, domain)
    now = clock.now()
    with in_workspace(world.workspace.id):
        _history(world, now, days)
        _by_people(world, now)
        _answered(world, now)
        _uncertain(world, now)
        _suspicious(world, now)
        _broken_lamp(world, now)
        _activity(world)
        _desk(world)
        world.extra["webhook"] = seed_webhooks.webhook(world, "Order system", failing=True)
        seed_webhooks.webhook(world, "Data warehouse", failing=False)
        world.extra["quarantined"] = seed.quarantined(
            world,
            "bulk@letters.example",
            "its worker died at each attempt",
            b"From: bulk@letters.example\r\nSubject: =?utf-8?b?broken\r\nContent-Type: multipart/mixed\r\n\r\n"
            + b"--x\r\n" * 200,
        )
        seed.quarantined(
            world, "invoice@unknown.example", "too many nested parts", b"From: invoice@unknown.example\r\n\r\nhello"
        )
        seed_agents.knowledge(
            world, "Returns and refunds", "# Returns\n\nA broken lamp is replaced within two working days."
        )
        seed_agents.knowledge(world, "Shipping", "# Shipping\n\nOrders before noon leave the same day.")
    seed.beat()
    return world


def _answered(world, now):
    at = now - timedelta(hours=3)
    mail = seed.inbound(
        world, "When will my order ship?", "Hello,\n\nI ordered the brass desk lamp this morning. When does it ship?\n\nThanks, Jonas",
        sender=("Jonas Weber", "jonas.weber@mail.example"), at=at,
    )  # fmt: skip
    sent = seed.outbound(
        world, mail.thread, "Hello Jonas,\n\norders that reach us before noon leave the same day, so yours is already on its way.\n\nKind regards\nLindgren Lamps Support",
        at=at + timedelta(minutes=1),
    )  # fmt: skip
    world.runs["answered"], _ = seed_agents.run(
        world, mail, sent.body_text, sent=sent, at=at + timedelta(seconds=20), model=False
    )
    world.threads["answered"] = mail.thread


def _broken_lamp(world, now):
    at = now - timedelta(minutes=52)
    first = seed.inbound(
        world, "Lamp arrived broken", "Hi,\n\nmy Lindgren floor lamp (order 10482) came today and the glass shade is in pieces. What do I do now? I would like a new one, not my money back.\n\nNora",
        sender=("Nora Haddad", "nora@haddad.example"), at=at, state="handled",
        html="<p>Hi,</p><p>my <b>Lindgren floor lamp</b> (order 10482) came today and the glass shade is in pieces. What do I do now? I would like a new one, not my money back.</p><p>Nora</p>",
    )  # fmt: skip
    seed.attach(world, first, "broken shade.jpg", b"\xff\xd8\xff\xe0" + b"x" * 48_000, "image/jpeg")
    sent = seed.outbound(
        world, first.thread, "Hi Nora,\n\nI am sorry to hear that. Could you tell us whether the box itself was damaged when it arrived?\n\nKind regards\nLindgren Lamps Support",
        at=at + timedelta(minutes=1),
    )  # fmt: skip
    seed_agents.run(world, first, sent.body_text, sent=sent, at=at + timedelta(seconds=24))
    seed.note(
        world,
        first.thread,
        "She bought from us three times this year. Let us be generous.",
        at=at + timedelta(minutes=20),
        author="Mika Lindgren",
    )
    second = seed.inbound(
        world, "Re: Lamp arrived broken", "The box looked fine from outside. I have kept it, and can send you a photo.\n\nNora",
        sender=("Nora Haddad", "nora@haddad.example"), at=now - timedelta(minutes=6), thread=first.thread, state="waiting_approval",
        quoted="\n\nOn Sunday, Lindgren Lamps Support wrote:\n> Hi Nora,\n> I am sorry to hear that. Could you tell us whether the box itself was damaged when it arrived?",
        decision={"rule": "signed_reply", "confidence": "certain", "evidence": {"cited": f"{sent.id}@lindgren.example", "sender": "nora@haddad.example"}},
    )  # fmt: skip
    why = "the answer promises a replacement; a person sees promises first"
    world.runs["waiting"], intent = seed_agents.run(
        world, second, REFUND, status="waiting_approval", decision="ask", reason=why, at=now - timedelta(minutes=5)
    )
    world.approvals["lamp"] = seed_agents.question(world, intent, reason=why)
    world.threads["lamp"] = first.thread
    world.extra["entry"] = first


def _suspicious(world, now):
    at = now - timedelta(hours=1, minutes=20)
    mail = seed.inbound(
        world, "Updated bank details", "Dear team,\n\nplease use the account below for our next invoice.\n\nBest, Accounting",
        sender=("Brightglass Accounting", "billing@brightglass.example"), at=at, state="waiting_approval",
        mail={"verdicts": {"spf": "FAIL", "dkim": "NONE", "dmarc": "FAIL"}, "reply_to": [{"name": "", "address": "accounts@payments-desk.example"}]},
    )  # fmt: skip
    why = "the sender failed authentication (DMARC); the reply would go to another domain than the sender's"
    world.runs["suspicious"], intent = seed_agents.run(
        world, mail, "Dear Brightglass team,\n\nwe have passed this to a colleague, who will call you on the number we know.\n\nKind regards",
        status="waiting_approval", decision="ask", reason=why, at=at,
    )  # fmt: skip
    world.approvals["bank"] = seed_agents.question(world, intent, reason=why, risk="high", hours=3)
    world.threads["suspicious"] = mail.thread
    third = seed.inbound(
        world, "Gift wrapping?", "Do you offer gift wrapping for the wall lamps?", sender=("Aiko Tanaka", "aiko@tanaka.example"),
        at=now - timedelta(minutes=31), state="waiting_approval",
    )  # fmt: skip
    _, intent = seed_agents.run(
        world, third, "Hello Aiko,\n\nyes, gift wrapping is free for wall lamps.\n\nKind regards", status="waiting_approval",
        decision="ask", reason="the answer names what the company's own texts do not: free", at=now - timedelta(minutes=30),
    )  # fmt: skip
    world.approvals["gift"] = seed_agents.question(world, intent, reason=intent.decision_reason, risk="low", hours=71)
    world.threads["gift"] = third.thread
    seed.inbound(world, "Dimmer makes a noise", "The dimmer of my desk lamp hums when it is low. Is that normal?", sender=("Tomás Silva", "tomas@silva.example"), at=now - timedelta(minutes=14), state="failed", mail={"state_reason": "model_unavailable"})  # fmt: skip


def _uncertain(world, now):
    at = now - timedelta(hours=2)
    mail = seed.inbound(world, "Invoice for order 10391", "Please send me the invoice again.", sender=("Piotr Zielinski", "piotr@zielinski.example"), at=at)  # fmt: skip
    sent = seed.outbound(world, mail.thread, "Hello Piotr,\n\nyou will find it in your account under Orders.", at=at + timedelta(minutes=1), state="uncertain", error="connection lost after DATA")  # fmt: skip
    seed_agents.run(world, mail, sent.body_text, sent=sent, at=at)
    world.threads["uncertain"] = mail.thread


def _by_people(world, now):
    at = now - timedelta(hours=7)
    mail = seed.inbound(world, "Wholesale prices", "We run four hotels and would like 60 bedside lamps.", sender=("Elena Rossi", "elena@rossihotels.example"), at=at)  # fmt: skip
    seed.outbound(world, mail.thread, "Dear Elena,\n\nwhat a lovely project. I attach our list for 50 and more.\n\nMika", at=at + timedelta(hours=1), kind="human", author="Mika Lindgren")  # fmt: skip
    world.threads["people"] = mail.thread


def _history(world, now, days):
    """Days of quieter mail, for the chart."""
    for day in range(1, days):
        for number in range((day * 7) % 5 + 2):
            at = now - timedelta(days=day, hours=number)
            mail = seed.inbound(world, f"Question about lamp no. {day}{number}", "Does it come in green?", sender=(f"Customer {day}{number}", f"c{day}{number}@mail.example"), at=at)  # fmt: skip
            if number % 4 != 3:
                kind = "human" if (day + number) % 4 == 0 else "ai_answer"
                seed.outbound(world, mail.thread, "Yes, it does.", at=at + timedelta(minutes=4), kind=kind, author="Mika Lindgren" if kind == "human" else "Support")  # fmt: skip
            mail.thread.status = "closed"
            mail.thread.save()


def _desk(world):
    tag = seed_desk.label(world, "Breakage", "lamp")
    world.extra["view"] = seed_desk.view(world, "Breakages of the week", tag)
    seed_desk.answer(
        world, "Sorry for the breakage", "Hello {name},\n\nwe are sorry, and send another one today.\n\n{me}"
    )
    seed_desk.robot(world, "robot@parcels.example", "answered")
    world.extra["change"] = seed_desk.second_thoughts(world, "people")


def _activity(world):
    """What people and programs did, in the chain."""
    for kind, label, action in (
        ("user", "Mika Lindgren", "agent.update"),
        ("agent", "Support", "reply.queue"),
        ("user", "Mika Lindgren", "approval.approve"),
        ("machine_key", "Order system", "webhook.update"),
        ("system", "sender", "reply.send"),
        ("user", "Sam Ek", "quarantine.replay"),
    ):
        with acting_as(Actor(kind=kind, id="x", label=label)):
            record(workspace_id=world.workspace.id, action=action, resource_kind="thing", resource_id=world.agent.id)
