"""What every part of the store works with."""

from planner_mcp.jobs.store.connection.script_client import ScriptClient
from planner_mcp.settings import Settings


class StorePart:
    """One part; `RedisStore` is all of them.

    Args:
        script_client: Runs steps and commands; closed with the store.
        settings: As the steps were loaded with.
    """

    def __init__(self, script_client: ScriptClient, settings: Settings) -> None:
        self._script_client = script_client
        self._settings = settings
