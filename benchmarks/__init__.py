"""What is measured, and how: latencies of the house, and the reading of published instances."""
