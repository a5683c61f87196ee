"""The command line: its commands, the processes that they run, and the files that they read and write."""
