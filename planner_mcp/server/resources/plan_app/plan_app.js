// A job inside a chat: waits for the host to name one, follows it with the tool `read_view`, and draws it with the view
// modules of the dashboard. All state is in the job, so a page that is made anew needs nothing but the job's id.

import { confirmed } from "../../http/dashboard/view/confirmation.js";
import { costCurve } from "../../http/dashboard/view/curve.js";
import { h } from "../../http/dashboard/view/dom.js";
import { figures } from "../../http/dashboard/view/figures.js";
import { clock } from "../../http/dashboard/view/format.js";
import { historyLine } from "../../http/dashboard/view/history.js";
import { routeMap } from "../../http/dashboard/view/map.js";
import { canvasLayer } from "../../http/dashboard/view/map_canvas.js";
import { newMoment, timeSlider } from "../../http/dashboard/view/moment.js";
import { CALLS, STEPS } from "../../http/dashboard/view/review.js";
import { stopsTable, unassignedTable } from "../../http/dashboard/view/tables.js";
import { timeline } from "../../http/dashboard/view/timeline.js";
import { currentLanguage, setLanguage, t } from "../../http/dashboard/view/words.js";
import { connectHost } from "./host.js";

const REVISION = "2026-01-26";
const JOB_ID = /\bjob-\d{1,2}-[a-z2-7]{26}\b/;
const ENDED = ["COMPLETED", "FAILED", "CANCELLED"];
const EVERY_MS = 2000; // between two calls of a page, as the MCP Apps patterns advise
const WAIT_S = 20;
const RETRY_FIRST_MS = 1000;
const RETRY_LONGEST_MS = 10_000;
const REFUSED_FOR_GOOD = [-32601, -32602];
const ASK_AFTER_MS = 3000; // some hosts make the page anew and never send it its call
const SELECT_AFTER_MS = 300;
const RESIZE_AFTER_MS = 100;
const WIDTH_STEP_PX = 40; // a place that grows by less is not drawn anew
const PARTS = ["day", "plan", "events"];
const MOST_EVENTS = 200;
const LEAST_TIMELINE_PX = 640;
const COLOURS = { // of ours that the host may set
  "--ink": "--color-text-primary", "--quiet": "--color-text-secondary", "--paper": "--color-background-primary",
  "--panel": "--color-background-secondary", "--line": "--color-border-primary", "--font-sans": "--font-sans",
};
const MOST_ID_BYTES = 22; // in the context of a model, which is given 80 tokens at most: a token is a byte or more

const root = document.documentElement;
const app = document.getElementById("app");
const context = {}; // of the host: theme, language, display mode, size
let can = {}; // what the host offers
let following = new AbortController();
let view; // of one job
const mapFrame = {}; // what part of the map is shown, kept when a better plan is drawn

const banner = h("p", { class: "banner", role: "status", hidden: true });
const messages = h("div", { "aria-live": "polite" });
const title = h("h1", {});
const head = h("div");
const tabs = h("div", { class: "tabs", role: "tablist" });
const panel = h("div", { class: "panel", role: "tabpanel", id: "panel", tabindex: "0" });
const selection = h("p", { class: "selection", role: "status", hidden: true });
const actions = h("div", { class: "actions" });

const host = connectHost({
  requests: new Map([["ping", () => ({})], ["ui/resource-teardown", () => following.abort()]]),
  notifications: new Map([
    ["ui/notifications/tool-input", ({ arguments: given }) => follow(jobIdIn(given))],
    ["ui/notifications/tool-result", onResult],
    ["ui/notifications/tool-cancelled", () => view ?? say(banner, t("noJob"))],
    ["ui/notifications/host-context-changed", applyContext],
  ]),
});

const say = (place, text) => ((place.hidden = !text), (place.textContent = text ?? ""));
const isOver = () => ENDED.includes(view.job.status);
const bytes = (text) => new TextEncoder().encode(text);
const short = (id) => new TextDecoder().decode(bytes(String(id).replace(/[^\p{L}\p{N}_.-]+/gu, " ")).slice(0, MOST_ID_BYTES)).replace(/\uFFFD$/, "");

// The id of a job in what the host says: by its name first, since any text may hold the id of another job.
function jobIdIn(sent) {
  const named = sent?.structuredContent?.job_id ?? sent?.job_id;
  return JOB_ID.exec(typeof named === "string" ? named : JSON.stringify(sent ?? ""))?.[0];
}

