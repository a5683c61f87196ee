"""Ids of scenarios, jobs, plans, matrices and deliveries: `<kind>-<shard>-<26 characters of base32>`.

An id carries 130 random bits (that of a matrix: 130 bits of the digest of its content), so that nobody can guess it. It
also carries the number of the shard that holds its keys, so that nobody has to look it up. A shard is one group of keys
in Redis; the setting `PLANNER_POOLS` is the number of shards. The best plan of a job has the job's id with `plan` for
`job`. The id of a delivery is that of its job and event, or that of a test; a subscription to events adds its own.
"""

import hashlib
import re
import secrets
from base64 import b32encode
from typing import Final, Literal

from planner_mcp.errors import NotFoundError

IdKind = Literal["scn", "job", "plan", "mat"]
_FORM: Final = re.compile(r"(scn|job|plan|mat)-(0|[1-9][0-9]?)-[a-z2-7]{26}")
_DELIVERY_FORM: Final = re.compile(r"(?:job|test)-(\d{1,2})-[a-z2-7]{26}(?::[0-9-]{1,40}(?::sub_[a-z2-7]{26})?)?")


def random_id(kind: IdKind, shard: int) -> str:
    """Return a new id in a shard."""
    return f"{kind}-{shard}-{_text(secrets.token_bytes(17))}"


def random_test_id(shard: int) -> str:
    """Return a new id for a test delivery."""
    return f"test-{shard}-{_text(secrets.token_bytes(17))}"


def derived_id(kind: IdKind, digest: bytes, shards: int) -> str:
    """Return the id for content with this digest (at least 18 bytes): always the same one."""
    return f"{kind}-{digest[17] % shards}-{_text(digest)}"


def random_shard(shards: int) -> int:
    """Return the shard for something that belongs to none yet."""
    return secrets.randbelow(shards)


def shard_of(kind: IdKind, name: str) -> int:
    """Return the shard that holds an id of this kind.

    Raises:
        NotFoundError: The id is malformed; it is answered like an unknown one.
    """
    form = _FORM.fullmatch(name)
    if form is None or form[1] != kind:
        raise NotFoundError
    return int(form[2])


def shard_of_delivery(delivery_id: str) -> int:
    """Return the shard that holds a delivery.

    Raises:
        NotFoundError: The id is malformed.
    """
    form = _DELIVERY_FORM.fullmatch(delivery_id)
    if form is None:
        raise NotFoundError
    return int(form[1])


def subscription_id(*identity: str) -> str:
    """Return the id of a subscription to events: always the same one for the same texts."""
    digest = hashlib.sha256("\n".join(identity).encode()).digest()
    return f"sub_{_text(digest)}"


def subscription_in(delivery_id: str) -> str:
    """Return the subscription that a delivery is for; empty where it is for a `callback_url`."""
    _job, _event, subscription = [*delivery_id.split(":", 2), "", ""][:3]
    return subscription


def is_id(text: str) -> bool:
    """Return whether a text has the form of an id of any kind. Whether the thing exists is not checked."""
    return _FORM.fullmatch(text) is not None


def id_in(text: str) -> str:
    """Return the first id of any kind in a text, or an empty text."""
    found = _FORM.search(text)
    return found[0] if found else ""


def plan_of(job_id: str) -> str:
    """Return the id of a job's best plan."""
    return "plan" + job_id.removeprefix("job")


def job_of(plan_id: str) -> str:
    """Return the id of the job that a plan belongs to."""
    return "job" + plan_id.removeprefix("plan")


def _text(digest: bytes) -> str:
    """Return the first 130 bits of a digest, or of random bytes, as text."""
    return b32encode(digest[:17]).decode()[:26].lower()
