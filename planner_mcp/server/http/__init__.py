"""HTTP beside MCP: the dashboard, jobs and files, `/v1`, the manifest, health and metrics. Imports no MCP SDK.

From the outside in: `middleware` around every route; `rest`, the tools under `/v1`; the other `routes`; the `bodies` of
requests; `responses`. `dashboard` has the files of its pages.
"""
