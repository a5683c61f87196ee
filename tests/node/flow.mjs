// Drives the planner with the official TypeScript client: create, solve, wait, break off and resume, cancel.
// Usage: node flow.mjs URL SMALLEST RING   (scenarios as JSON). Prints one JSON object of what it saw.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";

const [url, smallest, ring] = [new URL(process.argv[2]), JSON.parse(process.argv[3]), JSON.parse(process.argv[4])];
const errors = [];

async function connect(options = {}) {
  const client = new Client({ name: "typescript-test", version: "1.0.0" });
  client.onerror = (error) => {
    if (!error.message.includes("AbortError")) errors.push(error.message); // closing aborts the client's own streams
  };
  const transport = new StreamableHTTPClientTransport(url, options);
  await client.connect(transport);
  return { client, transport };
}

async function use(client, name, args, options) {
  const result = await client.callTool({ name, arguments: args }, CallToolResultSchema, options);
  if (result.isError) throw new Error(JSON.stringify(result.structuredContent));
  return result.structuredContent;
}

async function submit(client, scenario, solveTime) {
  const { scenario_id } = await use(client, "create_scenario", scenario);
  const { job_id } = await use(client, "solve_vrp", { scenario_id, solve_time: solveTime, fresh: true });
  return job_id;
}

async function waitFor(client, jobId, ...states) {
  const wait_s = states.includes("SOLVING") ? 0.2 : 20; // the call itself waits for the end alone
  for (;;) {
    const status = await use(client, "query_vrp_status", { job_id: jobId, wait_s });
    if (states.includes(status.status)) return status;
  }
}

async function breakOffAndResume(jobId) {
  const heard = [];
  let token;
  const first = await connect();
  const request = { method: "tools/call", params: { name: "query_vrp_status", arguments: { job_id: jobId, wait_s: 1 } } };
  const started = new Promise((resolve) => {
    const onresumptiontoken = (value) => { token ??= value; resolve(); }; // the first: the answer may be in the pipe
    first.client.request(request, CallToolResultSchema, { onresumptiontoken, onprogress: () => {} }).catch(() => {});
  });
  await started;
  const { sessionId, protocolVersion } = first.transport;
  first.client.onerror = undefined; // what is still in its pipe has nobody left to hear it
  await first.client.close();
  const second = await connect({ sessionId });
  second.transport.setProtocolVersion(protocolVersion);
  await second.client.ping(); // takes id 0, so that the request below has the id, and progress token, it had before
  const options = { resumptionToken: token, onresumptiontoken: (value) => heard.push(value), onprogress: () => {} };
  const result = await second.client.request(request, CallToolResultSchema, options);
  await second.client.close();
  return { status: result.structuredContent.status, tokens: heard.length, repeated: heard.includes(token) };
}

const { client, transport } = await connect();
const tools = (await client.listTools()).tools.map((tool) => tool.name);
const small = await waitFor(client, await submit(client, smallest, "PT1S"), "COMPLETED");

const long = await submit(client, ring, "PT30S");
const progress = [];
while (progress.length === 0) { // on a busy machine a second may bring none
  const onprogress = (note) => progress.push(note.progress);
  await use(client, "query_vrp_status", { job_id: long, wait_s: 1 }, { onprogress });
}
await waitFor(client, long, "SOLVING");
const resumed = await breakOffAndResume(long);
const cancelled = await use(client, "cancel_vrp_job", { job_id: long });
const ended = await waitFor(client, long, "CANCELLED");

await transport.terminateSession();
await client.close();
console.log(JSON.stringify({ tools, small, progress, resumed, cancelled, ended, errors }));
