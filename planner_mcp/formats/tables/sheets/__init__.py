"""Files and their sheets as tables: text files, workbooks, and what the planner itself has exported."""
