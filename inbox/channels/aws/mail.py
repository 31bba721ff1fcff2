"""SES: the domain's identity, events of what we send, and the rule for what we receive."""

from typing import Any

from inbox.channels.aws.plan import Account, Content, Step, asked

EVENTS = ("SEND", "REJECT", "BOUNCE", "COMPLAINT", "DELIVERY", "DELIVERY_DELAY", "RENDERING_FAILURE")
_DESTINATION = "autonomous-inbox"


def sending(account: Account) -> list[Step]:
    """Identity, configuration set and the events that it publishes."""
    return [_identity(account), _configuration_set(account), _events(account)]


def receiving(account: Account, *, rule_set: str) -> list[Step]:
    """Rule set, rule, and that the set is the one in use."""
    return [_rule_set(account, rule_set), _rule(account, rule_set), _active(account, rule_set)]


def active_rule_set(account: Account) -> str:
    """The rule set in use. There is one in a region, so that ours would put an end to another's mail: we join it."""
    return _in_use(account) or account.wish.rule_set


def _in_use(account: Account) -> str:
    found = asked(account.client("ses").describe_active_receipt_rule_set, "RuleSetDoesNotExist")
    return str(((found or {}).get("Metadata") or {}).get("Name") or "")


def _identity(account: Account) -> Step:
    ses, domain = account.client("sesv2"), account.wish.domain

    def look() -> Content | None:
        return {"domain": domain} if _found_identity(account) else None

    def apply(_: Content | None) -> None:
        ses.create_email_identity(EmailIdentity=domain)

    return Step(f"identity {domain}", look, {"domain": domain}, apply)


def _found_identity(account: Account) -> Any:
    call = account.client("sesv2").get_email_identity
    return asked(call, "NotFoundException", EmailIdentity=account.wish.domain)


def records(account: Account) -> list[dict[str, str]]:
    """What the owner of the domain must publish in the DNS."""
    domain, region = account.wish.domain, account.wish.region
    tokens = ((_found_identity(account) or {}).get("DkimAttributes") or {}).get("Tokens") or []
    dkim = [
        {"type": "CNAME", "name": f"{token}._domainkey.{domain}", "value": f"{token}.dkim.amazonses.com"}
        for token in tokens
    ]
    mx = {"type": "MX", "name": domain, "value": f"10 inbound-smtp.{region}.amazonaws.com"}
    dmarc = {"type": "TXT", "name": f"_dmarc.{domain}", "value": "v=DMARC1; p=none"}
    return [*dkim, mx, dmarc]


def _configuration_set(account: Account) -> Step:
    ses, name = account.client("sesv2"), account.wish.configuration_set

    def look() -> Content | None:
        found = asked(ses.get_configuration_set, "NotFoundException", ConfigurationSetName=name)
        return {"name": found["ConfigurationSetName"]} if found else None

    def apply(_: Content | None) -> None:
        ses.create_configuration_set(ConfigurationSetName=name)

    return Step(f"configuration set {name}", look, {"name": name}, apply)


def _events(account: Account) -> Step:
    ses, name = account.client("sesv2"), account.wish.configuration_set
    wanted: Content = {
        "Enabled": True,
        "MatchingEventTypes": sorted(EVENTS),
        "SnsDestination": {"TopicArn": account.topic_arn},
    }

    def look() -> Content | None:
        call = ses.get_configuration_set_event_destinations
        found = asked(call, "NotFoundException", ConfigurationSetName=name)
        rows = (found or {}).get("EventDestinations") or []
        row = next((row for row in rows if row["Name"] == _DESTINATION), None)
        return {**row, "MatchingEventTypes": sorted(row["MatchingEventTypes"])} if row else None

    def apply(found: Content | None) -> None:
        call = ses.create_configuration_set_event_destination
        if found is not None:
            call = ses.update_configuration_set_event_destination
        call(ConfigurationSetName=name, EventDestinationName=_DESTINATION, EventDestination=wanted)

    return Step(f"events of {name}", look, wanted, apply)


def _rule_set(account: Account, rule_set: str) -> Step:
    ses = account.client("ses")

    def look() -> Content | None:
        found = asked(ses.describe_receipt_rule_set, "RuleSetDoesNotExist", RuleSetName=rule_set)
        return {"name": found["Metadata"]["Name"]} if found else None

    def apply(_: Content | None) -> None:
        ses.create_receipt_rule_set(RuleSetName=rule_set)

    return Step(f"rule set {rule_set}", look, {"name": rule_set}, apply)


def _rule(account: Account, rule_set: str) -> Step:
    """Mail goes into the bucket, and the topic hears of it."""
    ses, wish = account.client("ses"), account.wish
    into = {"BucketName": wish.bucket, "ObjectKeyPrefix": wish.prefix, "TopicArn": account.topic_arn}
    wanted: Content = {
        "Name": wish.rule,
        "Enabled": True,
        "Recipients": [wish.domain],
        "Actions": [{"S3Action": into}],
        "ScanEnabled": True,
    }

    def look() -> Content | None:
        codes = ("RuleDoesNotExist", "RuleSetDoesNotExist")
        found = asked(ses.describe_receipt_rule, *codes, RuleSetName=rule_set, RuleName=wish.rule)
        return dict(found["Rule"]) if found else None

    def apply(found: Content | None) -> None:
        rule = {**wanted, "TlsPolicy": (found or {}).get("TlsPolicy", "Optional")}
        call = ses.create_receipt_rule if found is None else ses.update_receipt_rule
        call(RuleSetName=rule_set, Rule=rule)

    return Step(f"receipt rule {wish.rule}", look, wanted, apply)


def _active(account: Account, rule_set: str) -> Step:
    ses = account.client("ses")

    def look() -> Content | None:
        name = _in_use(account)
        return {"name": name} if name else None

    def apply(_: Content | None) -> None:
        ses.set_active_receipt_rule_set(RuleSetName=rule_set)

    return Step(f"rule set {rule_set} in use", look, {"name": rule_set}, apply)
