"""Prompts: instructions for usual planning tasks that a client gives to its model (SPEC R4)."""
