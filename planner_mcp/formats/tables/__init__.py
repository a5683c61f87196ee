"""Tables and workbooks as people keep them, read to a scenario. Begin with `scenario_from_tables`.

`sheets` read a file as tables, `headers` and `cells` what stands in them; `columns` find the field of each column, and
`rows` become tickets and agents.
"""
