// The list of scenarios, and one scenario.

import { callTool, readJson } from "../api.js";
import { PAGE_SIZE, action, content, events, go, link, rawJson, takeMessages, throttled, widthOf } from "../page.js";
import { h, table } from "../view/dom.js";
import { clock, localTime, windowText } from "../view/format.js";
import { routeMap } from "../view/map.js";
import { onlyAgents } from "../view/tables.js";
import { t } from "../view/words.js";
import { scenarioChanges } from "./day_changes.js";

const RELOAD_EVERY_MS = 1000;
const MOST_PAGES = 5; // of the list, newest first, that are searched for revisions of a scenario
const MOST_READ = 8; // scenarios that may be such a revision

const hourOf = (at) => (typeof at === "number" ? clock(at) : at);

export async function scenariosView(signal, query) {
  const page = Number(query.get("page")) || 1;
  await showScenarios(signal, page);
  const reload = throttled(() => showScenarios(signal, page).catch(() => {}), RELOAD_EVERY_MS, signal);
  events.listen({ onStart: reload, onEvent: (event) => event.status === "QUEUED" && reload() }, signal);
}

async function showScenarios(signal, page) {
  const found = await callTool("list_scenarios", { page, size: PAGE_SIZE });
  if (signal.aborted) return;
  const rows = recordsOf(found);
  const body = rows.map((row) => [
    [link(`scenarios/${row.scenario_id}`, row.name || row.scenario_id), h("div", { class: "quiet" }, row.planning_date)], row.revision, row.last_job_id ? link(`jobs/${row.last_job_id}`, t("lastSolve")) : "", localTime(row.created_at), h("span", { class: "quiet id" }, row.scenario_id),
  ]);
  content.replaceChildren(
    h("h1", {}, t("scenarios")), rows.length === 0 ? h("p", { class: "quiet" }, t("noScenarios")) : table([t("scenario"), t("revision"), t("job"), t("created"), t("number")], body, t("scenarios")),
    h("div", { class: "actions" }, page > 1 && link(`scenarios?page=${page - 1}`, t("newer")), page * PAGE_SIZE < found.total && link(`scenarios?page=${page + 1}`, t("older"))),
  );
}

const recordsOf = ({ columns, rows }) => rows.map((row) => Object.fromEntries(row.map((cell, at) => [columns[at], cell])));

// The scenarios that were made by revising one, oldest first: among those that are newer and of the next number.
async function laterRevisions({ scenario_id: id, revision }) {
  const maybe = [];
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const found = await callTool("list_scenarios", { page, size: PAGE_SIZE });
    const rows = recordsOf(found);
    const at = rows.findIndex((row) => row.scenario_id === id);
    maybe.push(...(at < 0 ? rows : rows.slice(0, at)).filter((row) => row.revision === revision + 1));
    if (at >= 0 || !found.next_page) break;
  }
  const read = await Promise.all(maybe.slice(-MOST_READ).map((row) => readJson(`scenario://${row.scenario_id}`).catch(() => null)));
  return read.filter((each) => each?.parent_id === id).map((each) => each.scenario_id).reverse();
}

export async function scenarioView(signal, id, mayWrite) {
  const found = await readJson(`scenario://${id}`);
  if (signal.aborted) return;
  const day = found.scenario;
  const messages = h("div", {}, h("ul", {}, takeMessages()));
  const mayChange = mayWrite && found.is_own !== false; // as on the page of a job
  const later = h("span");
  const seconds = h("input", { type: "number", min: 1, max: 3600, value: 10 });
  const cores = h("input", { type: "number", min: 1, max: 64 });
  const solve = action(t("solve"), async () => {
    const { job_id: jobId } = await callTool("solve_vrp", { scenario_id: id, solve_time: `PT${Math.max(1, Math.round(Number(seconds.value)))}S`, ...(cores.value && { cores: Number(cores.value) }) });
    go(`jobs/${jobId}`);
  }, { main: true, into: messages });
  content.replaceChildren(
    h("h1", {}, day.name ? [h("bdi", {}, day.name), `, ${day.planning_date}`] : id), day.masked && h("p", { class: "quiet" }, t("masked", { names: day.masked.join(", ") })) || "",
    h("p", { class: "quiet" }, `${id} · ${localTime(found.created_at)} · ${t("revision")} ${found.revision}`),
    h("p", {}, [`${t("agents")}: ${day.agents.length}`, `${t("tickets")}: ${day.tickets.length}`, found.parent_id && link(`scenarios/${found.parent_id}`, t("earlier")), found.last_job_id && link(`jobs/${found.last_job_id}`, t("lastSolve"))].filter(Boolean).flatMap((each, at) => (at ? [" · ", each] : [each])), later),
    mayChange ? h("div", { class: "actions" }, h("label", {}, t("solveTime"), seconds), h("label", {}, t("cores"), cores), solve, scenarioChanges(id, day)) : "", messages,
    h("h2", {}, t("map")), routeMap({ routes: [], unassigned: [] }, day, { width: widthOf(content) }),
    h("h2", {}, t("tickets")), table([t("ticket"), t("name"), t("windows")], day.tickets.map((ticket) => [[ticket.id, onlyAgents(ticket, day)], ticket.name ?? ticket.location, (ticket.time_windows ?? []).map((window) => windowText(window, day.planning_date, hourOf)).join(", ")]), t("tickets")),
    rawJson(`scenario://${id}`),
  );
  const revisions = await laterRevisions(found).catch(() => []);
  later.replaceChildren(...revisions.flatMap((each) => [" · ", link(`scenarios/${each}`, t("later"))]));
}
