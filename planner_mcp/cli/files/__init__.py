"""Files that commands read and write: scenarios, files of other programs, plans."""
