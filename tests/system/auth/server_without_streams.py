"""`planner-mcp`, save that a silent call keeps its plain form however long it takes.

Of two answers that are compared byte for byte neither becomes a stream because the machine was held up.
"""

from typing import Final

from planner_mcp.cli.command_line import main
from planner_mcp.server.mcp.transports import post_exchange

PATIENCE_S: Final = 60.0

setattr(post_exchange, "STREAM_AFTER_S", PATIENCE_S)  # noqa: B010 a constant, to type checkers
main()
