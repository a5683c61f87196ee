"""The scenario as a caller writes it: its fields, JSON Schema, validation and patches."""
