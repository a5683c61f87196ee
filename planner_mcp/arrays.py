"""NumPy, imported when something is computed: `from planner_mcp import arrays as np`; and the types of its arrays.

An idle server computes nothing, and what a start imports waits for none of this: NumPy takes 7 MiB and 0.1 s.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy
    from numpy import *  # noqa: F403
    from numpy.typing import NDArray

    Array = NDArray[Any]
    Integers = NDArray[numpy.int64]
    ShortIntegers = NDArray[numpy.int32]
    Indices = NDArray[numpy.intp]
    Floats = NDArray[numpy.float64]
    Flags = NDArray[numpy.bool_]
else:
    Array = Integers = ShortIntegers = Indices = Floats = Flags = Any

    def __getattr__(name: str) -> Any:
        """Return a name of NumPy, and keep it for the next time."""
        if name.startswith("_"):  # the import system looks for `__path__`
            raise AttributeError(name)
        import numpy

        value = globals()[name] = getattr(numpy, name)
        return value
