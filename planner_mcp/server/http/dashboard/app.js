// The dashboard: routes by the fragment of the URL (`#/jobs/ID`), loads what a view needs, and draws it with view.js.

import { ApiError, callTool, followJob, hasKey, readBlob, readJson, setKey } from "./api.js";
import { h, table } from "./dom.js";
import { costCurve, distance, figure, figures, routeMap, stopsTable, timeline } from "./view.js";
import { currentLanguage, switchLanguage, t } from "./words.js";

const LIST_EVERY_MS = 3000;
const REDRAW_EVERY_MS = 250;
const PAGE_SIZE = 20;
const ENDED = ["COMPLETED", "FAILED", "CANCELLED"];
const MOST_EVENTS = 200;

const content = document.getElementById("content");
const banner = document.getElementById("banner");
let leave = new AbortController(); // aborted when the user goes to another view

const planOf = (jobId) => jobId.replace(/^job-/, "plan-");
const jobOf = (planId) => planId.replace(/^plan-/, "job-");
const link = (path, text) => h("a", { href: `#/${path}` }, text);
const go = (path) => (location.hash = `#/${path}`);

function showBanner(text) {
  banner.hidden = !text;
  banner.textContent = text ?? "";
}

function problem(error) {
  const places = (error.errors ?? []).map((each) => h("li", {}, h("code", {}, each.path || "/"), ` ${each.problem} `, each.hint ?? each.accepted ?? ""));
  return h("div", { class: "problem", role: "alert" }, h("strong", {}, `${t("error")} ${error.code ?? error.status ?? ""} `), error.message, places.length > 0 && h("ul", {}, places));
}

// A button that runs an action once at a time and shows what went wrong beside it.
function action(text, act, { main = false, into } = {}) {
  const button = h("button", { type: "button", class: main ? "main" : undefined }, text);
  button.addEventListener("click", async () => {
    button.disabled = true;
    into?.replaceChildren();
    try {
      await act();
    } catch (error) {
      (into ?? content).append(problem(error));
    } finally {
      button.disabled = false;
    }
  });
  return button;
}

// ---- views

async function jobsView(signal, page = 1) {
  const list = h("div", {});
  const filter = h("input", { type: "search", placeholder: t("filter"), "aria-label": t("filter") });
  let rows = [];
  const draw = () => {
    const wanted = filter.value.trim().toLowerCase();
    const shown = rows.filter((job) => !wanted || `${job.job_id} ${job.status} ${job.scenario_id}`.toLowerCase().includes(wanted));
    list.replaceChildren(rows.length === 0 ? h("p", { class: "quiet" }, t("noJobs")) : jobsTable(shown));
  };
  filter.addEventListener("input", draw);
  const pager = h("div", { class: "actions" });
  content.replaceChildren(h("h1", {}, t("jobs")), h("div", { class: "actions" }, filter), list, pager);
  const load = async () => {
    const found = await readJson(`jobs://vrp/status/all?page=${page}&size=${PAGE_SIZE}`);
    if (signal.aborted) return;
    rows = found.jobs;
    draw();
    pager.replaceChildren(...[page > 1 && link(`jobs?page=${page - 1}`, t("newer")), found.next && link(`jobs?page=${page + 1}`, t("older"))].filter(Boolean));
  };
  await load();
  repeat(load, LIST_EVERY_MS, signal);
}

function jobsTable(jobs) {
  const rows = jobs.map((job) => [
    link(`jobs/${job.job_id}`, job.job_id), job.status,
    h("progress", { max: 100, value: job.progress ?? 0, "aria-label": t("progress") }), figure(job.cost), link(`scenarios/${job.scenario_id}`, job.scenario_id), localTime(job.submitted_at),
  ]);
  return table([t("job"), t("status"), t("progress"), t("cost"), t("scenario"), t("submitted")], rows, t("jobs"));
}

