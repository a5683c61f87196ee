// The host of this page: JSON-RPC 2.0 over postMessage in both directions (MCP Apps, revision 2026-01-26). Only the
// window that shows the page is heard. What this page does not know is refused, as the revision asks.

const METHOD_NOT_FOUND = -32601;
const LONGEST_MS = 60_000; // hosts end a call after a minute at the latest

export class HostError extends Error {
  constructor({ code, message }) {
    super(message || `Error ${code}`);
    this.code = code;
  }
}

// `requests` and `notifications` are Maps from a method to what the page does for it.
export function connectHost({ requests, notifications }) {
  const waiting = new Map();
  let lastId = 0;
  const send = (message) => window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");

  const answer = async ({ id, method, params }) => {
    if (!requests.has(method)) return send({ id, error: { code: METHOD_NOT_FOUND, message: "Method not found" } });
    send({ id, result: (await requests.get(method)(params ?? {})) ?? {} });
  };
  window.addEventListener("message", ({ source, data }) => {
    if (source !== window.parent || data?.jsonrpc !== "2.0") return;
    if (typeof data.method === "string") data.id === undefined ? notifications.get(data.method)?.(data.params ?? {}) : answer(data);
    else waiting.get(data.id)?.(data);
  });

  const notify = (method, params = {}) => send({ method, params });
  const request = (method, params, signal) => new Promise((resolve, reject) => {
    const id = (lastId += 1);
    const end = (act) => (clearTimeout(timer), signal?.removeEventListener("abort", stop), waiting.delete(id), act());
    const giveUp = (message) => end(() => (notify("notifications/cancelled", { requestId: id, reason: message }), reject(new HostError({ message }))));
    const stop = () => giveUp("The page has ended the call.");
    const timer = setTimeout(() => giveUp("The host did not answer."), LONGEST_MS);
    signal?.addEventListener("abort", stop, { once: true });
    waiting.set(id, ({ error, result }) => end(() => (error ? reject(new HostError(error)) : resolve(result ?? {}))));
    send({ id, method, params });
  });
  return { notify, request };
}
