// Drives a planner by a client that openapi-typescript made of its document: create, solve, events, plan.
import { argv } from "node:process";
import createClient from "openapi-fetch";
import type { paths } from "./schema.d.ts";

const [url = "", day = "{}"] = argv.slice(2);
const client = createClient<paths>({ baseUrl: url });

function succeeded<T>(answer: { data?: T; error?: unknown; response: Response }): T {
  if (answer.data === undefined) throw new Error(`${answer.response.status} ${JSON.stringify(answer.error)}`);
  return answer.data;
}

const made = succeeded(
  await client.POST("/v1/scenarios", { body: JSON.parse(day), params: { header: { "Idempotency-Key": "ts-1" } } }),
);
const job = succeeded(
  await client.POST("/v1/jobs", { body: { scenario_id: made.scenario_id, solve_time: "PT2S" } }),
);
const job_id: string = job.job_id;
const events = succeeded(
  await client.GET("/v1/jobs/{job_id}/events", { params: { path: { job_id } }, parseAs: "text" }),
);
const ended = succeeded(
  await client.GET("/v1/jobs/{job_id}", { params: { path: { job_id }, query: { wait_s: 45 } } }),
);
const plan = succeeded(await client.GET("/v1/jobs/{job_id}/plan", { params: { path: { job_id } } }));
if (typeof plan === "string") throw new Error("JSON is what a client gets that names no other type");
const refused = await client.GET("/v1/jobs/{job_id}", { params: { path: { job_id: "job-0-" + "a".repeat(26) } } });
console.log(
  JSON.stringify({
    status: ended.status,
    has_end: String(events).includes("notifications/complete"),
    ticket: plan.routes[0]?.visits[0]?.ticket_id,
    refused: [refused.response.status, refused.error?.code],
  }),
);
