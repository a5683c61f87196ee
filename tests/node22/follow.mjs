// Follows a solve: by subscription and waiting calls (handshake revisions), or by listening anew (2026-07-28).
// Usage: node follow.mjs URL DIRECT WHICH DAY   (DIRECT: a replica; WHICH: as in clients.mjs; DAY: scenario as JSON).
// Prints one JSON object of what it saw.
import { connect, eventsOf, until } from "./clients.mjs";

const [url, direct, which, day] = [...process.argv.slice(2, 5), JSON.parse(process.argv[5])];
const { client, wire, errors, use } = await connect(url, which);
const { scenario_id } = await use("create_scenario", day);
const { job_id } = await use("solve_vrp", { scenario_id, solve_time: "PT4S", fresh: true });
const uri = `job://${job_id}`;
const progress = [];

async function wait() {
  for (let wait_s = 0; ; wait_s = 20) {
    const onprogress = (note) => progress.push(note.progress);
    const status = await use("query_vrp_status", { job_id, wait_s }, { onprogress });
    if (!["QUEUED", "SOLVING"].includes(status.status)) return status.status;
  }
}

function told(method) {
  return wire.filter((message) => message.method === method);
}

async function subscribe() {
  await client.subscribeResource({ uri });
  const status = await wait();
  const events = await eventsOf(direct, job_id);
  await until(() => told("notifications/resources/updated").length >= events - 1); // it was queued before
  return { status, events, updated: told("notifications/resources/updated").map((note) => note.params.uri) };
}

async function listen() {
  const KEY = "planner-mcp/jobs";
  const ends = ["notifications/complete", "notifications/jobs/cancelled"];
  let listens = 0;
  let isOver = false;
  const ended = until(() => ends.some((method) => told(method).length)).then((is) => { isOver = true; return is; });
  while (!isOver) {
    listens += 1;
    const subscription = await client.listen({ resourceSubscriptions: [uri], [KEY]: [job_id] });
    await Promise.race([subscription.closed, ended]);
    if (isOver) await subscription.close();
  }
  const heard = wire.filter((message) => /^notifications\/(jobs\/|complete)/.test(message.method ?? ""));
  return { status: await wait(), listens, heard: heard.map((note) => note.params) };
}

const seen = which === "2 modern" ? await listen() : await subscribe();
client.onerror = undefined; // closing ends the streams, which is no fault
await client.close();
console.log(JSON.stringify({ ...seen, job_id, progress, errors }));
process.exit(0);
