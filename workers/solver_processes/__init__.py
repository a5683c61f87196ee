"""The processes that solve: a fork server, a pool of children, and the incumbent each child verifies."""
