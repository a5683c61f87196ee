"""Slack induction by string removals, in C++: sources, their build, and the numbers that cross the border.

`workers/engines/native/sisr_engine.py` is the engine; `build.py` compiles the library next to this file; `arrays.py`
flattens a problem for it and reads plans back. Read the C++ in this order: input, support, problem, route with its
clock, delays and locks, plan, insertion, ruin, recreate, trade, leniency, population, annealer, parts, board, search,
capi.
"""
