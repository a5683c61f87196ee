"""SISR (slack induction by string removals) in C++: the sources, their build, and the interface to Python.

`workers/engines/native/sisr_engine.py` is the engine. `build.py` compiles the library into this folder.
`native_arrays.py` converts a problem to flat arrays and reads plans back. Reading order of the C++: problem_input,
search_support, search_problem, route_state with route_clock, departure_delays and locked_visits, working_plan,
cheapest_insertion, ruin, recreate, inter_route_exchange, unassigned_penalty, population, shared_incumbent,
route_log, annealer, decomposition, search_driver, c_api.
"""