// ---- what the host sends

function onResult(result) {
  if (result.isError) return problem(result.structuredContent?.message ?? result.content?.find((each) => each.type === "text")?.text ?? "");
  const found = result.structuredContent ?? {};
  follow(jobIdIn(result));
  if (view && !can.serverTools && found.status) (view.job = { ...found, ...found.result }), draw();
}

function applyContext(change) {
  Object.assign(context, change);
  root.style.colorScheme = ["light", "dark"].includes(context.theme) ? context.theme : "light dark";
  for (const [ours, theirs] of Object.entries(COLOURS)) root.style.setProperty(ours, context.styles?.variables?.[theirs] ?? "");
  root.lang = setLanguage(context.locale ?? navigator.language);
  root.dataset.mode = context.displayMode ?? "inline";
  const { height, maxHeight } = context.containerDimensions ?? {};
  app.style.maxHeight = height ?? maxHeight ? `${height ?? maxHeight}px` : "";
  for (const side of ["top", "right", "bottom", "left"]) document.body.style.setProperty(`padding-${side}`, `${context.safeAreaInsets?.[side] ?? 0}px`);
  draw();
}

// ---- the job

async function callTool(name, args, signal) {
  const result = await host.request("tools/call", { name, arguments: args }, signal);
  const answer = result.structuredContent ?? {};
  if (result.isError) throw Object.assign(new Error(answer.message ?? result.content?.[0]?.text), { isRefusal: !answer.retryable });
  return answer;
}

const read = (how, signal) => callTool("read_view", { job_id: view.jobId, since: view.position, language: currentLanguage(), ...how }, signal);

async function follow(jobId) {
  if (!jobId || jobId === view?.jobId) return;
  following.abort();
  const { signal } = (following = new AbortController());
  view = { jobId, job: { status: "…" }, plan: null, plans: 0, day: {}, points: [], events: [], bound: null, roads: null, moment: newMoment(), position: "0", panel: "map", selected: null };
  mapFrame.box = undefined;
  say(banner, null);
  messages.replaceChildren();
  draw();
  if (!can.serverTools) return;
  let wait = 0;
  let delay = RETRY_FIRST_MS;
  while (!signal.aborted) {
    const began = Date.now();
    try {
      const isBare = view.plan && !view.roads; // roads stay; routes along them are those of the last plan
      take(await read(isBare ? { parts: [...PARTS, "roads"] } : { wait_s: wait }, signal));
      say(banner, null);
      if (isOver()) break;
      [wait, delay] = [WAIT_S, RETRY_FIRST_MS];
      await pause(began + EVERY_MS - Date.now(), signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error.isRefusal || REFUSED_FOR_GOOD.includes(error.code)) return problem(error.message);
      say(banner, t("lost"));
      await pause(delay * (0.5 + Math.random()), signal);
      delay = Math.min(2 * delay, RETRY_LONGEST_MS);
    }
  }
  if (!view.plan || signal.aborted) return;
  const last = await read({ parts: ["bound", view.roads ? "lines" : "roads"] }, signal).catch(() => null);
  if (signal.aborted || !last) return;
  Object.assign(view, { bound: last, roads: last.roads ? { ...view.roads, ...last.roads } : view.roads });
  draw();
}

const pause = (ms, signal) => new Promise((resolve) => {
  const timer = setTimeout(resolve, Math.max(0, ms));
  signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
});

function take({ job, position, day, plan, roads, events = [] }) {
  if (plan) { // the routes it had come as their place, and what else is the same does not come
    plan.routes = plan.routes.map((route) => view.plan?.routes[route] ?? route);
    plan.unassigned ??= view.plan.unassigned;
  }
  Object.assign(view, { job: { ...job, ...job.result }, position, roads: roads ?? view.roads, day: day ?? view.day, plan: plan ?? view.plan, plans: view.plans + (plan ? 1 : 0) });
  for (const each of events) {
    if (each.cost !== undefined && each.cost !== view.points.at(-1)?.cost) view.points.push({ at: each.elapsed_s ?? 0, cost: each.cost, served: each.tickets_served });
  }
  view.events = [...view.events, ...events].slice(-MOST_EVENTS);
  if (job.error) problem(job.error.message);
  draw();
}

// ---- what the user does

