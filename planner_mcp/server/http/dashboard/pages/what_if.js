// What changes of a day would save, on the page of its job: one more vehicle, wider windows, longer shifts. Each is solved
// from the plan, beside the day as it is, by the tool `what_if`.

import { callTool } from "../api.js";
import { action, link, planOf } from "../page.js";
import { h, table } from "../view/dom.js";
import { MASK, OPEN_END_S, figure, named, secondsOf } from "../view/format.js";
import { t } from "../view/words.js";

const SOLVE_TIME = "PT5S";
const LAST_CLOCK_S = 48 * 3600 - 1; // that a scenario takes as hours, minutes and seconds
const LAST_S = 10_000_000; // that it takes at all

// A time of the day moved by seconds: in hours where it was written so and they reach it, else in seconds.
const moved = (at, date, by) => {
  const seconds = Math.min(LAST_S, Math.max(0, secondsOf(at, date) + by));
  if (typeof at === "number" || /[T ]/.test(at) || seconds > LAST_CLOCK_S) return seconds;
  return [seconds / 3600, (seconds / 60) % 60, seconds % 60].map((part) => String(Math.floor(part)).padStart(2, "0")).join(":");
};

// By the case: the patch of the day that it becomes, from what was filled in; null where the day has nothing of the kind.
const PATCHES = {
  another({ agents = [] }, like) {
    const agent = agents.find((each) => each.id === like);
    if (!agent) return null;
    const taken = new Set(agents.map((each) => each.id));
    const number = Array.from({ length: agents.length + 1 }, (_, at) => at + 2).find((each) => !taken.has(`${like}-${each}`));
    const { id: _id, name: _name, phone: _phone, ...fields } = agent;
    return { agents: { [`${like}-${number}`]: Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== MASK)) } };
  },
  wider({ tickets = [], planning_date: date }, minutes) {
    const wide = ([opens, closes]) => [moved(opens, date, -60 * minutes), secondsOf(closes, date) === OPEN_END_S ? closes : moved(closes, date, 60 * minutes)];
    return patched("tickets", tickets.filter((each) => each.time_windows?.length), (each) => ({ time_windows: each.time_windows.map(wide) }));
  },
  longer({ agents = [], planning_date: date }, minutes) {
    return patched("agents", agents.filter((each) => (each.shift_end ?? null) !== null), (each) => ({ shift_end: moved(each.shift_end, date, 60 * minutes) }));
  },
};
const patched = (list, entries, change) => (entries.length > 0 ? { [list]: Object.fromEntries(entries.map((each) => [each.id, change(each)])) } : null);

export function whatIf(jobId, scenario) {
  const answer = h("div", { role: "status" });
  const agents = (scenario.agents ?? []).slice(0, 1000).map((each) => h("option", { value: each.id }, named(each)));
  const minutes = (name) => h("input", { type: "number", name, min: 1, max: 1440, placeholder: "–" });
  const inputs = { another: h("select", { name: "another" }, h("option", { value: "" }, "–"), agents), wider: minutes("wider"), longer: minutes("longer") };
  const run = action(t("compareCases"), async () => {
    if (!form.reportValidity()) return;
    const filled = Object.entries(inputs).filter(([, input]) => input.value);
    if (filled.length === 0) return inputs.another.focus();
    const patches = filled.map(([name, { value }]) => [`${t(`if_${name}`)}: ${value}`, PATCHES[name](scenario, name === "another" ? value : Number(value))]);
    const cases = Object.fromEntries(patches.filter(([, patch]) => patch).map(([name, patch]) => [name.slice(0, 60), { patch }]));
    answer.replaceChildren(h("p", { class: "quiet" }, `${t("SOLVING")}…`));
    answer.replaceChildren(casesTable(await callTool("what_if", { plan: planOf(jobId), cases, solve_time: SOLVE_TIME })));
  }, { main: true, into: answer });
  const form = h("form", { name: "whatIf", "aria-label": t("whatIf") }, Object.entries(inputs).map(([name, input]) => h("label", {}, t(`if_${name}`), input)), run);
  return h("details", {}, h("summary", {}, t("whatIf")), form, answer);
}

// The cases beside the day as it is; a case whose solve takes longer has its job alone.
function casesTable({ columns, rows, changes, refused }) {
  const lines = rows.map((row, at) => {
    const of = Object.fromEntries(row.map((cell, index) => [columns[index], cell]));
    const saves = at === 0 ? "" : figure(of.saves);
    const gap = (of.gap ?? null) === null ? "–" : `≤ ${(100 * of.gap).toFixed(1)} %`;
    return [h("span", { title: (changes[of.case] ?? []).join("; ") }, at === 0 ? t("asItIs") : of.case), link(`jobs/${of.job_id}`, t(of.status)), figure(of.cost), saves, of.served ?? "–", figure(of.agents), figure(of.distance_km), figure(of.late_min), gap];
  });
  const heads = ["case", "status", "cost", "saves", "served", "agents", "distanceKm", "lateMin", "gap"];
  return h("div", {}, table(heads.map((each) => t(each)), lines, t("whatIf")), Object.entries(refused ?? {}).map(([name, why]) => h("p", {}, `${name}: ${why}`)));
}
