"""Deliveries as our own dispatcher signs them, and what becomes of them on the way: for every verifier in every language."""

import json
from dataclasses import asdict, dataclass, field, replace

from webhooks.transport import signing

# The same in every process: names of tests are made from them.
SECRET, OLD, FOREIGN = (bytes(range(start, start + 32)) for start in (0, 100, 200))
NOW = 1_790_000_000
BODY = json.dumps({"type": "email.received", "data": {"subject": "Grüße 👋 \\ \u2028", "n": 1}}, ensure_ascii=False)


@dataclass(frozen=True)
class Delivery:
    """A request as it arrives, and whether a receiver may believe it."""

    name: str
    is_good: bool
    headers: dict[str, str]
    body: str = BODY
    secrets: list[str] = field(default_factory=lambda: [signing.secret_text(SECRET)])
    now: int = NOW

    def as_json(self) -> dict:
        return asdict(self)


def headers(*secrets: bytes, timestamp: int = NOW, body: str = BODY, message_id: str = "msg-1") -> dict[str, str]:
    return signing.headers(
        signers=[signing.Signer(secret) for secret in secrets],
        message_id=message_id,
        timestamp=timestamp,
        body=body.encode(),
    )


def deliveries() -> list[Delivery]:
    good = headers(SECRET)
    rotated = headers(SECRET, OLD)
    sent = Delivery("as sent", True, good)

    def without(name: str) -> dict[str, str]:
        return {key: value for key, value in good.items() if key != name}

    def changed(name: str, value: str) -> Delivery:
        return Delivery(f"{name} {value[:20]!r}", False, good | {name: value})

    signature = good["webhook-signature"]
    return [
        sent,
        Delivery("during a rotation, the new secret is known", True, rotated),
        Delivery("during a rotation, the old is known", True, rotated, secrets=[signing.secret_text(OLD)]),
        replace(sent, name="several secrets are known", secrets=[signing.secret_text(s) for s in (FOREIGN, SECRET)]),
        Delivery("beside a signature of another kind", True, good | {"webhook-signature": f"v1a,AAAA {signature}"}),
        replace(sent, name="a little late", now=NOW + 299),
        replace(sent, name="a clock that is behind", now=NOW - 299),
        Delivery("an empty body", True, headers(SECRET, body=""), body=""),
        replace(sent, name="too late", is_good=False, now=NOW + 301),
        replace(sent, name="from the future", is_good=False, now=NOW - 301),
        replace(sent, name="a foreign secret", is_good=False, secrets=[signing.secret_text(FOREIGN)]),
        # Whoever knows that it is empty could sign with it.
        Delivery("an empty secret", False, headers(b""), secrets=["whsec_"]),
        replace(sent, name="no secret", is_good=False, secrets=[]),
        replace(sent, name="a changed body", is_good=False, body=BODY.replace("1", "2")),
        replace(sent, name="a body with a space more", is_good=False, body=BODY + " "),
        replace(sent, name="another id", is_good=False, headers=good | {"webhook-id": "msg-2"}),
        Delivery("a newer time", False, good | {"webhook-timestamp": str(NOW + 10)}),
        *(Delivery(f"without {name}", False, without(name)) for name in good),
        changed("webhook-signature", ""),
        changed("webhook-signature", "v1,"),
        changed("webhook-signature", signature[:-4]),
        changed("webhook-signature", signature.replace("v1,", "v2,")),
        changed("webhook-signature", signature.replace("v1,", "")),
        changed("webhook-signature", "v1,Grüße"),
        changed("webhook-signature", signature.swapcase()),
        changed("webhook-timestamp", ""),
        changed("webhook-timestamp", "soon"),
        changed("webhook-timestamp", f"{NOW}.0"),
        changed("webhook-timestamp", f"-{NOW}"),
        changed("webhook-timestamp", "9" * 40),
    ]
