"""Encrypts small secrets for storage (AES-256-GCM). Owns the key: from the settings, or a file made on first use."""

import hashlib
import os
import secrets
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from planner_mcp.errors import StoreError
from planner_mcp.settings import Settings

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_FILE: Final = "secret.key"
NONCE_BYTES: Final = 12


class SecretCipher:
    """Encrypts and decrypts texts. The library is imported with the first of them: it takes 3 MiB.

    Args:
        key: Of any length with enough randomness; folded to 256 bits.
    """

    def __init__(self, key: bytes) -> None:
        self._key = hashlib.sha256(b"planner-mcp seal 1\n" + key).digest()

    @cached_property
    def _cipher(self) -> "AESGCM":
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        return AESGCM(self._key)

    def encrypt(self, text: str, owner: str) -> str:
        """Return a text encrypted for an owner; each call gives another result."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        return (nonce + self._cipher.encrypt(nonce, text.encode(), owner.encode())).hex()

    def decrypt(self, ciphertext: str, owner: str) -> str:
        """Return the text.

        Raises:
            StoreError: Encrypted with another key, for another owner, or damaged.
        """
        from cryptography.exceptions import InvalidTag

        try:
            data = bytes.fromhex(ciphertext)
            return self._cipher.decrypt(data[:NONCE_BYTES], data[NONCE_BYTES:], owner.encode()).decode()
        except (InvalidTag, ValueError) as error:
            raise StoreError(
                "A stored secret does not open; PLANNER_SECRET_KEY must be the same everywhere."
            ) from error

    def decrypt_or_none(self, ciphertext: str, owner: str) -> str | None:
        """Return the text; None where `decrypt` raises."""
        try:
            return self.decrypt(ciphertext, owner)
        except StoreError:
            return None


def open_cipher(settings: Settings) -> SecretCipher:
    """Return the cipher of this deployment, making the key file (readable by its owner alone) if there is no key yet.

    Raises:
        StoreError: There is no key and none can be made or read in the data folder.
    """
    return SecretCipher(_key(settings))


def state_key(settings: Settings) -> bytes:
    """Return the key that encrypts the state of calls that come again: another use, another key. Raises as
    `open_cipher`.
    """
    return hashlib.sha256(b"planner-mcp request state 1\n" + _key(settings)).digest()


def _key(settings: Settings) -> bytes:
    if settings.secret_key:
        return settings.secret_key.encode()
    try:
        return _key_file(settings.data_dir / KEY_FILE)
    except OSError as error:
        raise StoreError(
            f"The data folder {settings.data_dir} cannot be used for the key: {error.strerror}. "
            "Set PLANNER_SECRET_KEY, or PLANNER_DATA_DIR to a writable folder."
        ) from error


def _key_file(path: Path) -> bytes:
    """Return the key in a file; of several processes that make it at once one wins and all read its key."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:  # noqa: PTH123 - a mode
            file.write(secrets.token_hex(32).encode())
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_bytes()
