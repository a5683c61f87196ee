"""The commands: one file for each, or for a group of them."""
