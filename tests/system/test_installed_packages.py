"""What users install: by `uvx`, by `pipx`, by a desktop host; each from a wheel of this checkout.

What the wheel depends on comes from the package index. Without it, and without uv and pipx, these tests are skipped.
"""

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

import planner_mcp
from tests.shared.cli.built_wheel import build_wheel
from tests.shared.node import desktop_bundle, node_packages
from tests.shared.scenarios.client_scenarios import SMALLEST, submit, use, wait_for

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(400)]
INSTALL_S = 300
"""The longest that the download and installation of all dependencies may take."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel for this machine."""
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the commands of uv and pipx."""
    folder = tmp_path_factory.mktemp("tools")
    venv.create(folder, with_pip=False, symlinks=True)
    command = ["pip", "--python", str(folder / "bin" / "python"), "install", "--quiet", "uv", "pipx"]
    installed = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True)
    if installed.returncode:
        pytest.skip("uv and pipx cannot be had here")
    return folder / "bin"


def environment(tools: Path, **more: str) -> dict[str, str]:
    """Return the variables of a user's shell: no package of this checkout is on the path."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    return kept | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "UV_PYTHON": sys.executable} | more


def run(command: list[str], folder: Path, env: dict[str, str]) -> str:
    """Run a command in a folder and return what it printed."""
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=INSTALL_S)
    assert done.returncode == 0, done.stderr
    return done.stdout


async def plans_over_stdio(command: list[str], folder: Path, env: dict[str, str]) -> None:
    """Initialize, list the tools, and solve by the native engine."""
    started = StdioServerParameters(command=command[0], args=command[1:], env=env, cwd=folder)
    with anyio.fail_after(INSTALL_S):
        async with Client(started) as client:
            assert client.session.server_info.version == planner_mcp.__version__
            assert "solve_vrp" in {tool.name for tool in (await client.list_tools()).tools}
            job = await submit(client, SMALLEST, engine="sisr")
            await wait_for(client, job, "COMPLETED")
            assert (await use(client, "read_plan", job_id=job))["engine"] == "sisr"


async def test_uvx_starts_a_planner_that_plans(tmp_path: Path, wheel: Path, tools: Path) -> None:
    """SPEC O7: what the plug-in files and `server.json` start, but for where the wheel comes from."""
    env = environment(tools, PLANNER_DATA_DIR=str(tmp_path / "data"))
    command = [str(tools / "uvx"), "--from", str(wheel), "planner-mcp"]
    assert run([*command, "--version"], tmp_path, env) == f"planner-mcp {planner_mcp.__version__}\n"
    await plans_over_stdio(command, tmp_path, env)


async def test_pipx_installs_a_planner_that_plans(tmp_path: Path, wheel: Path, tools: Path) -> None:
    """SPEC O7: into an environment of its own, with one command on the path."""
    commands = tmp_path / "bin"
    env = environment(
        tools,
        PLANNER_DATA_DIR=str(tmp_path / "data"),
        PIPX_HOME=str(tmp_path / "pipx"),
        PIPX_BIN_DIR=str(commands),
        PIPX_DEFAULT_PYTHON=sys.executable,
    )
    run([str(tools / "pipx"), "install", str(wheel)], tmp_path, env)
    assert [each.name for each in commands.iterdir()] == ["planner-mcp"]
    command = [str(commands / "planner-mcp")]
    assert run([*command, "--version"], tmp_path, env) == f"planner-mcp {planner_mcp.__version__}\n"
    await plans_over_stdio(command, tmp_path, env)


@pytest.mark.node
@pytest.mark.skipif(not node_packages.IS_THERE, reason="needs node and npm")
async def test_the_unpacked_bundle_starts_a_planner_that_plans(tmp_path: Path, wheel: Path, tools: Path) -> None:
    """SPEC O7: the command of its manifest, with its defaults filled in as a host does."""
    folder = tmp_path / "bundle"
    with zipfile.ZipFile(desktop_bundle.pack(tmp_path)) as packed:
        packed.extractall(folder)
    manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text("utf-8"))
    assert (manifest["manifest_version"], manifest["server"]["type"]) == ("0.4", "uv")
    words = {f"${{user_config.{name}}}": each["default"] for name, each in manifest["user_config"].items()}
    words |= {"${__dirname}": str(folder), "${HOME}": str(tmp_path)}  # defaults name these: they are filled in last

    def filled(text: str) -> str:
        for word, meant in words.items():
            text = text.replace(word, meant)
        return text

    started = manifest["server"]["mcp_config"]
    own = {name: filled(text) for name, text in started["env"].items()}
    env = environment(tools, UV_FIND_LINKS=str(wheel.parent), **own)
    await plans_over_stdio([str(tools / started["command"]), *map(filled, started["args"])], tmp_path, env)
    assert (tmp_path / ".local" / "share" / "planner-mcp").is_dir()
