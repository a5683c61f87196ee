"""Confirmed addresses in Redis: one hash for each principal, digest of the text → record as JSON.

They live as long as scenarios do from the last confirmation, and a principal has a bounded number of them.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from planner_mcp.addresses.structured_address import Accuracy, PlacePosition, StructuredAddress
from planner_mcp.errors import TooLargeError
from planner_mcp.jobs.records.confirmed_addresses import ConfirmedAddress, address_key
from planner_mcp.jobs.store import store_keys
from planner_mcp.jobs.store.connection.store_part import StorePart

MAX_CONFIRMED: Final = 20_000
"""Addresses of one principal; about 10 MB."""


class ConfirmedAddressStore(StorePart):
    """Keeps confirmed addresses by principal."""

    async def confirm(self, principal_id: str, text: str, meant: ConfirmedAddress) -> None:
        """Keep what a text means to a principal.

        Raises:
            TooLargeError: They have confirmed as many as is allowed.
        """
        name, field = _name(principal_id), address_key(text)
        if not await self._script_client.has_room(name, field, MAX_CONFIRMED):
            raise TooLargeError(f"At most {MAX_CONFIRMED} addresses are kept.")
        text, life_s = json.dumps(asdict(meant), ensure_ascii=False), self._settings.scenario_ttl_s
        await self._script_client.put_fields(name, {field: text}, life_s=life_s)

    async def confirmed(self, principal_id: str, texts: Sequence[str]) -> Mapping[str, ConfirmedAddress]:
        """Return what is known of some texts, by text."""
        if not texts:
            return {}
        fields = [address_key(text) for text in texts]
        found: list[Any] = await self._script_client.command("HMGET", _name(principal_id), *fields)
        return {text: _meaning(json.loads(record)) for text, record in zip(texts, found, strict=True) if record}


def _meaning(record: Any) -> ConfirmedAddress:
    position = record["position"]
    place = None if position is None else PlacePosition(**{**position, "accuracy": Accuracy(position["accuracy"])})
    return ConfirmedAddress(StructuredAddress(**record["address"]), place)


def _name(principal_id: str) -> str:
    return store_keys.key(store_keys.UNSHARDED, "places", principal_id)
