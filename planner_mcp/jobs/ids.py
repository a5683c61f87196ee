"""Names of scenarios, jobs, plans and matrices: `<kind>-<pool>-<26 characters of base32>`.

A name carries 130 random bits (that of a matrix: 130 bits of the digest of what it holds), so nobody guesses one, and
the pool that holds its keys, so nobody has to look it up.
The best plan of a job has the job's name with `plan` for `job`.
"""

import re
import secrets
from base64 import b32encode
from typing import Final, Literal

from planner_mcp.errors import NotFoundError

IdKind = Literal["scn", "job", "plan", "mat"]
_FORM: Final = re.compile(r"(scn|job|plan|mat)-(0|[1-9][0-9]?)-[a-z2-7]{26}")


def random_id(kind: IdKind, shard: int) -> str:
    """Return a new name in a pool."""
    return f"{kind}-{shard}-{b32encode(secrets.token_bytes(17)).decode()[:26].lower()}"


def derived_id(kind: IdKind, digest: bytes, shards: int) -> str:
    """Return the name of what has this digest, at least 18 bytes: always the same one."""
    return f"{kind}-{digest[17] % shards}-{b32encode(digest[:17]).decode()[:26].lower()}"


def random_shard(shards: int) -> int:
    """Return the pool for something that belongs to none yet."""
    return secrets.randbelow(shards)


def shard_of(kind: IdKind, name: str) -> int:
    """Return the pool a name of this kind lies in.

    Raises:
        NotFoundError: It is no such name; a malformed name is answered like an unknown one.
    """
    form = _FORM.fullmatch(name)
    if form is None or form[1] != kind:
        raise NotFoundError
    return int(form[2])


def is_id(text: str) -> bool:
    """Return whether a text has the form of a name, of whatever kind; says nothing of whether such a thing exists."""
    return _FORM.fullmatch(text) is not None


def id_in(text: str) -> str:
    """Return the first name in a text, of whatever kind; empty where there is none."""
    found = _FORM.search(text)
    return found[0] if found else ""


def plan_of(job_id: str) -> str:
    """Return the name of a job's best plan."""
    return "plan" + job_id.removeprefix("job")


def job_of(plan_id: str) -> str:
    """Return the name of the job a plan belongs to."""
    return "job" + plan_id.removeprefix("plan")
