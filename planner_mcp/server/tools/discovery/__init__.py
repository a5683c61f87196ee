"""Tools that lead to what else the server offers: its other tools, and its resources."""
