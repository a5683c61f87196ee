"""Where attempts run: in processes of the worker itself, or on a Ray cluster."""
