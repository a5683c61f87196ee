"""Extracts that cannot be used, found before anything is built (SPEC O9)."""

import importlib.util
import os
from pathlib import Path

import pytest

from planner_mcp.errors import RoadMapError
from planner_mcp.settings import Settings
from planner_mcp.travel import road_programs
from planner_mcp.travel.road_daemon import daemon_state, road_daemon_beside
from planner_mcp.travel.road_map_builder import check_extract, find_road_programs

XML = b'<?xml version="1.0"?>\n<osm version="0.6">'


def _settings(folder: Path, name: str, content: bytes | None) -> Settings:
    path = folder / name
    if content is not None:
        path.write_bytes(content)
    return Settings(data_dir=folder, roads_pbf=path, roads_max_bytes=5000)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("city.osm.pbf", None, "cannot be read: No such file"),
        ("city.zip", b"PK", "its name ends in .osm.pbf"),
        ("city.pbf", b"PK", "its name ends in .osm.pbf"),
        ("city.osm.pbf", b"", "begins with something else"),
        ("city.osm.pbf", b"<html>not found</html>", "begins with something else"),
        ("city.osm.pbf", XML, "begins with something else"),
        ("city.osm", b"\xff\xfe\x00", "begins with something else"),
        ("city.osm.bz2", b"\x1f\x8b", "begins with something else"),
        ("city.osm", XML + b" " * 5000, "more than PLANNER_ROADS_MAX_BYTES (0.0 MB)"),
    ],
)
def test_what_is_no_extract_is_refused_in_words(tmp_path: Path, name: str, content: bytes | None, problem: str) -> None:
    """SPEC O9: missing, another file, too large: what is wrong, with the path and the setting."""
    with pytest.raises(RoadMapError) as caught:
        check_extract(_settings(tmp_path, name, content))
    assert problem in caught.value.message
    assert str(tmp_path / name) in caught.value.message
    assert caught.value.message.startswith("PLANNER_ROADS_PBF")


def test_a_folder_is_no_extract(tmp_path: Path) -> None:
    """SPEC O9: neither is a folder of that name."""
    (tmp_path / "city.osm.pbf").mkdir()
    with pytest.raises(RoadMapError, match="Is a directory"):
        check_extract(_settings(tmp_path, "city.osm.pbf", None))


def test_valhalla_reads_no_xml_and_says_so(tmp_path: Path) -> None:
    """SPEC O9: what the other engine reads is no promise of this one."""
    settings = _settings(tmp_path, "city.osm", XML).model_copy(update={"roads_engine": "valhalla"})
    with pytest.raises(RoadMapError, match=r"no OpenStreetMap extract that Valhalla reads; its name ends in .osm.pbf"):
        check_extract(settings)


@pytest.mark.anyio
@pytest.mark.parametrize(("engine", "extra"), [("osrm", "roads"), ("valhalla", "roads-valhalla")])
async def test_without_its_engine_a_server_does_not_start_and_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, extra: str
) -> None:
    """SPEC O9: the extra by its name, and what there is on Python 3.11."""
    monkeypatch.setattr(road_programs, "UNPACKED", tmp_path / "nothing")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    settings = _settings(tmp_path, "city.osm.pbf", b"\0\0\0\x0d\n\x09OSMHeader").model_copy(
        update={"roads_engine": engine}
    )
    hint = rf"planner-mcp\[{extra}\] \(Python 3.12 or newer\), or run make setup-roads"
    with pytest.raises(RoadMapError, match=hint):
        find_road_programs(settings)
    with pytest.raises(RoadMapError):
        async with road_daemon_beside(settings):
            pass
    assert daemon_state(settings).phase == "absent"


@pytest.mark.anyio
async def test_without_the_setting_nothing_is_started(tmp_path: Path) -> None:
    """SPEC O9: no folder, no process, no lock."""
    async with road_daemon_beside(Settings(data_dir=tmp_path)):
        assert os.listdir(tmp_path) == []  # noqa: PTH208 — one look at a folder of the test


@pytest.mark.parametrize("text", ["", "{", "[]", '{"phase": "ready", "port": 1}', "\xff"])
def test_a_state_that_cannot_be_read_is_none(tmp_path: Path, text: str) -> None:
    """Our choice: what another version or a torn disk left stops nobody."""
    (tmp_path / "roads").mkdir()
    (tmp_path / "roads" / "daemon.lock").touch()
    (tmp_path / "roads" / "daemon.json").write_text(text, encoding="latin-1")
    assert daemon_state(Settings(data_dir=tmp_path)).phase == "absent"
