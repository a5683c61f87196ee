"""Tools on addresses and positions."""
