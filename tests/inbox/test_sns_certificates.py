"""Only Amazon's own certificates prove anything, and no other address is asked for one (A7)."""

import orjson
from cryptography.hazmat.primitives.asymmetric import rsa

from config.demo.amazon import HOST, certificate
from tests.factories.world import house
from tests.inbox.notifications import PATH, notification, post, rows

CLOSED = [
    f"http://{HOST}{PATH}",
    f"HTTPS://{HOST}{PATH}",
    f"https:/{HOST}{PATH}",
    f"https:{HOST}{PATH}",
    f"//{HOST}{PATH}",
    f"{HOST}{PATH}",
    f"ftp://{HOST}{PATH}",
    f"file://{PATH}",
    f"https://user@{HOST}{PATH}",
    f"https://user:secret@{HOST}{PATH}",
    f"https://@{HOST}{PATH}",
    f"https://{HOST}@evil.test{PATH}",
    f"https://{HOST}:443{PATH}",
    f"https://{HOST}:8443{PATH}",
    f"https://{HOST}:{PATH}",
    f"https://{HOST}.{PATH}",
    f"https://{HOST}.evil.test{PATH}",
    f"https://evil.test/{HOST}{PATH}",
    f"https://evil.test#{HOST}{PATH}",
    f"https://evil.test?{HOST}{PATH}",
    f"https://evil.test\\@{HOST}{PATH}",
    f"https://{HOST}\\{PATH}",
    f"https://x.{HOST}{PATH}",
    f"https://x-{HOST}{PATH}",
    f"https://sns.evil.amazonaws.com@x{PATH}",
    f"https://sns.evil.amazonaws.com{PATH}",
    f"https://sns.amazonaws.com{PATH}",
    f"https://sns..amazonaws.com{PATH}",
    # Another region's, and buckets with a suggestive name.
    f"https://sns.us-east-1.amazonaws.com{PATH}",
    f"https://sns.eu-central-2.amazonaws.com{PATH}",
    f"https://{HOST}.cn{PATH}",
    f"https://sns.s3.amazonaws.com{PATH}",
    f"https://sns.s3-us-west-2.amazonaws.com{PATH}",
    f"https://sns.s3-website-us-east-1.amazonaws.com{PATH}",
    f"https://s3.amazonaws.com/bucket{PATH}",
    f"https://sns-eu-central-1.amazonaws.com{PATH}",
    f"https://{HOST.replace('.com', '.com.de')}{PATH}",
    f"https://{HOST.upper()}{PATH}",
    f"https://ſns.eu-central-1.amazonaws.com{PATH}",
    f"https://sns。eu-central-1。amazonaws。com{PATH}",
    f"https://sns.eu-central-1.amazonaws.ｃom{PATH}",
    f"https://sns%2eeu-central-1.amazonaws.com{PATH}",
    f"https://{HOST}%00.evil.test{PATH}",
    f"https://127.0.0.1{PATH}",
    f"https://169.254.169.254{PATH}",
    f"https://2130706433{PATH}",
    f"https://0x7f.1{PATH}",
    f"https://[::1]{PATH}",
    f"https://[::ffff:127.0.0.1]{PATH}",
    f"https://{HOST}/a{PATH}",
    f"https://{HOST}/..{PATH}",
    f"https://{HOST}/{PATH}",
    f"https://{HOST}/%2e%2e{PATH}",
    f"https://{HOST}{PATH}/..",
    f"https://{HOST}{PATH}?x=1",
    f"https://{HOST}{PATH}?",
    f"https://{HOST}{PATH}#x",
    f"https://{HOST}{PATH};x",
    f"https://{HOST}{PATH}%0a",
    f"https://{HOST}{PATH}\n",
    f"https://{HOST}{PATH}\t",
    f"https://{HOST}{PATH} ",
    f" https://{HOST}{PATH}",
    f"\nhttps://{HOST}{PATH}",
    f"https://{HOST}\n{PATH}",
    f"https://{HOST}{PATH[:-4]}.PEM",
    f"https://{HOST}{PATH[:-4]}.pem.txt",
    f"https://{HOST}{PATH[:-4]}",
    f"https://{HOST}/SimpleNotificationService-.pem",
    f"https://{HOST}/SimpleNotificationService-xyz.pem",
    f"https://{HOST}/SimpleNotificationService-{'a' * 10_240}.pem",
    f"https://{HOST}/simplenotificationservice-0123456789abcdef0123456789abcdef.pem",
    f"https://{HOST}/",
    f"https://{HOST}",
    "https://",
    "x",
]
OPEN = [
    "0123456789abcdef0123456789abcdef",
    "0123456789ABCDEF0123456789ABCDEF",
    "f3ecfb7224c7233fe7bb5f59f96de52f",
    "a" * 64,
]


def test_no_other_address_is_asked_for_a_certificate(db, topic, world, cases):
    house()
    before, taken = rows(), []
    for url in CLOSED:
        # Signed as it stands: the address is not part of what is signed.
        answer = post(orjson.dumps(notification(topic) | {"SigningCertURL": url}))
        if answer.status_code != 403:
            taken.append((url, answer.status_code))
    assert (taken, world.asked, world.looked_up, rows()) == ([], [], [], before)
    for name in OPEN:
        url = f"https://{HOST}/SimpleNotificationService-{name}.pem"
        assert post(orjson.dumps(notification(topic) | {"SigningCertURL": url})).status_code == 200
    assert world.asked == [f"{HOST}/SimpleNotificationService-{name}.pem" for name in OPEN]
    # Known from now on.
    assert post(orjson.dumps(notification(topic) | {"SigningCertURL": url})).status_code == 200
    assert len(world.asked) == len(OPEN)
    cases("A7", len(set(CLOSED)) + len(OPEN))


def test_a_certificate_that_is_not_amazons_proves_nothing(db, topic, world, cases):
    house()
    elliptic = b"-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUW\n-----END CERTIFICATE-----\n"  # cut short
    elsewhere = {"Location": f"https://{HOST}{PATH}"}
    good = topic.certificate.read_bytes()
    bad = {
        "a redirect": (302, elsewhere, b""),
        "a redirect with a good body": (301, elsewhere, good),
        "missing": (404, {}, b""),
        "an error with a good body": (500, {}, good),
        "2 MB": (200, {}, good + b"\n" * 2_000_000),
        "no certificate": (200, {}, b"hello"),
        "a broken one": (200, {}, elliptic),
        "ended": (200, {}, certificate(topic.key, days=-1)),
        "vouches for itself": (200, {}, certificate(topic.key, issuer="sns.amazonaws.com")),
        "another subject": (200, {}, certificate(topic.key, subject="sns.amazonaws.com.evil.test")),
        "another key": (200, {}, certificate(rsa.generate_private_key(public_exponent=65537, key_size=2048))),
    }
    before = rows()
    for number, (name, answer) in enumerate(bad.items()):
        path = f"/SimpleNotificationService-{number:032x}.pem"
        world.answers[path], world.asked[:] = answer, []
        made = notification(topic) | {"SigningCertURL": f"https://{HOST}{path}"}
        assert post(orjson.dumps(made)).status_code == 403, name
        assert world.asked == [f"{HOST}{path}"], name
    assert rows() == before
    cases("A7", len(bad))


def test_an_amazon_that_does_not_answer_is_a_reason_to_come_again(db, topic, world):
    house()
    world.shutdown()
    world.server_close()
    answer = post(orjson.dumps(notification(topic)))
    assert (answer.status_code, answer.json()["code"]) == (503, "sns_unavailable")
