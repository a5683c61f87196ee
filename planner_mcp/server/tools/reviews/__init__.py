"""Tools with which people review a plan, from its proposal to its publication."""
