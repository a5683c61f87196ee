"""`python -m tests.conformance.fixture_server serve`: the command line of `planner-mcp`, serving the conformance
variant.
"""

from planner_mcp.cli.command_line import app
from tests.conformance.fixture_server import conformance_app

app(obj=conformance_app)
