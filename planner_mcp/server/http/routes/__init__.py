"""The planner's own routes, save those under `/v1`."""