// Runs a tool where the host lets the page do so and the server has it on; else asks the model in words.
async function act(tool, args, words) {
  if (can.serverTools && tool) {
    try {
      return await callTool(tool, args);
    } catch (error) {
      if (error.isRefusal || !can.message) throw error;
    }
  }
  const answer = await host.request("ui/message", { role: "user", content: [{ type: "text", text: words }] });
  if (answer.isError) throw new Error(t("hostRefused"));
  return null;
}

function button(text, run, { main = false, ask } = {}) {
  const made = h("button", { type: "button", class: main ? "main" : undefined }, text);
  made.addEventListener("click", async () => {
    if (ask && !(await confirmed(...ask.map((name) => t(name))))) return;
    made.disabled = true;
    messages.replaceChildren();
    await Promise.resolve(run()).catch((error) => problem(error.message));
    made.disabled = false;
  });
  return made;
}

const problem = (text) => messages.replaceChildren(h("p", { class: "problem", role: "alert" }, `${t("error")}: ${text}`));

function jobButtons() {
  const id = view.jobId;
  if (!isOver()) {
    return [button(t("finish"), () => act("finish_vrp_job", { job_id: id }, t("askFinish", { id })), { main: true }),
      button(t("cancel"), () => act("cancel_vrp_job", { job_id: id }, t("askCancel", { id })), { ask: ["askToCancel", "cancelJob"] })];
  }
  const again = async () => follow((await act("resolve_vrp", { warm_from: id, fresh: true }, t("askAgain", { id })))?.job_id);
  const left = view.plan?.unassigned.length ?? 0;
  return [view.job.is_own !== false && button(t("again"), again), left > 0 && can.message && button(t("why"), () => act(null, {}, t("askWhy", { id })))];
}

// Steps of a review, where plans are reviewed; the job is read anew after each.
function reviewButtons() {
  const { state, reason = "", steps } = view.job.review ?? {};
  const input = h("input", { maxlength: 500, "aria-label": t("reasonToReject"), placeholder: t("reasonToReject") });
  const step = (name) => button(t(name), async () => {
    await act(...CALLS[name](view.jobId, input.value), t("askStep", { step: t(name), id: view.jobId, reason: input.value }));
    if (can.serverTools) take(await read({ parts: [] }));
  });
  return state && [h("p", {}, `${t("review")}: ${t(`state_${state}`)} ${reason}`), STEPS[state].filter((name) => steps?.includes(name) ?? true).map((name) => (name === "reject" ? [input, step(name)] : step(name)))];
}

function hostButtons() {
  const plan = `plan://${view.jobId.replace(/^job-/, "plan-")}`;
  const save = (name, mimeType) => button(name, () => host.request("ui/download-file", { contents: [{ type: "resource_link", uri: `${plan}/${name}`, name, mimeType }] }));
  const mode = root.dataset.mode === "fullscreen" ? "inline" : "fullscreen";
  const change = async () => applyContext({ displayMode: (await host.request("ui/request-display-mode", { mode })).mode });
  return [
    view.plan && can.downloadFile && [save("stops.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"), save("sheets.html", "text/html")],
    context.availableDisplayModes?.includes(mode) && button(t(mode), change),
  ];
}

let contextTimer;
function select(visit, agent, number) {
  const isAgain = view.selected?.ticket === visit.ticket_id;
  view.selected = isAgain ? null : { ticket: visit.ticket_id, agent, number, time: clock(visit.start_s) };
  draw();
  if (!can.updateModelContext) return;
  const { ticket, time } = view.selected ?? {};
  const content = isAgain ? [] : [{ type: "text", text: `The user selected ticket ${short(ticket)}, stop ${number} of ${short(agent)} at ${time}, in ${view.jobId}.` }];
  clearTimeout(contextTimer);
  contextTimer = setTimeout(() => host.request("ui/update-model-context", { content }).catch(() => {}), SELECT_AFTER_MS);
}

function markSelected() {
  for (const stop of panel.querySelectorAll("[data-ticket]")) stop.classList.toggle("selected", stop.dataset.ticket === view.selected?.ticket);
}

// ---- drawing

