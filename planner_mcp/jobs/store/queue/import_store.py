"""Mappings of columns and uploaded files in the store. Implements `jobs.job_ports.ImportStore`."""

import base64
import json
from collections.abc import Mapping
from typing import Final
from unicodedata import normalize

from planner_mcp.errors import NotFoundError, QuotaExceededError
from planner_mcp.jobs.records.import_records import MAX_FILES, MAX_MAPPINGS, StoredMapping, UploadedFile
from planner_mcp.jobs.store import store_keys
from planner_mcp.jobs.store.connection.store_part import StorePart

_OPEN: Final = "open "
"""Before the base64 of a file that is not confidential; no other file begins so."""


class RedisImportStore(StorePart):
    """Stores what principals keep for their imports: two hashes for each, by name."""

    async def keep_mapping(self, principal: str, name: str, mapping: StoredMapping) -> None:
        """Keep a mapping for the scenario TTL from the last one that was kept.

        Raises:
            QuotaExceededError: The principal keeps as many as it may.
        """
        record = json.dumps(mapping.as_json(), ensure_ascii=False)
        await self._put(_key("mappings", principal), name, record, MAX_MAPPINGS, self._settings.scenario_ttl_s)

    async def mappings(self, principal: str) -> Mapping[str, StoredMapping]:
        """Return all mappings of a principal by name."""
        kept: dict[str, str] = await self._script_client.fetch("HGETALL", _key("mappings", principal))
        return {name: StoredMapping.from_json(json.loads(record)) for name, record in sorted(kept.items())}

    async def put_file(self, principal: str, name: str, file: UploadedFile) -> None:
        """Keep an uploaded file for `file_ttl_s` from the last upload.

        Raises:
            QuotaExceededError: The principal has as many as it may.
        """
        record = f"{_OPEN * (not file.is_confidential)}{base64.b64encode(file.data).decode()}"
        await self._put(_key("files", principal), _composed(name), record, MAX_FILES, self._settings.file_ttl_s)

    async def file(self, principal: str, name: str) -> UploadedFile:
        """Return an uploaded file.

        Raises:
            NotFoundError: There is none of this name, or it has expired.
        """
        record = await self._script_client.command("HGET", _key("files", principal), _composed(name))
        if record is None:
            raise NotFoundError
        return UploadedFile(base64.b64decode(record.removeprefix(_OPEN)), not record.startswith(_OPEN))

    async def _put(self, key: str, name: str, record: str, most: int, ttl_s: float) -> None:
        if not await self._script_client.has_room(key, name, most):
            problem = f"You keep {most} of these, as many as you may."
            raise QuotaExceededError.reached(problem, f"at most {most}", "Use a name again.", retry_after_s=60)
        await self._script_client.put_fields(key, {name: record}, life_s=ttl_s)


def _composed(name: str) -> str:
    """Return the name of a file as people type it: some systems take its letters apart from their accents."""
    return normalize("NFC", name)


def _key(kind: str, principal: str) -> str:
    return store_keys.key(store_keys.UNSHARDED, kind, principal)
