"""Tables and workbooks as people keep them: their columns, cells and amounts, read to a scenario."""
