"""Signs webhooks in the Standard Webhooks form (SPEC W1). Pure: no clock, no network, no store.

A receiver checks `webhook-signature` over `{webhook-id}.{webhook-timestamp}.{raw body}`. While a secret rotates the
header carries one signature for each secret still valid, so a receiver on either goes on working.

Source: Standard Webhooks 1.0.0, "Signature scheme" and "Webhook headers".
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Sequence
from typing import Final

SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - a prefix, not a secret
SECRET_BYTES: Final = 32


def new_secret(random_bytes: bytes) -> str:
    """Return the text form of a secret: `whsec_` and base64.

    Args:
        random_bytes: 24 to 64 bytes from a secure source.
    """
    if not 24 <= len(random_bytes) <= 64:
        raise ValueError("a webhook secret has 24 to 64 bytes")
    return SECRET_PREFIX + base64.b64encode(random_bytes).decode()


def signature(secret: str, delivery_id: str, timestamp_s: int, body: bytes) -> str:
    """Return one signature, `v1,<base64>`.

    Raises:
        ValueError: The secret is not `whsec_` and base64, or the id holds a dot, which would make the signed text
            ambiguous.
    """
    if "." in delivery_id:
        raise ValueError("a delivery id must not hold a dot")
    signed = f"{delivery_id}.{timestamp_s}.".encode() + body
    digest = hmac.new(key_of(secret), signed, hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()


def headers(secrets: Sequence[str], delivery_id: str, timestamp_s: int, body: bytes) -> dict[str, str]:
    """Return the three headers of one attempt.

    Args:
        secrets: The current secret first, then those still valid during a rotation.
        delivery_id: Stable over all attempts; a receiver knows a repetition by it.
        timestamp_s: Unix time of this attempt.
        body: Exactly the bytes that are sent.
    """
    return {
        "webhook-id": delivery_id,
        "webhook-timestamp": str(timestamp_s),
        "webhook-signature": " ".join(signature(secret, delivery_id, timestamp_s, body) for secret in secrets),
    }


def key_of(secret: str) -> bytes:
    """Return the bytes of a secret."""
    if not secret.startswith(SECRET_PREFIX):
        raise ValueError("a webhook secret starts with whsec_")
    try:
        return base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except binascii.Error as error:
        raise ValueError("a webhook secret is whsec_ and base64") from error