async function jobView(signal, jobId) {
  let job = await readJson(`job://${jobId}`);
  const stored = await readJson(`scenario://${job.scenario_id}`).catch(() => null);
  if (signal.aborted) return;
  const scenario = stored?.scenario ?? {};
  const tickets = new Map((scenario.tickets ?? []).map((ticket) => [ticket.id, ticket]));
  const parts = { figures: h("div"), actions: h("div", { class: "actions" }), messages: h("div"), curve: h("div"), plan: h("div"), fixes: h("div"), events: h("ol", { class: "scroll" }) };
  const points = [];
  let plan = null;
  let bound = null;
  let drawnPlan = null;

  const draw = () => {
    parts.figures.replaceChildren(figures(job, plan, bound));
    parts.curve.replaceChildren(costCurve(points, bound?.lower_bound));
    if (plan && plan !== drawnPlan) {
      drawnPlan = plan;
      parts.plan.replaceChildren(
        h("h2", {}, t("map")), routeMap(plan, scenario), h("h2", {}, t("timeline")), timeline(plan),
        h("h2", {}, `${t("unassigned")} (${plan.unassigned.length})`), unassigned(plan, parts.fixes, jobId), parts.fixes,
        h("h2", {}, t("stops")), stopsTable(plan, tickets), downloads(planOf(jobId)),
      );
    }
  };
  const redraw = throttled(draw, REDRAW_EVERY_MS, signal);
  const loadPlan = throttled(async () => {
    const found = await readJson(`plan://${planOf(jobId)}`).catch(() => null);
    if (found && !signal.aborted) (plan = found), redraw();
  }, 1000, signal);

  const showActions = () => {
    const run = (text, act, options = {}) => action(text, act, { into: parts.messages, ...options });
    parts.actions.replaceChildren(...(ENDED.includes(job.status)
      ? [run(t("again"), () => solveAgain(jobId), { main: true }), comparison(jobId)]
      : [run(t("finish"), () => callTool("finish_vrp_job", { job_id: jobId })), run(t("cancel"), () => callTool("cancel_vrp_job", { job_id: jobId }))]));
  };
  const title = h("h1", {}, `${t("job")} ${jobId}`);
  const about = h("p", { class: "quiet" }, link(`scenarios/${job.scenario_id}`, scenario.name ?? job.scenario_id), ` · ${job.engine} · ${localTime(job.submitted_at)}`);
  content.replaceChildren(
    title, about, parts.figures, parts.actions, parts.messages, h("h2", {}, t("curve")), parts.curve, parts.plan,
    h("details", {}, h("summary", {}, t("events")), parts.events), rawJson(`job://${jobId}`),
  );
  if (job.error) parts.messages.append(problem(job.error));
  showActions();
  draw();

  const onEvent = (message, id) => {
    const found = message.params;
    const { result, ...rest } = found;
    job = { ...job, ...rest, ...(result ? { cost: result.cost } : {}) };
    if (found.cost !== undefined && found.cost !== points.at(-1)?.cost) points.push({ at: found.elapsed_s ?? 0, cost: found.cost, served: found.tickets_served });
    if (parts.events.children.length >= MOST_EVENTS) parts.events.firstChild.remove();
    parts.events.append(h("li", {}, `${localTime(Number(id.split("-")[0]))} ${found.status} ${Math.round(found.progress ?? 0)} % ${found.cost === undefined ? "" : figure(found.cost)}`));
    if (found.cost !== undefined || result?.plan_id) loadPlan();
    if (found.error) parts.messages.replaceChildren(problem(found.error));
    if (ENDED.includes(found.status)) showActions(), ended();
    redraw();
  };
  const ended = async () => {
    bound = await callTool("read_progress", { job_id: jobId }).catch(() => null);
    if (!signal.aborted) redraw();
  };
  followJob(jobId, { onEvent, signal, onState: (state) => showBanner(state === "lost" ? t("lost") : null) }).catch((error) => parts.messages.append(problem(error)));
}

