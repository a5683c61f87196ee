"""Travel matrices in the store. Implements `jobs.job_ports.MatrixStore`.

Owns the blocks in which a large matrix comes and lies: a field of the hash each, named `<matrix>:<number>`.
"""

from collections.abc import Mapping

from planner_mcp.errors import NotFoundError, QuotaExceededError, StoreUnavailableError
from planner_mcp.jobs import ids
from planner_mcp.jobs.job_ports import MatrixParts
from planner_mcp.jobs.limits.principal_limits import limit_per_shard, limit_text
from planner_mcp.jobs.store import store_keys
from planner_mcp.jobs.store.connection.store_part import StorePart


class RedisMatrixStore(StorePart):
    """Stores travel matrices."""

    async def put_matrix_block(self, parts: MatrixParts, name: str, text: str) -> None:
        """Put a block of the packed text of a matrix; raises `StoreUnavailableError`.

        The first block of a table has its name, as the whole table has in versions 0.1 and 0.2.0: they read what is one
        block.
        """
        args = {"parts": _parts_name(parts), "life_s": store_keys.PARTS_S}
        field = f"{name}:{len(parts.tables):05}" if name in parts.tables else name
        await self._script_client.step("put_matrix_part", ids.shard_of("mat", parts.matrix_id), args, field, text)
        parts.tables.append(name)

    async def put_matrix(self, principal: str, parts: MatrixParts, words: Mapping[str, str], *, is_cache: bool) -> None:
        """Store matrices for the scenario TTL from their last use.

        Args:
            principal: Whose they are.
            parts: Their id, and the blocks that were put before; storing the same matrices again renews them.
            words: `TravelMatrices.pack()`, without what is in blocks.
            is_cache: They can be requested again, so the oldest make room; otherwise too many are refused.

        Raises:
            QuotaExceededError: The principal keeps as many as it may.
            StoreUnavailableError: Also when blocks were forgotten on the way.
        """
        args = {
            "matrix": parts.matrix_id,
            "parts": _parts_name(parts),
            "blocks": len(parts.tables),
            "principal": principal,
            "ttl_s": self._settings.scenario_ttl_s,
            "most": limit_per_shard(self._settings, "max_matrices"),
            "index": "roads" if is_cache else "mats",
            "evicts": is_cache,
        }
        fields = {"principal": principal, **words}
        flat = [word for pair in fields.items() for word in pair]
        (word, *_rest) = await self._script_client.step("put_matrix", ids.shard_of("mat", parts.matrix_id), args, *flat)
        if word == "lost":
            raise StoreUnavailableError
        if word == "quota":
            problem, allowed = "You keep as many matrices as you may.", limit_text(self._settings, "max_matrices")
            raise QuotaExceededError.reached(problem, allowed, "Delete one.", retry_after_s=60)

    async def get_matrix(self, principal: str, matrix_id: str) -> dict[str, str]:
        """Return matrices of the principal as they were stored, and keep them for another TTL."""
        await self._script_client.owned("mat", matrix_id, principal)
        if not (kept := await self._script_client.fetch("HGETALL", self._script_client.key_of("mat", matrix_id))):
            raise NotFoundError
        await self._touch("mat", matrix_id, principal)
        return _joined({field: word for field, word in kept.items() if field != "principal"})

    async def outline_matrix(self, principal: str, matrix_id: str) -> tuple[str, list[str]]:
        """Return the locations of the principal's matrices as they were stored, and the names of all stored fields."""
        (locations,) = await self._script_client.owned("mat", matrix_id, principal, "locations")
        if not (fields := await self._script_client.command("HKEYS", self._script_client.key_of("mat", matrix_id))):
            raise NotFoundError
        await self._touch("mat", matrix_id, principal)
        return locations, list(dict.fromkeys(field.partition(":")[0] for field in fields))

    async def drop_matrix(self, principal: str, matrix_id: str) -> None:
        """Delete matrices of the principal."""
        await self._script_client.owned("mat", matrix_id, principal)
        await self._script_client.command("DEL", self._script_client.key_of("mat", matrix_id))


def _joined(kept: Mapping[str, str]) -> dict[str, str]:
    """Return packed matrices whose blocks lie in fields of their own."""
    found: dict[str, list[str]] = {}
    for field in sorted(kept):
        found.setdefault(field.partition(":")[0], []).append(kept[field])
    return {name: "".join(texts) for name, texts in found.items()}


def _parts_name(parts: MatrixParts) -> str:
    return f"{parts.matrix_id}:{parts.token}"
