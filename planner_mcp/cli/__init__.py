"""The command line: one file per group of commands, and the processes behind `serve`."""
