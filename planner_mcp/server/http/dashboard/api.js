// Talks to the server: tools, resources, and what happened to a job so far; `events.js` has the live stream. The API key, if one is needed, is kept for the life
// of the browser tab and sent in a header; it is never part of a URL.

const KEY = "planner-api-key";

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

export async function request(path, options = {}) {
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

// Returns the notifications of a job that are kept, in order.
export async function readHistory(jobId) {
  const path = `/jobs/${encodeURIComponent(jobId)}/events`;
  const answer = await request(path, { headers: { Accept: "application/json" } });
  return (await answer.json()).events;
}
