"""The day as a caller writes it: its fields, its schema, its faults, its changes."""