async function solveAgain(jobId) {
  const { job_id: next } = await callTool("resolve_vrp", { warm_from: jobId, solve_time: "PT10S", fresh: true });
  go(`jobs/${next}`);
}

function unassigned(plan, into, jobId) {
  if (plan.unassigned.length === 0) return h("p", { class: "quiet" }, t("none"));
  const rows = plan.unassigned.map((entry) => [entry.ticket_id, entry.code, entry.detail]);
  const find = action(t("findFixes"), async () => {
    const found = await callTool("suggest_fixes", { plan: planOf(jobId) });
    into.replaceChildren(found.fixes.length === 0 ? h("p", { class: "quiet" }, t("noFix")) : fixesTable(found.fixes, jobId, into));
  }, { into });
  return h("div", {}, table([t("ticket"), t("reason"), ""], rows, t("unassigned")), h("div", { class: "actions" }, find));
}

function fixesTable(fixes, jobId, into) {
  const rows = fixes.map((fix) => [
    fix.ticket_id, fix.change, fix.cost_delta === undefined ? "" : figure(fix.cost_delta),
    fix.patch && action(t("apply"), async () => {
      const { job_id: next } = await callTool("resolve_vrp", { warm_from: jobId, patch: fix.patch, solve_time: "PT10S", fresh: true });
      go(`jobs/${next}`);
    }, { into }),
  ]);
  return table([t("ticket"), t("fix"), t("cost"), ""], rows, t("fix"));
}

function comparison(jobId) {
  const input = h("input", { "aria-label": t("compareWith"), placeholder: t("compareWith"), size: 34 });
  const open = () => input.value.trim() && go(`compare/${planOf(jobId)}/${planOf(input.value.trim())}`);
  return h("span", { class: "actions" }, input, h("button", { type: "button", onclick: open }, t("compare")));
}

