"""Tools on a scenario: written, imported, checked, revised and listed."""
