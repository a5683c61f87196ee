"""The OR-Tools routing library as an engine."""
