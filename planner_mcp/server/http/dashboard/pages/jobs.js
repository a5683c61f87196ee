// The list of jobs, newest first.

import { readJson } from "../api.js";
import { PAGE_SIZE, content, link, localTime, repeat } from "../page.js";
import { h, table } from "../view/dom.js";
import { figure } from "../view/format.js";
import { t } from "../view/words.js";

const LIST_EVERY_MS = 3000;

export async function jobsView(signal, page = 1) {
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
