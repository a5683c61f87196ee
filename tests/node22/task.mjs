// Runs a solve as a task: with the experimental half of SDK 1.x, or with the requester of the tasks extension's authors
// on the 2.x client, in either era. Usage: node task.mjs URL WHICH DAY   (as in follow.mjs).
// Prints one JSON object of what it saw.
import { createTaskSessionFromClient, resultFromTaskOutcome } from "@modelcontextprotocol/ext-tasks/client";
import { INFO, TASKS, connect, until } from "./clients.mjs";

const [url, which, day] = [...process.argv.slice(2, 4), JSON.parse(process.argv[4])];
const PROTOCOL = "2026-07-28";
const clientCapabilities = { extensions: { [TASKS]: {} } };
const { client, wire, errors, use } = await connect(url, which, which === "2 modern" ? clientCapabilities : {});
const { scenario_id } = await use("create_scenario", day);
const call = { scenario_id, solve_time: "PT4S", fresh: true };

// Sends a request of 2026-07-28 that the SDK's own types do not know.
async function rawDispatch(request) {
  const name = request.params.taskId ?? request.params.name;
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": PROTOCOL,
    "mcp-method": request.method,
    "mcp-name": name,
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: crypto.randomUUID(), ...request });
  const answer = await fetch(url, { method: "POST", headers, body });
  const text = await answer.text();
  return JSON.parse(text.startsWith("{") ? text : text.split("\n").findLast((line) => line.startsWith("data: {")).slice(6));
}

async function byTheSdk() {
  const params = { name: "solve_vrp", arguments: call };
  const options = { task: { ttl: 600000 }, onprogress: () => {} };
  let result;
  for await (const message of client.experimental.tasks.callToolStream(params, undefined, options)) {
    if (message.type === "error") throw message.error;
    result = message.result ?? result;
  }
  return result;
}

async function byTheRequester() {
  const framing = { protocolVersion: PROTOCOL, clientInfo: INFO, clientCapabilities };
  const raw = which === "2 modern" ? { rawDispatch, v2RequestFraming: framing } : {};
  const session = createTaskSessionFromClient(client, { endpointId: "planner", ...raw });
  const execution = await session.callTool("solve_vrp", call, { task: { preference: "prefer" } });
  const result = resultFromTaskOutcome((await execution.settle()).outcome);
  await session.close();
  return result;
}

const result = which === "1" ? await byTheSdk() : await byTheRequester();
const told = () => wire.filter(({ method }) => /^notifications\/(progress|tasks\/status)$/.test(method ?? ""));
if (which !== "2 modern") await until(() => told().some((note) => note.params.status === "completed"));
client.onerror = undefined; // closing ends the streams, which is no fault
await client.close();
const lines = told().map((note) => note.params.message ?? note.params.statusMessage);
console.log(JSON.stringify({ ...result.structuredContent, lines, errors }));
process.exit(0);
