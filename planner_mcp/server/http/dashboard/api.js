// Talks to the server: tools, resources, and the events of a job. The API key, if one is needed, is kept for the life
// of the browser tab and sent in a header; it is never part of a URL.

const KEY = "planner-api-key";
const RETRY_FIRST_MS = 500;
const RETRY_LONGEST_MS = 10_000;
export const SILENT_MS = 15_000; // a stream without a heartbeat for this long counts as lost

export class ApiError extends Error {
  constructor(status, body) {
    super(body?.message ?? `HTTP ${status}`);
    this.status = status;
    this.code = body?.code;
    this.errors = body?.errors ?? [];
  }
}

export const setKey = (key) => (key ? sessionStorage.setItem(KEY, key) : sessionStorage.removeItem(KEY));
export const hasKey = () => sessionStorage.getItem(KEY) !== null;

function headers(further = {}) {
  const key = sessionStorage.getItem(KEY);
  return key ? { ...further, Authorization: `Bearer ${key}` } : further;
}

async function request(path, options = {}) {
  const answer = await fetch(path, { ...options, headers: headers(options.headers), redirect: "error" });
  if (!answer.ok) throw new ApiError(answer.status, await answer.json().catch(() => null));
  return answer;
}

// Runs a tool; returns its structured output. A refusal of the tool is thrown as ApiError.
export async function callTool(tool, args = {}) {
  const body = JSON.stringify({ tool, arguments: args });
  const answer = await request("/ui/call", { method: "POST", body, headers: { "Content-Type": "application/json" } });
  const result = await answer.json();
  if (result.is_error) throw new ApiError(200, result.structured);
  return result.structured;
}

export const readBlob = async (uri) => (await request(`/ui/read?uri=${encodeURIComponent(uri)}`)).blob();
export const readJson = async (uri) => (await request(`/ui/read?uri=${encodeURIComponent(uri)}`)).json();

// Yields [event, data] of a server-sent event stream, and null for a heartbeat.
async function* eventsIn(body, onBytes) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    onBytes();
    buffer += value.replaceAll("\r\n", "\n");
    let end;
    while ((end = buffer.indexOf("\n\n")) >= 0) {
      const fields = { data: "" };
      for (const line of buffer.slice(0, end).split("\n")) {
        const colon = line.indexOf(":");
        if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).trimStart();
      }
      buffer = buffer.slice(end + 2);
      if (fields.data) yield fields;
    }
  }
}

const sleep = (ms, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });

// Follows a job from its first event to its last: reconnects, resumes after the last event that came, at any replica.
export async function followJob(jobId, { onEvent, onState, signal }) {
  let lastId = "0";
  let delay = RETRY_FIRST_MS;
  while (!signal.aborted) {
    const attempt = new AbortController();
    const stop = () => attempt.abort();
    signal.addEventListener("abort", stop, { once: true });
    let watchdog = setTimeout(stop, SILENT_MS);
    const alive = () => {
      clearTimeout(watchdog);
      watchdog = setTimeout(stop, SILENT_MS);
    };
    try {
      const path = `/jobs/${encodeURIComponent(jobId)}/events`;
      const answer = await request(path, { headers: { "Last-Event-ID": lastId }, signal: attempt.signal });
      if (answer.status === 204) return;
      onState("live");
      for await (const fields of eventsIn(answer.body, alive)) {
        delay = RETRY_FIRST_MS;
        if (fields.id) lastId = fields.id;
        const message = JSON.parse(fields.data);
        onEvent(message, fields.id);
        if (["COMPLETED", "FAILED", "CANCELLED"].includes(message.params.status)) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.status < 500 && error.status !== 429) throw error;
    } finally {
      clearTimeout(watchdog);
      signal.removeEventListener("abort", stop);
    }
    if (signal.aborted) return;
    onState("lost");
    await sleep(delay * (0.5 + Math.random()), signal);
    delay = Math.min(2 * delay, RETRY_LONGEST_MS);
  }
}
