"""Programs to read, run and copy: each uses the planner from outside, the way a client does."""
