// Drives the planner with the client of the old HTTP+SSE transport: plan, subscribe, wait.
// Usage: node sse.mjs URL SCENARIO   (as JSON). Prints one JSON object of what it saw.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const [url, scenario] = [new URL(process.argv[2]), JSON.parse(process.argv[3])];
const errors = [];
const updated = new Set();
const progress = []; // of each call
const answered = new Set();
const late = []; // tokens of progress that came after its answer

// Sees each message as it comes. This client handles answers at once and notifications a moment later, so of a progress
// and its answer in one read it forgets the progress and complains; what was sent in which order is told here.
const transport = new SSEClientTransport(url);
transport.onmessage = ({ id, method, params }) => {
  if (method === undefined) answered.add(id);
  else if (method === "notifications/progress" && answered.has(params.progressToken)) late.push(params.progressToken);
};

const client = new Client({ name: "old-typescript-test", version: "1.0.0" });
client.onerror = (error) => errors.push(error.message);
client.setNotificationHandler(ResourceUpdatedNotificationSchema, (note) => { updated.add(note.params.uri); });
await client.connect(transport);

async function use(name, args, options) {
  const result = await client.callTool({ name, arguments: args }, undefined, options);
  if (result.isError) throw new Error(JSON.stringify(result.structuredContent));
  return result.structuredContent;
}

const { scenario_id } = await use("create_scenario", scenario);
const { job_id } = await use("solve_vrp", { scenario_id, solve_time: "PT2S", fresh: true });
await client.subscribeResource({ uri: `job://${job_id}` });
let status;
do {
  const heard = [];
  progress.push(heard);
  const onprogress = (note) => heard.push(note.progress);
  status = await use("query_vrp_status", { job_id, wait_s: 20 }, { onprogress });
} while (["QUEUED", "SOLVING"].includes(status.status));
await client.ping(); // what was said of the job before this answer has arrived
client.onerror = undefined; // closing ends the stream, which is no fault
await client.close();
console.log(JSON.stringify({ status, job_id, updated: [...updated], progress, late, errors }));
