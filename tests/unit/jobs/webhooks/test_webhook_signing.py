"""Signing, against published vectors and a receiver we did not write (SPEC W1)."""

import random
import time
from base64 import b64decode

import pytest
from standardwebhooks.webhooks import Webhook

from planner_mcp.jobs.webhooks import webhook_signing

OFFICIAL = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
NEW = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
ID, AT = "msg_2b7VqWc0mJtYxQ4nR8sLkA", 1795219200
BODY = (
    '{"type":"job.completed","timestamp":"2026-11-21T08:00:00Z",'
    '"data":{"job_id":"j1","status":"completed","name":"Zürich 🚚"}}'
).encode()
PLANES = [(32, 127), (0xA0, 0xD800), (0x10000, 0x110000)]
NEW_SIGNATURE = "v1,GdjQicHvZ+LLB3xPX1KJDKoJ05DUEvl+dQR0m0hxXEo="
OLD_SIGNATURE = "v1,VRpIKlHaTjLpd6b8Hv5OKNl3mSN96+pcr4Pkz6eb1UM="


@pytest.mark.parametrize(
    ("secret", "delivery_id", "timestamp_s", "body", "expected"),
    [
        (
            OFFICIAL,
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1614265330,
            b'{"test": 2432232314}',
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        ),
        (NEW, ID, AT, BODY, NEW_SIGNATURE),
        (NEW, ID, AT, b"", "v1,o19Zs8xRjWRT6wgkt/QPDzcZgebm0pH3oMQEohn+WoM="),
        (OFFICIAL, ID, AT, BODY, OLD_SIGNATURE),
    ],
)
def test_signatures_are_those_of_the_published_vectors(
    secret: str, delivery_id: str, timestamp_s: int, body: bytes, expected: str
) -> None:
    """SPEC W1: the vector of the official libraries, and ours computed apart."""
    assert webhook_signing.signature(secret, delivery_id, timestamp_s, body) == expected


def test_both_secrets_sign_while_one_rotates() -> None:
    """SPEC W1: several signatures while a secret rotates."""
    assert webhook_signing.headers([NEW, OFFICIAL], ID, AT, BODY) == {
        "webhook-id": ID,
        "webhook-timestamp": str(AT),
        "webhook-signature": f"{NEW_SIGNATURE} {OLD_SIGNATURE}",
    }


def test_ten_thousand_bodies_verify_with_another_receiver() -> None:
    """SPEC W1: any UTF-8 body, with one secret or several, in the receiver's own implementation."""
    dice = random.Random(20261121)
    keys = [dice.randbytes(32) for _ in range(3)]
    secrets = [webhook_signing.new_secret(key) for key in keys]
    assert [b64decode(secret.removeprefix("whsec_"), validate=True) for secret in secrets] == keys
    now = int(time.time())
    for number in range(10_000):
        body = "".join(chr(dice.randrange(*dice.choice(PLANES))) for _ in range(dice.randrange(40))).encode()
        sent = webhook_signing.headers(
            [*dice.sample(secrets, dice.randrange(1, 4)), OFFICIAL], f"job-{number}", now, body
        )
        Webhook(OFFICIAL).verify(body, sent, json_parse=False)


@pytest.mark.parametrize(
    ("delivery_id", "timestamp_s", "body"), [("another", AT, BODY), (ID, AT + 1, BODY), (ID, AT, BODY + b" ")]
)
def test_what_was_changed_on_the_way_has_another_signature(delivery_id: str, timestamp_s: int, body: bytes) -> None:
    """SPEC W1: id, time and body are all signed."""
    assert webhook_signing.signature(NEW, delivery_id, timestamp_s, body) != NEW_SIGNATURE


@pytest.mark.parametrize("secret", ["", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_no base64!"])
def test_a_malformed_secret_signs_nothing(secret: str) -> None:
    """Our choice: a wrong secret is an error, never a weak signature."""
    with pytest.raises(ValueError, match="secret"):
        webhook_signing.signature(secret, ID, AT, BODY)


def test_an_id_with_a_dot_is_not_signed() -> None:
    """Standard Webhooks: id and time are parted by dots, so neither may hold one."""
    with pytest.raises(ValueError, match="dot"):
        webhook_signing.signature(NEW, "a.b", AT, BODY)


@pytest.mark.parametrize("count", [23, 65])
def test_a_secret_has_a_sound_length(count: int) -> None:
    """Standard Webhooks: 24 to 64 bytes."""
    with pytest.raises(ValueError, match="24 to 64"):
        webhook_signing.new_secret(bytes(count))
