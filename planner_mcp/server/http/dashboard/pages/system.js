// Queue and store, a row for each worker; webhook endpoints and deliveries; the audit log. What the scopes of
// the signed-in person do not cover is left out.

import { callTool, readJson, request } from "../api.js";
import { action, content, events, link, problem, rawJson, throttled } from "../page.js";
import { h, table } from "../view/dom.js";
import { figure, localTime } from "../view/format.js";
import { t } from "../view/words.js";

const RELOAD_EVERY_MS = 2000;
const HEARTBEATS_EVERY_MS = 10_000;
const STATES = ["", "pending", "delivered", "dead"];

export async function systemView(signal, query, scopes) {
  const webhooks = scopes.includes("planner:write") ? [endpointsPart(), deliveriesPart(query.get("state") ?? "", Number(query.get("page")) || 1)] : [];
  const workers = scopes.includes("planner:admin") ? [workersPart()] : [];
  const parts = [queuePart(), ...workers, ...webhooks, ...(scopes.includes("planner:admin") ? [auditPart(signal)] : [])];
  content.replaceChildren(h("h1", {}, t("system")), ...parts.map((part) => part.box), rawJson("limits://vrp"));
  const load = () => Promise.all(parts.map((part) => filled(part, signal)));
  await load();
  if (signal.aborted) return;
  const reload = throttled(load, RELOAD_EVERY_MS, signal);
  events.listen({ onStart: reload, onEvent: reload }, signal);
  const timer = setInterval(() => document.visibilityState === "visible" && reload(), HEARTBEATS_EVERY_MS); // workers come and go without an event
  signal.addEventListener("abort", () => clearInterval(timer), { once: true });
}

async function filled(part, signal) {
  try {
    const found = await part.read();
    if (signal.aborted) return;
    const wasOpen = part.box.querySelector("details")?.open ?? false; // what somebody opened to read stays open
    (part.place ?? part.box).replaceChildren(...[part.draw(found)].flat());
    part.box.querySelector("details")?.toggleAttribute("open", wasOpen);
  } catch (error) {
    if (!signal.aborted) (part.place ?? part.box).replaceChildren(problem(error));
  }
}

const IN_SHARD = "_in_pool";
const limitName = (name) => (name.endsWith(IN_SHARD) ? t("inShard", { name: limitName(name.slice(0, -IN_SHARD.length)) }) : t(`limit_${name}`));

function queuePart() {
  const entry = (label, value) => h("div", { class: "figure" }, h("dt", {}, label), h("dd", {}, value));
  const read = async () => [await readJson("limits://vrp"), await (await request("/readyz")).json()];
  const draw = ([{ queue, used, limits }, store]) => [
    h("h2", {}, t("queue")),
    h("dl", { class: "figures" },
      entry(t("QUEUED"), figure(queue.queued)), entry(t("SOLVING"), figure(queue.solving)), entry(t("workers"), figure(store.live_workers)),
      entry(t("slots"), figure(queue.slots)), entry(t("store"), store.pools_away ? t("shardsAway", { n: store.pools_away }) : t("ready")),
      entry(t("ownQueued"), figure(used.queued)), entry(t("ownSolving"), figure(used.solving))),
    h("details", {}, h("summary", {}, t("limits")), table([t("name"), t("value")], Object.entries(limits).map(([name, value]) => [limitName(name), figure(value)]), t("limits"))),
  ];
  return { box: h("section"), read, draw };
}

function workersPart() {
  const draw = ({ workers }) => [
    h("h2", {}, t("workers")),
    workers.length ? table([t("name"), t("version"), t("slots"), t("SOLVING"), t("heartbeat"), t("status")], workers.map((each) =>
      [each.name, each.version, each.slots, each.solving, t("secondsAgo", { n: figure(each.silent_s) }), t(each.is_live ? "live" : "silent")]), t("workers")) : h("p", { class: "quiet" }, t("none")),
  ];
  return { box: h("section"), read: () => readJson("workers://vrp"), draw };
}

function endpointsPart() {
  const draw = ({ endpoints }) => [
    h("h2", {}, t("endpoints")),
    endpoints?.length ? table([t("endpoint"), t("status"), t("hook_pending"), t("failures"), t("lastAnswer")], endpoints.map((each) =>
      [each.url, t(`hook_${each.state}`), each.pending, each.failures, each.last_status ?? ""]), t("endpoints")) : h("p", { class: "quiet" }, t("none")),
  ];
  return { box: h("section"), read: () => callTool("webhook_deliveries", { action: "endpoints" }), draw };
}

// The choice stays where it is while the list is drawn anew: somebody may be choosing.
function deliveriesPart(state, page) {
  const to = (number) => `system?state=${state}&page=${number}`;
  const place = h("div");
  const messages = h("div", { role: "status" });
  const choice = h("select", { "aria-label": t("status"), onchange: () => (location.hash = `#/system?state=${choice.value}`) },
    STATES.map((each) => h("option", { value: each, selected: each === state }, t(each ? `hook_${each}` : "all"))));
  const act = (name, id) => action(t(name), async () => {
    const found = await callTool("webhook_deliveries", { action: name, delivery_id: id });
    messages.replaceChildren(h("pre", { tabindex: "0" }, JSON.stringify(found, null, 2)));
  }, { into: messages });
  const draw = ({ deliveries, next_page: next }) => [
    deliveries?.length ? table([t("delivery"), t("events"), t("status"), t("attempts"), t("created"), t("error"), ""], deliveries.map((each) =>
      [each.delivery_id, each.event, t(`hook_${each.state}`), each.attempts, localTime(each.created_at), each.error ?? "",
        [act("show", each.delivery_id), each.state === "pending" ? "" : act("replay", each.delivery_id)]]), t("deliveries")) : h("p", { class: "quiet" }, t("none")),
    h("div", { class: "actions" }, page > 1 && link(to(page - 1), t("newer")), next && link(to(next), t("older"))),
  ];
  const read = () => callTool("webhook_deliveries", { action: "list", page, ...(STATES.includes(state) && state ? { state } : {}) });
  return { box: h("section", {}, h("h2", {}, t("deliveries")), h("div", { class: "actions" }, choice), place, messages), place, read, draw };
}

function auditPart(signal) {
  const day = new Date().toISOString().slice(0, 10);
  const pages = ["0"]; // the position before each page that was turned to
  const turn = (name, act) => h("button", { type: "button", onclick: () => (act(), filled(part, signal)) }, t(name));
  const columns = (entries) => [...new Set(entries.flatMap(Object.keys))];
  const draw = ({ entries, next }) => h("details", {}, h("summary", {}, `${t("audit")} ${day}`),
    table(columns(entries), entries.map((line) => columns(entries).map((name) => line[name] === undefined ? "" : String(line[name]))), t("audit")),
    h("div", { class: "actions" }, pages.length > 1 && turn("older", () => pages.pop()), next && turn("newer", () => pages.push(next.split("after=")[1]))));
  const part = { box: h("section"), read: () => readJson(`logs://vrp/${day}?after=${pages.at(-1)}`), draw };
  return part;
}
