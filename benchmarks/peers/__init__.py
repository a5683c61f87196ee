"""The same trivial job on other engines, side by side with ours in one run."""
