"""The methods of MCP: tools, resources, prompts, tasks, completion and elicitation.

Begin with `tool_methods`; `tool_listing` makes the entries of its list, `elicitation` asks the user before a call goes
on. A call may become a task: `task_view` shows a job as a task, `core_tasks` is the form of
2025-11-25, `task_methods` the extension. Beside the tools stand `resource_methods`, `prompt_methods`, `skill_methods`
and `argument_completion`. The pages of all lists have encrypted `page_cursors`.
"""
