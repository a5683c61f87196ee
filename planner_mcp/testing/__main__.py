"""`python -m planner_mcp.testing serve`: the command line of `planner-mcp`, serving the conformance variant."""

from planner_mcp.cli.commands import app
from planner_mcp.testing import conformance_app

app(obj=conformance_app)
