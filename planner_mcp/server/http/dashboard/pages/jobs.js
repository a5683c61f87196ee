// The list of jobs, newest first, kept up to date by the event stream; filtered by status at the server, by text here, beyond
// the page that is shown.

import { readJson } from "../api.js";
import { PAGE_SIZE, content, events, go, link, problem, throttled } from "../page.js";
import { h, table } from "../view/dom.js";
import { figure, localTime, servedText } from "../view/format.js";
import { t } from "../view/words.js";

const STATUSES = ["all", "queued", "solving", "completed", "failed", "cancelled", "proposed"];
const RELOAD_EVERY_MS = 1000;
const LONGEST_PAGE = 50; // that the server returns
const MOST_SEARCHED = 4; // such pages, newest first, of which a text is looked for

export async function jobsView(signal, query) {
  const page = Number(query.get("page")) || 1;
  const status = STATUSES.includes(query.get("status")) ? query.get("status") : "all";
  const to = (number) => `jobs?status=${status}&page=${number}`;
  const list = h("div", {});
  const pager = h("div", { class: "actions" });
  let rows = new Map();
  let drawn; // the ids in the table that is shown
  let isWide = false; // whether the rows are all among which a text is looked for
  const isSearching = () => filter.value.trim() !== "";
  const filter = h("input", { type: "search", size: 30, placeholder: t("filter"), "aria-label": t("filter"), "aria-keyshortcuts": "/" });
  const draw = () => {
    const wanted = filter.value.trim().toLowerCase();
    const shown = [...rows.values()].filter((row) => row.text().includes(wanted));
    const ids = rows.size === 0 ? null : shown.map((row) => row.job.job_id).join();
    if (ids === drawn) return; // rows change in place: a table drawn anew would lose a click that has begun
    drawn = ids;
    list.replaceChildren(rows.size === 0 ? h("p", { class: "quiet" }, t(status === "all" ? "noJobs" : "none")) : jobsTable(shown));
  };
  filter.addEventListener("input", () => {
    draw();
    if (isSearching() !== isWide) reload();
  });
  const choice = h("select", { "aria-label": t("status"), onchange: () => go(`jobs?status=${choice.value}`) },
    STATUSES.map((each) => h("option", { value: each, selected: each === status }, t({ all: "all", proposed: "state_proposed" }[each] ?? each.toUpperCase()))));
  const load = async () => {
    const missed = []; // what happens while the list is read, which may say less than that
    const reading = new AbortController();
    events.listen({ onEvent: (event) => missed.push(event) }, reading.signal);
    const wide = isSearching();
    const found = await (wide ? searched(status) : readJson(`jobs://vrp/status/${status}?page=${page}&size=${PAGE_SIZE}`)).finally(() => reading.abort());
    if (signal.aborted || wide !== isSearching()) return; // the filter was filled or emptied meanwhile, and another list is asked for
    isWide = wide;
    const focused = document.activeElement?.getAttribute("href");
    const before = rows;
    rows = new Map(found.jobs.map((job) => [job.job_id, before.get(job.job_id)?.update(job) ?? jobRow(job)]));
    draw();
    if (focused) list.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
    pager.replaceChildren(...[page > 1 && !wide && link(to(page - 1), t("newer")), found.next && link(to(page + 1), t("older")), found.isCut && h("p", { class: "quiet" }, t("searchedNewest", { n: found.jobs.length }))].filter(Boolean));
    missed.forEach(onEvent);
  };
  const onEvent = (event) => {
    if (status === "proposed") return event.review && reload();
    const row = rows.get(event.job_id);
    if (row && (status === "all" || event.status === row.job.status)) row.update(event);
    else reload();
  };
  const reload = throttled(() => load().catch((error) => ((drawn = undefined), list.replaceChildren(problem(error)))), RELOAD_EVERY_MS, signal);
  content.replaceChildren(h("h1", {}, t(status === "proposed" ? "reviews" : "jobs")), h("div", { class: "actions" }, filter, choice), list, pager);
  await load();
  events.listen({ onStart: reload, onEvent }, signal);
  document.addEventListener("keydown", (event) => moveByKeys(event, filter, list), { signal });
}

// The jobs among which a text is looked for.
async function searched(status) {
  const jobs = [];
  for (let page = 1; page <= MOST_SEARCHED; page += 1) {
    const found = await readJson(`jobs://vrp/status/${status}?page=${page}&size=${LONGEST_PAGE}`);
    jobs.push(...found.jobs);
    if (!found.next) return { jobs };
  }
  return { jobs, isCut: true };
}

// A row whose cells change in place, so that focus and selection stay.
function jobRow(job) {
  const status = h("span");
  const progress = h("progress", { max: 100, "aria-label": `${t("progress")} ${job.job_id}` });
  const [served, cost] = [h("div", { class: "quiet" }), h("span")];
  const row = {
    job,
    cells: [[link(`jobs/${job.job_id}`, job.scenario_name || job.job_id), h("div", { class: "quiet" }, job.planning_date)], [status, served], localTime(job.submitted_at), progress, cost, link(`scenarios/${job.scenario_id}`, t("scenario")), h("span", { class: "quiet id" }, job.job_id)],
    text: () => `${job.job_id} ${job.scenario_name ?? ""} ${job.planning_date ?? ""} ${t(job.status)} ${job.scenario_id}`.toLowerCase(),
    update: (event) => {
      const { cost: value, tickets_served, tickets_total } = { ...job, ...event, ...event.result };
      Object.assign(job, { status: event.status, progress: event.progress, cost: value, tickets_served, tickets_total });
      [status.className, status.textContent] = [`state ${job.status}`, t(job.status)];
      progress.value = job.progress ?? 0;
      served.textContent = job.tickets_served === undefined ? "" : `${t("served")} ${servedText(job)}`;
      cost.textContent = figure(job.cost);
      return row;
    },
  };
  return row.update(job);
}

const jobsTable = (rows) =>
  table([t("job"), t("status"), t("submitted"), t("progress"), t("cost"), t("scenario"), t("number")], rows.map((row) => row.cells), t("jobs"));

// `/` leads to the filter, j and k to the next and the last row.
function moveByKeys(event, filter, list) {
  if (event.target.closest("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
  const links = [...list.querySelectorAll("tbody tr td:first-child a")];
  const at = links.indexOf(document.activeElement);
  const next = { "/": filter, j: links[Math.min(at + 1, links.length - 1)], k: links[Math.max(at - 1, 0)] }[event.key];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
