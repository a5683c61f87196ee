"""Addresses of a day on the command line: resolved as the server resolves them, without what users confirmed there."""

from typing import Any

from planner_mcp.cli.command_runner import run_command
from planner_mcp.geocoding.geocoding_service import GeocodingService
from planner_mcp.server.tools.arguments.scenario_addresses import AddressedDay, with_resolved_addresses
from planner_mcp.settings import Settings


def addressed_day(body: Any, settings: Settings) -> AddressedDay:
    """Return a day with positions for its addresses.

    Raises:
        InputError: As `with_resolved_addresses`.
    """
    return with_resolved_addresses(body, lambda texts: run_command(GeocodingService(settings).resolve(texts)))
