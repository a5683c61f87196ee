// The one event stream of the page: what happens to all jobs of the principal (`GET /events`). It reconnects by itself, to
// any replica, and goes on after the last event that came. A page that nobody sees lets go of it for as long: a browser
// opens six connections to a server, whatever the number of its tabs.

import { ApiError, request } from "./api.js";

const RETRY_FIRST_MS = 500;
const RETRY_LONGEST_MS = 10_000;
const SILENT_MS = 15_000; // three beats
const UNSEEN_MS = 30_000;

export class PageEvents {
  #listeners = new Set();
  #lastId = "";
  #attempt = new AbortController();
  #isOver = false;
  #isRunning = false;
  #delay = RETRY_FIRST_MS;

  // onState receives "live", "lost", or an ApiError that ends the stream.
  constructor(onState) {
    this.onState = onState;
    document.addEventListener("visibilitychange", () => this.#watchVisibility());
    addEventListener("online", () => this.#retryNow?.());
  }

  // Calls a listener with each notification (`onEvent(params)`), and when it has to read anew what it shows (`onStart()`).
  listen(listener, signal) {
    if (signal.aborted) return; // the user left before the page was there
    this.#listeners.add(listener);
    signal.addEventListener("abort", () => this.#listeners.delete(listener), { once: true });
  }

  // Connects until `stop`, or until the server refuses.
  async run() {
    if (this.#isRunning) return;
    [this.#isRunning, this.#isOver, this.#lastId] = [true, false, ""];
    try {
      await this.#follow();
    } finally {
      this.#isRunning = false;
    }
  }

  async #follow() {
    while (!this.#isOver) {
      if (document.hidden) await this.#untilSeen();
      try {
        await this.#connect();
      } catch (error) {
        if (error instanceof ApiError && error.status === 400) this.#lastId = "";
        else if (error instanceof ApiError && [401, 403].includes(error.status)) return this.onState(error);
      }
      if (this.#isOver || document.hidden) continue;
      this.onState("lost");
      await this.#pause(this.#delay * (0.5 + Math.random()));
      this.#delay = Math.min(2 * this.#delay, RETRY_LONGEST_MS);
    }
  }

  stop() {
    this.#isOver = true;
    this.#attempt.abort();
    this.#retryNow?.();
  }

  async #connect() {
    this.#attempt = new AbortController();
    let watchdog = null;
    const alive = () => {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => this.#attempt.abort(), SILENT_MS);
    };
    alive();
    try {
      const headers = this.#lastId ? { "Last-Event-ID": this.#lastId } : {};
      const answer = await request("/events", { headers, signal: this.#attempt.signal });
      this.onState("live");
      for await (const fields of eventsIn(answer.body, alive)) {
        this.#delay = RETRY_FIRST_MS;
        this.#dispatch(fields);
        this.#lastId = fields.id ?? this.#lastId;
      }
    } finally {
      clearTimeout(watchdog);
    }
  }

  #dispatch({ event, data }) {
    for (const listener of [...this.#listeners]) {
      if (event === "start") listener.onStart?.();
      else if (event !== "beat") listener.onEvent?.(JSON.parse(data).params);
    }
  }

  #retryNow = null;
  #pause(ms) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#retryNow = () => (clearTimeout(timer), resolve());
    });
  }

  #untilSeen() {
    return new Promise((resolve) => {
      const look = () => !document.hidden && (document.removeEventListener("visibilitychange", look), resolve());
      document.addEventListener("visibilitychange", look);
      look();
    });
  }

  #unseen = null;
  #watchVisibility() {
    clearTimeout(this.#unseen);
    if (document.hidden) this.#unseen = setTimeout(() => this.#attempt.abort(), UNSEEN_MS);
    else this.#retryNow?.();
  }
}

// Yields the fields of each event of a stream that has data.
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

// Returns whether an event came after another one of its job, by their ids (`<milliseconds>-<number>`).
export function isLater(id, other) {
  const [ms, number] = id.split("-").map(Number);
  const [otherMs, otherNumber] = other.split("-").map(Number);
  return ms > otherMs || (ms === otherMs && number > otherNumber);
}
