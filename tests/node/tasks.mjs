// Runs a solve as a task of revision 2025-11-25, with the official client's experimental half.
// Usage: node tasks.mjs URL RING   (scenario as JSON). Prints one JSON object of what it saw.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { TaskStatusNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const [url, ring] = [new URL(process.argv[2]), JSON.parse(process.argv[3])];
const errors = [];
const told = [];

const client = new Client({ name: "tasks-test", version: "1.0.0" });
client.onerror = (error) => { if (!error.message.includes("AbortError")) errors.push(error.message); };
client.setNotificationHandler(TaskStatusNotificationSchema, (note) => { told.push(note.params.status); });
await client.connect(new StreamableHTTPClientTransport(url));
const { tools } = await client.listTools();
const support = tools.find((tool) => tool.name === "solve_vrp").execution.taskSupport;

async function solve(solve_time, onTask = async () => {}) {
  const created = await client.callTool({ name: "create_scenario", arguments: ring });
  const { scenario_id } = created.structuredContent;
  const params = { name: "solve_vrp", arguments: { scenario_id, solve_time, fresh: true } };
  const seen = [];
  const options = { task: { ttl: 600000 }, onprogress: (note) => seen.push(["progress", note.progress]) };
  for await (const message of client.experimental.tasks.callToolStream(params, undefined, options)) {
    seen.push([message.type, message.task?.status ?? message.result?.structuredContent?.status ?? String(message.error)]);
    if (message.type === "taskCreated") await onTask(message.task.taskId);
  }
  return seen;
}

const plan = await solve("PT2S");
let afterCancel;
const cancelled = await solve("PT30S", async (taskId) => {
  afterCancel = (await client.experimental.tasks.cancelTask(taskId)).status;
});
const listed = (await client.experimental.tasks.listTasks()).tasks.map((task) => task.status);
client.onerror = undefined; // closing aborts the client's own streams
await client.close();
console.log(JSON.stringify({ support, plan, cancelled, afterCancel, listed, told, errors }));
