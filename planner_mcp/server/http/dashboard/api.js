// Talks to the server: sessions, tools, resources, and what happened to a job so far; `events.js` has the live stream. Who is
// signed in is in a cookie that no script can read; it counts only beside the header that every request here carries.

import { currentLanguage, t } from "./view/words.js";

const OWN = { "X-Planner-UI": "1" };
const SESSION = "/ui/session";

export class ApiError extends Error {
  constructor(status, body) {
    super(body?.message ?? `HTTP ${status}`); // no status: nobody has answered
    this.status = status;
    this.code = body?.code;
    this.errors = body?.errors ?? [];
  }
}

export async function request(path, options = {}) {
  const answer = await fetch(path, { ...options, headers: { ...OWN, "Accept-Language": currentLanguage(), ...options.headers }, redirect: "error" }).catch((error) => {
    throw error.name === "AbortError" ? error : new ApiError(undefined, { message: t("unreachable") });
  });
  if (!answer.ok) throw new ApiError(answer.status, await answer.json().catch(() => null));
  return answer;
}

// Who is signed in: `{has_sign_in, needs_sign_in, issuers, subject, scopes}`.
export const readSession = async (options) => (await request(SESSION, options)).json();
// Exchanges an API key, a token or a one-time ticket for the cookie.
export const signIn = async (credential) => (await request(SESSION, { method: "POST", headers: { Authorization: `Bearer ${credential}` } })).json();
// Goes to an authorization server, which sends the browser back to this place of the page.
export async function signInAt(issuer) {
  const body = JSON.stringify({ issuer, place: location.hash });
  const { url } = await (await request("/ui/sign-in", { method: "POST", body, headers: { "Content-Type": "application/json" } })).json();
  location.assign(url);
}
export const signOut = async () => void (await request(SESSION, { method: "DELETE" }));

// Runs a tool; returns its structured output. A refusal of the tool is thrown as ApiError. With `ask(message, schema)` the call may
// ask the person at the page, whose answer it returns.
export async function callTool(tool, args = {}, ask = null, answers = []) {
  const body = JSON.stringify({ tool, arguments: args, ...(ask ? { answers } : {}) });
  const answer = await request("/ui/call", { method: "POST", body, headers: { "Content-Type": "application/json" } });
  const result = await answer.json();
  if (result.asks) return callTool(tool, args, ask, [...answers, await ask(result.asks.message, result.asks.schema)]);
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
