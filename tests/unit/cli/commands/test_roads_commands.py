"""`planner-mcp roads` (SPEC O9)."""

from pathlib import Path

from tests.shared.cli.command_runs import run_command_line
from tests.shared.roads.road_installations import osrm_or_skip
from tests.shared.roads.street_grid import write_grid


def test_a_map_is_built_once_and_its_status_is_shown(tmp_path: Path) -> None:
    """SPEC O9: ahead of the first start; without a server the engine is absent, which is no success."""
    osrm_or_skip()
    extract = write_grid(tmp_path / "grid.osm")
    built = run_command_line("roads", "build", str(extract), "--data-dir", str(tmp_path))
    assert (built.exit_code, built.stdout[:7]) == (0, "built: ")
    assert "roads: osrm-extract took" in built.stderr
    again = run_command_line("roads", "build", str(extract), "--data-dir", str(tmp_path))
    assert (again.exit_code, again.stderr) == (0, "")
    shown = run_command_line("roads", "status", "--data-dir", str(tmp_path), PLANNER_ROADS_PBF=str(extract))
    assert shown.exit_code == 1
    assert f"extract  {extract}" in shown.stdout
    assert ", built\nstreets  19 streets, 0 house numbers for addresses\nengine   absent" in shown.stdout


def test_what_is_no_extract_ends_in_one_line(tmp_path: Path) -> None:
    """SPEC O9: exit status 1 and what is wrong; the same where none is set."""
    missing = run_command_line("roads", "build", "/no/such.osm.pbf", "--data-dir", str(tmp_path))
    assert missing.exit_code == 1
    assert "/no/such.osm.pbf cannot be read: No such file or directory." in missing.stderr
    none = run_command_line("roads", "status", "--data-dir", str(tmp_path))
    assert none.exit_code == 1
    assert "PLANNER_ROADS_PBF is the path of an .osm.pbf file" in none.stderr
