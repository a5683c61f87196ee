"""Access links: URLs that carry what they allow, whom they act for and until when.

Owns the token of such a URL. It is encrypted with the key of the deployment, so every replica reads it, nobody can
alter it, and it reveals nothing. Nothing is stored. A link that must be revocable names a record in its grant, which is
looked up. A token allows reading alone, and what it shows is masked as it was for the principal that asked for it.
"""

import json
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from planner_mcp.errors import LinkExpiredError, NotFoundError, StoreError
from planner_mcp.jobs.principals import APPROVE, READ, SENSITIVE, Principal
from planner_mcp.jobs.store.security.encryption import SecretCipher

CARRIED_SCOPES: Final = (READ, SENSITIVE, APPROVE)
"""Those that say what can be read: a reviewer reads what was proposed to it."""
MAX_TOKEN: Final = 4096
"""Characters of the longest token that is looked at."""


@dataclass(frozen=True, slots=True)
class AccessLink:
    """What a token says."""

    principal: Principal
    """Whom it acts for, with the scopes that it carries."""
    grant: str
    """What it allows, in words of its use."""
    expires_at: float
    """Seconds since the epoch."""


class AccessLinks:
    """Makes and reads the tokens of one use; a token of another use does not open.

    Args:
        cipher: With the key of the deployment.
        use: What the links are for, as `download`.
        clock: Returns seconds since the epoch.
    """

    def __init__(self, cipher: SecretCipher, use: str, *, clock: Callable[[], float] = time.time) -> None:
        self._cipher = cipher
        self._owner = f"link {use}"
        self._clock = clock

    def make(self, principal: Principal, grant: str, life_s: float) -> tuple[str, float]:
        """Return a token and when it expires: after its life, or earlier with the credential of the principal."""
        ends = self._clock() + life_s
        expires_at = int(ends if principal.expires_at is None else min(ends, principal.expires_at))
        scopes = [scope for scope in CARRIED_SCOPES if principal.may(scope)]
        text = json.dumps([principal.id, scopes, grant, expires_at, principal.group], separators=(",", ":"))
        ciphertext = bytes.fromhex(self._cipher.encrypt(text, self._owner))
        return urlsafe_b64encode(ciphertext).decode().rstrip("="), expires_at

    def open(self, token: str) -> AccessLink:
        """Return what a token says.

        Raises:
            NotFoundError: It was altered, or made for another use or with another key.
            LinkExpiredError: Its time is over.
        """
        try:
            padded = token[:MAX_TOKEN] + "=" * (-len(token) % 4)
            text = self._cipher.decrypt(urlsafe_b64decode(padded.encode("ascii")).hex(), self._owner)
        except (StoreError, ValueError) as error:
            raise NotFoundError("This link is not whole, or was not made here.") from error
        name, scopes, grant, expires_at, *group = json.loads(text)  # links of the version before have no group
        if self._clock() >= expires_at:
            raise LinkExpiredError
        principal = Principal(name, frozenset(scopes), group="".join(group), expires_at=expires_at)
        return AccessLink(principal, grant, expires_at)
