"""The wheels in `dist/`: `make wheels` builds them for four platforms and runs this module."""

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.shared.cli.built_wheel import ROOT, environment_with
from tests.shared.scenarios.seeded_fleet import fleet_body
from workers.engines.native import build

WHEELS = {path.stem.rpartition("-")[2]: path for path in (ROOT / "dist").glob("*.whl")}
LIBRARY = "workers/engines/native/_sisr.so"
ELF_MACHINES = {"x86_64": 62, "aarch64": 183}
MACH_O_TYPES = {"x86_64": 0x0100_0007, "arm64": 0x0100_000C}
SOLVE = """
import json, sys, time
from pathlib import Path
import workers
from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from planner_mcp.routing.verification.plan_verification import verify
from workers.engines.engine_interface import SearchLimits
from workers.engines.native.sisr_engine import SisrEngine

assert Path(workers.__file__).is_relative_to(sys.prefix), workers.__file__
problem = compile_scenario(parse_scenario(json.loads(sys.argv[1])))
limits = SearchLimits(time.monotonic() + 60)
best = SisrEngine(max_iterations=1000).solve(problem, limits, lambda _: None, lambda: False).best
plan = build_plan(problem, best)
print(json.dumps([plan.tickets_served, verify(problem, plan)]))
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not WHEELS, reason="make wheels builds what is checked here"),
]


def library(platform: str) -> bytes:
    """Return the native library of one wheel."""
    with zipfile.ZipFile(WHEELS[platform]) as wheel:
        return wheel.read(LIBRARY)


def test_there_is_one_wheel_for_each_platform() -> None:
    """SPEC O7: Linux and macOS, each on two kinds of processors."""
    assert sorted(WHEELS) == sorted(build.TARGETS)


@pytest.mark.parametrize("platform", [tag for tag in build.TARGETS if tag.startswith("manylinux")])
def test_the_library_of_a_linux_wheel_runs_where_its_tag_says(platform: str) -> None:
    """SPEC O7: on that processor, with glibc 2.17, and without a C++ library of the system."""
    code = library(platform)
    assert code[:4] == b"\x7fELF"
    assert int.from_bytes(code[18:20], "little") == ELF_MACHINES[platform.removeprefix("manylinux_2_17_")]
    versions = {tuple(map(int, found.split(b"."))) for found in re.findall(rb"GLIBC_(\d+(?:\.\d+)+)", code)}
    assert versions
    assert max(versions) <= (2, 17)
    assert b"libstdc++" not in code


@pytest.mark.parametrize("platform", [tag for tag in build.TARGETS if tag.startswith("manylinux")])
def test_auditwheel_agrees_with_the_tag_of_a_linux_wheel(platform: str) -> None:
    """SPEC O7: PyPI accepts the wheel."""
    pytest.importorskip("auditwheel")
    shown = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", str(WHEELS[platform])], capture_output=True, text=True
    )
    assert f'consistent with the following platform tag: "{platform}"' in " ".join(shown.stdout.split()), shown.stderr


@pytest.mark.parametrize("platform", [tag for tag in build.TARGETS if tag.startswith("macosx")])
def test_the_library_of_a_macos_wheel_is_for_its_processor(platform: str) -> None:
    """SPEC O7: a signed 64-bit library, as Apple processors demand."""
    code = library(platform)
    assert int.from_bytes(code[:4], "little") == 0xFEED_FACF
    assert int.from_bytes(code[4:8], "little") == MACH_O_TYPES[platform.removeprefix("macosx_11_0_")]
    assert platform != "macosx_11_0_arm64" or (0xFADE_0CC0).to_bytes(4, "big") in code


def test_the_wheel_of_this_platform_solves_without_a_compiler(tmp_path: Path) -> None:
    """SPEC O7: installed into an environment of its own, with nothing else on the path."""
    here = build.platform_here()
    if here is None:
        pytest.skip("no wheels are built for this platform")
    python = environment_with(WHEELS[here], tmp_path / "venv")
    done = subprocess.run(
        [python, "-I", "-c", SOLVE, json.dumps(fleet_body(12))],
        cwd=tmp_path,
        env={"PATH": str(python.parent)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [12, []]
