"""Calls of our own functions in a process of their own, with limits of time and memory (ADR 0036).

Begin with `bounded_call.py`, the side of the caller. `call_server.py` is the process that holds the imports and forks
one child for each call; `call_frames.py` is how the two sides talk.
"""
