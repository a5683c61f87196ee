"""The command line: one file a group of commands, and the processes behind `serve`."""
