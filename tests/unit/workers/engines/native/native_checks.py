"""The engine's sources compiled with a check in C++: `NAME.cpp` beside this file, with a function `sisr_NAME`."""

import ctypes
from pathlib import Path

import pytest

from workers.engines.native import build, native_arrays


def native_check(name: str, folder: Path) -> ctypes.CDLL:
    """Compile into a folder and return the library; skip where there is no compiler, fail where it refuses the sources.

    The function takes a problem, a seed, the number of moves, an incumbent buffer with its size, and an array for its
    counts. It returns the number of wrong plans.
    """
    source = Path(__file__).with_name(f"{name}.cpp")
    try:
        build.command_here()
    except build.BuildError as error:
        pytest.skip(str(error))
    path = build.build(folder / f"{name}.so", ("-O0", "-I", str(build.FOLDER), str(source)))
    library = ctypes.CDLL(str(path))
    run = getattr(library, f"sisr_{name}")
    numbers, number = ctypes.POINTER(ctypes.c_int64), ctypes.c_int64
    run.restype = number
    run.argtypes = [ctypes.POINTER(native_arrays.Input), number, number, numbers, number, numbers]
    return library