const width = () => Math.max(320, WIDTH_STEP_PX * Math.floor(panel.clientWidth / WIDTH_STEP_PX));
const tickets = () => new Map((view.day.tickets ?? []).map((ticket) => [ticket.id, ticket]));
const PANELS = {
  map: () => h("div", {}, routeMap(view.plan, view.day, { canvas: canvasLayer, onSelect: select, width: width(), frame: mapFrame, ground: view.roads, moment: view.moment }), timeSlider(view.plan, view.moment)),
  timeline: () => timeline(view.plan, view.day, { width: Math.max(LEAST_TIMELINE_PX, width()), moment: view.moment }),
  stops: () => stopsTable(view.plan, view.day, tickets(), select),
  unassigned: () => unassignedTable(view.plan, tickets()),
  curve: () => costCurve(view.points, view.bound, width(), view.job.elapsed_s),
  events: () => h("ol", { class: "scroll" }, view.events.map((each) => historyLine(each, view.day))),
};

// Draws a place anew when what it shows is another; else focus and scroll position stay.
function renew(place, shown, make) {
  const key = shown.join();
  if (place.shown === key) return;
  place.shown = key;
  place.replaceChildren(...make().flat(Infinity).filter(Boolean));
}

function draw() {
  if (!view) return;
  const { day, job, plan, panel: name } = view;
  const drawn = [view.jobId, view.plans, currentLanguage()];
  const ground = [view.roads?.roads.length, Object.keys(view.roads?.lines ?? {}).length];
  title.textContent = day.name ?? t("job");
  head.replaceChildren(figures(job, plan, view.bound, day));
  tabs.hidden = panel.hidden = !plan;
  if (plan) {
    renew(tabs, [...drawn, name], tabButtons);
    renew(panel, [...drawn, name, width(), name === "map" && ground, name === "curve" && [view.points.length, view.bound?.lower_bound, view.job.elapsed_s], name === "events" && view.events.at(-1)?.at], () => [PANELS[name]()]);
    panel.setAttribute("aria-labelledby", `tab-${name}`);
    markSelected();
  }
  say(selection, view.selected && t("selected", view.selected));
  renew(actions, [...drawn, isOver(), job.review?.state, root.dataset.mode, context.availableDisplayModes], () => [
    (can.serverTools || can.message) && [jobButtons(), reviewButtons()], hostButtons(), day.masked?.length > 0 && h("p", { class: "quiet" }, t("masked", { names: day.masked.join(", ") })),
  ]);
}

function tabButtons() {
  const names = Object.keys(PANELS);
  const show = (name) => ((view.panel = name), draw(), document.getElementById(`tab-${name}`).focus());
  const turn = (at, step) => step && show(names.at((at + step) % names.length));
  return names.map((name, at) => h("button", {
    type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "panel", "aria-selected": String(name === view.panel), tabindex: name === view.panel ? 0 : -1,
    onclick: () => show(name), onkeydown: ({ key }) => turn(at, { ArrowRight: 1, ArrowLeft: -1 }[key]),
  }, name === "unassigned" ? `${t(name)} (${view.plan.unassigned.length})` : t(name)));
}

function reportSize() {
  let timer;
  let last = 0;
  const send = () => {
    draw();
    const height = Math.ceil(app.getBoundingClientRect().height);
    if (root.dataset.mode !== "fullscreen" && height !== last) host.notify("ui/notifications/size-changed", { width: Math.ceil(app.clientWidth), height: (last = height) });
  };
  new ResizeObserver(() => (clearTimeout(timer), (timer = setTimeout(send, RESIZE_AFTER_MS)))).observe(app);
}

// In a chat the wheel scrolls the chat; with Ctrl, or on the full screen, it enlarges the map.
app.addEventListener("wheel", (event) => root.dataset.mode === "inline" && !event.ctrlKey && !event.metaKey && event.stopPropagation(), { capture: true });

async function main() {
  tabs.hidden = panel.hidden = true;
  app.append(banner, title, head, messages, tabs, panel, selection, actions);
  const appCapabilities = { availableDisplayModes: ["inline", "fullscreen"] };
  const found = await host.request("ui/initialize", { protocolVersion: REVISION, appInfo: { name: "planner-mcp", version: "1" }, appCapabilities });
  can = found.hostCapabilities ?? {};
  applyContext(found.hostContext ?? {});
  reportSize();
  host.notify("ui/notifications/initialized");
  follow(jobIdIn(context.toolInfo));
  setTimeout(() => {
    if (view || messages.firstChild) return;
    say(banner, t("noJob"));
    if (can.message) messages.append(button(t("ask"), () => act(null, {}, t("askForJob"))));
  }, ASK_AFTER_MS);
}

main();
