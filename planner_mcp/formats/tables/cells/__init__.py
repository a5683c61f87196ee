"""The text of one cell: numbers, times, durations, windows and positions in it, and the words it is compared with."""
