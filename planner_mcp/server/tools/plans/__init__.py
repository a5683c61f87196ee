"""Tools on a finished plan: read, compared, shared, and why tickets are left out of it."""