async function compareView(signal, a, b) {
  const found = await callTool("compare_plans", { plan_a: a, plan_b: b });
  const [before, after] = await Promise.all([readJson(`plan://${a}`), readJson(`plan://${b}`)]);
  const days = await Promise.all([a, b].map(async (plan) => readJson(`scenario://${(await readJson(`job://${jobOf(plan)}`)).scenario_id}`)));
  if (signal.aborted) return;
  const side = (plan, day, id) => h("section", {}, h("h2", {}, link(`jobs/${jobOf(id)}`, id)), h("p", {}, `${t("cost")} ${figure(plan.cost)} · ${distance(plan, plan.distance_m)}`), routeMap(plan, day.scenario));
  const moves = found.moves.length === 0 ? h("p", {}, t("noMoved")) : table([t("ticket"), `${t("agent")} A`, `${t("agent")} B`], found.moves, t("moved"));
  content.replaceChildren(
    h("h1", {}, t("compare")), h("p", {}, `Δ ${t("cost")} ${figure(found.cost_delta)} · Δ ${t("agents")} ${found.agents_used_delta}`),
    h("h2", {}, `${t("moved")} (${found.moved})`), moves, side(before, days[0], a), side(after, days[1], b),
  );
}

async function scenariosView(signal, page = 1) {
  const found = await callTool("list_scenarios", { page, size: PAGE_SIZE });
  if (signal.aborted) return;
  const rows = found.rows.map((row) => Object.fromEntries(row.map((cell, at) => [found.columns[at], cell])));
  const body = rows.map((row) => [
    link(`scenarios/${row.scenario_id}`, row.scenario_id), row.name, row.revision, row.last_job_id ? link(`jobs/${row.last_job_id}`, row.last_job_id) : "", localTime(row.created_at),
  ]);
  content.replaceChildren(
    h("h1", {}, t("scenarios")), rows.length === 0 ? h("p", { class: "quiet" }, t("noScenarios")) : table([t("scenario"), t("name"), t("revision"), t("job"), t("created")], body, t("scenarios")),
    h("div", { class: "actions" }, page > 1 && link(`scenarios?page=${page - 1}`, t("newer")), page * PAGE_SIZE < found.total && link(`scenarios?page=${page + 1}`, t("older"))),
  );
}

async function scenarioView(signal, id) {
  const found = await readJson(`scenario://${id}`);
  if (signal.aborted) return;
  const day = found.scenario;
  const messages = h("div");
  const seconds = h("input", { type: "number", min: 1, max: 3600, value: 10 });
  const solve = action(t("solve"), async () => {
    const { job_id: jobId } = await callTool("solve_vrp", { scenario_id: id, solve_time: `PT${Math.max(1, Math.round(Number(seconds.value)))}S` });
    go(`jobs/${jobId}`);
  }, { main: true, into: messages });
  content.replaceChildren(
    h("h1", {}, day.name ?? id), found.masked && h("p", { class: "quiet" }, t("masked", { names: found.masked.join(", ") })) || "",
    h("p", {}, `${id} · ${localTime(found.created_at)} `, found.parent_id ? link(`scenarios/${found.parent_id}`, `← ${found.parent_id}`) : "", found.last_job_id ? link(`jobs/${found.last_job_id}`, ` ${t("job")}`) : ""),
    h("p", {}, `${day.agents.length} ${t("agents")} · ${day.tickets.length} ${t("tickets")}`),
    h("div", { class: "actions" }, h("label", {}, `${t("solveTime")} (s)`, seconds), solve), messages,
    h("h2", {}, t("tickets")), table([t("ticket"), t("name"), t("windows")], day.tickets.slice(0, 500).map((ticket) => [ticket.id, ticket.name ?? ticket.location, (ticket.time_windows ?? []).map((window) => window.join("–")).join(", ")]), t("tickets")),
    rawJson(`scenario://${id}`),
  );
}

function importView() {
  const messages = h("div", { role: "status" });
  const file = h("input", { type: "file", required: true });
  const format = h("select", {}, ["csv", "xlsx", "vroom", "vrplib"].map((name) => h("option", { value: name }, name)));
  const date = h("input", { type: "date", required: true, value: new Date().toISOString().slice(0, 10) });
  const guess = () => {
    const ending = (file.files[0]?.name ?? "").split(".").at(-1).toLowerCase();
    format.value = { xlsx: "xlsx", json: "vroom", vrp: "vrplib", txt: "csv" }[ending] ?? "csv";
  };
  file.addEventListener("change", guess);
  const run = action(t("doImport"), async () => {
    const chosen = file.files[0];
    if (!chosen) return file.focus();
    const text = format.value === "xlsx" ? await base64(chosen) : await chosen.text();
    const found = await callTool("import_scenario", { format: format.value, content: text, planning_date: date.value, name: chosen.name });
    messages.replaceChildren(
      h("p", {}, t("imported", { agents: found.agents, tickets: found.tickets }), " ", link(`scenarios/${found.scenario_id}`, t("open"))),
      ...[["assumptions", found.assumptions], ["warnings", found.warnings]].filter(([, lines]) => lines?.length)
        .map(([name, lines]) => h("div", {}, h("h2", {}, t(name)), h("ul", {}, lines.map((line) => h("li", {}, line))))),
      ...Object.entries(found.columns ?? {}).map(([name, columns]) => h("div", {}, h("h2", {}, `${t("columns")}: ${name}`),
        h("p", {}, `${t("used")}: ${columns.taken.join(", ") || "–"}`), h("p", {}, `${t("notUsed")}: ${columns.left_out.join(", ") || "–"}`))),
    );
  }, { main: true, into: messages });
  content.replaceChildren(h("h1", {}, t("import")), h("p", { class: "quiet" }, t("chooseFile")),
    h("div", { class: "actions" }, h("label", {}, t("file"), file), h("label", {}, t("format"), format), h("label", {}, t("date"), date), run), messages);
}

function keyView(error) {
  const input = h("input", { type: "password", autocomplete: "off", size: 44 });
  const enter = (event) => {
    event.preventDefault();
    setKey(input.value.trim());
    render();
  };
  content.replaceChildren(h("h1", {}, t("keyNeeded")), error ? problem(error) : "",
    h("form", { onsubmit: enter }, h("label", {}, t("key"), input), h("button", { class: "main" }, t("enter"))), h("p", { class: "quiet" }, t("keyHint")));
  input.focus();
}

// ---- parts and helpers

function rawJson(uri) {
  const box = h("pre", { tabindex: "0" });
  const load = async (event) => event.target.open && !box.textContent && (box.textContent = JSON.stringify(await readJson(uri), null, 2));
  return h("details", { ontoggle: load }, h("summary", {}, t("raw")), box);
}

function downloads(planId) {
  const names = ["report.html", "sheets.html", "map.svg", "map.png", "stops.csv", "routes.geojson", "routes.gpx"];
  const messages = h("div");
  const save = async (name) => {
    const url = URL.createObjectURL(await readBlob(`plan://${planId}/${name}`));
    h("a", { href: url, download: `${planId}-${name}` }).click();
    URL.revokeObjectURL(url);
  };
  return h("div", {}, h("h2", {}, t("download")), h("div", { class: "actions" }, names.map((name) => action(name, () => save(name), { into: messages }))), messages);
}

async function base64(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return btoa(text);
}

const localTime = (moment) => new Date(moment).toLocaleString(currentLanguage(), { dateStyle: "short", timeStyle: "medium" });

// Runs a function at most once in a time; what is asked for meanwhile runs at its end.
function throttled(act, everyMs, signal) {
  let timer = null;
  let asked = false;
  const run = () => {
    act();
    timer = setTimeout(() => {
      timer = null;
      if (asked && !signal.aborted) (asked = false), run();
    }, everyMs);
  };
  return () => (timer === null ? run() : (asked = true));
}

function repeat(act, everyMs, signal) {
  const timer = setInterval(async () => {
    if (document.visibilityState !== "visible") return;
    try {
      await act();
      showBanner(null);
    } catch {
      if (!signal.aborted) showBanner(t("lost"));
    }
  }, everyMs);
  signal.addEventListener("abort", () => clearInterval(timer), { once: true });
}

const VIEWS = {
  jobs: (signal, [id], page) => (id ? jobView(signal, id) : jobsView(signal, page)),
  scenarios: (signal, [id], page) => (id ? scenarioView(signal, id) : scenariosView(signal, page)),
  compare: (signal, [a, b]) => compareView(signal, a, b),
  import: () => importView(),
};

async function render() {
  leave.abort();
  leave = new AbortController();
  const { signal } = leave;
  showBanner(null);
  document.documentElement.lang = currentLanguage();
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/").map(decodeURIComponent);
  const view = VIEWS[name] ? name : "jobs";
  document.getElementById("skip").textContent = t("skip");
  document.getElementById("language").textContent = t("language");
  document.getElementById("nav").replaceChildren(
    ...["jobs", "scenarios", "import"].map((each) => h("a", { href: `#/${each}`, "aria-current": each === view ? "page" : undefined }, t(each))),
    ...(hasKey() ? [h("button", { type: "button", onclick: () => (setKey(null), render()) }, t("signOut"))] : []),
  );
  content.replaceChildren(h("p", { class: "quiet" }, t("loading")));
  try {
    await VIEWS[view](signal, rest, Number(new URLSearchParams(query).get("page")) || 1);
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof ApiError && error.status === 401) keyView(hasKey() ? error : null);
    else content.replaceChildren(problem(error));
  }
}

document.getElementById("language").addEventListener("click", () => (switchLanguage(), render()));
window.addEventListener("hashchange", () => (render(), content.focus()));
if (!location.hash) location.replace("#/jobs");
render();
