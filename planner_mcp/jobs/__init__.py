"""The rules of a job: its states, who may change them, and what callers may ask. Imports `routing` and no store."""
