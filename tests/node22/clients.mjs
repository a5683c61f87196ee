// The TypeScript clients behind one face: SDK 1.x, and the 2.x client in both eras; each tells all that reaches it.
import * as v2 from "@modelcontextprotocol/client";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Transport1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

export const TASKS = "io.modelcontextprotocol/tasks";
export const INFO = { name: "typescript-test", version: "1.0.0" };
export const BROKEN = /disconnect|terminated|reconnect|abort|other side closed/i; // what a client says of a broken stream

// Returns {client, transport, wire, errors, use}; `which` is "1", "2" or "2 modern". `wire` has every message, in order.
export async function connect(url, which, capabilities = {}) {
  const wire = [];
  const errors = [];
  const versionNegotiation = { mode: which === "2 modern" ? { pin: "2026-07-28" } : "legacy" };
  const client = which === "1" ? new Client1(INFO) : new v2.Client(INFO, { capabilities, versionNegotiation });
  const transport = new (which === "1" ? Transport1 : v2.StreamableHTTPClientTransport)(new URL(url));
  transport.onmessage = (message) => { wire.push(message); };
  client.onerror = (error) => { if (!BROKEN.test(error.message)) errors.push(error.message); };
  await client.connect(transport);

  async function use(name, args, options) {
    const rest = which === "1" ? [undefined, options] : [options];
    const result = await client.callTool({ name, arguments: args }, ...rest);
    if (result.isError) throw new Error(JSON.stringify(result.structuredContent));
    return result.structuredContent;
  }

  return { client, transport, wire, errors, use };
}

// Returns how many events a job has had, as told at the replica's own address.
export async function eventsOf(direct, jobId) {
  const answer = await fetch(`${direct}/jobs/${jobId}/events`);
  return (await answer.text()).split("\n").filter((line) => line.startsWith("id: ")).length;
}

// Waits until something holds, for 20 s at most; returns whether it does.
export async function until(holds) {
  for (let turn = 0; turn < 400; turn += 1) {
    if (await holds()) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}
