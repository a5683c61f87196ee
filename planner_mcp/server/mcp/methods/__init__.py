"""What each method of MCP answers: the planner's tools, resources and prompts in the words of the protocol.

Begin with `toolcalls`; `annotations` adds what the SDK drops from its list, `elicit` asks the user before a call goes
on. A call may become a task: `task_view` is a job as a task, `tasks2025` the core form, `tasks` the extension and who
has which. `library` puts together what is read beside tools: `resources`, `prompts`, `completion`, in pages whose
`cursors` are sealed.
"""
