"""The choice of the compiler for the native engine (SPEC O7)."""

import os
from pathlib import Path

import pytest

from workers.engines.native import build

FAILING_COMPILER = "#!/bin/sh\nexit 1\n"


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system without any C++ compiler."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CXX", raising=False)


@pytest.mark.usefixtures("no_compiler")
def test_without_any_compiler_the_error_says_how_to_get_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC O7: the engine is not left out in silence."""
    monkeypatch.setattr(build, "has_zig", lambda: False)
    with pytest.raises(
        build.BuildError, match=r"native engine is left out.*install a C.. compiler or the package ziglang"
    ):
        build.build()


@pytest.mark.usefixtures("no_compiler")
def test_the_build_command_says_that_the_engine_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """SPEC O7: `make setup` goes on without the engine and prints a warning."""
    monkeypatch.setattr(build, "has_zig", lambda: False)
    monkeypatch.setattr(build, "LIBRARY", tmp_path / "absent.so")
    monkeypatch.setattr("sys.argv", ["build"])
    build.main()
    assert capsys.readouterr().err.startswith("warning: The native engine is left out")


@pytest.mark.usefixtures("no_compiler")
def test_zig_compiles_for_this_platform_where_the_system_has_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC O7: the command names the platform, so the library runs on every processor of its kind."""
    if build.platform_here() is None:
        pytest.skip("no wheels are built for this platform")
    monkeypatch.setattr(build, "has_zig", lambda: True)
    command = build.command_here()
    assert command[1:4] == ["-m", "ziglang", "c++"]
    assert command[command.index("-target") + 1] == build.TARGETS[build.platform_here()]


def test_a_compiler_that_does_not_know_our_flags_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """SPEC O7: an old compiler, or the stub that macOS has in its place, does not stop the build."""
    for name in ("c++", "g++", "clang++"):
        (tmp_path / name).write_text(FAILING_COMPILER, encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin")
    monkeypatch.delenv("CXX", raising=False)
    assert build.system_compiler() not in {str(tmp_path / name) for name in ("c++", "g++", "clang++")}


def test_a_platform_that_is_not_built_for_is_refused_with_those_that_are() -> None:
    """SPEC O7: a misspelt platform is not built as another one."""
    with pytest.raises(build.BuildError, match=r"'windows' is not a platform.*macosx_11_0_arm64"):
        build.build(wheel_platform="windows")


def test_a_wheel_for_another_platform_needs_zig(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC O7: the compiler of this system is never taken for another platform."""
    monkeypatch.setattr(build, "has_zig", lambda: False)
    with pytest.raises(build.BuildError, match="needs the Python package ziglang"):
        build.build(wheel_platform="macosx_11_0_arm64")
