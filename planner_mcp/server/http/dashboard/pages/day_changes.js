// What happens on a day, on the page of its job: a changed window, a breakdown, an absence and so on, each a re-solve from the plan.

import { callTool } from "../api.js";
import { action, go } from "../page.js";
import { h } from "../view/dom.js";
import { secondsOf } from "../view/format.js";
import { t } from "../view/words.js";

const ids = (entries) => (entries ?? []).map((each) => each.id);
const DAY_S = 86_400;
const TIMES = ["from", "to", "now"];
// Several ids with commas between them; an id may have a comma itself.
const names = (text, known) => (known.includes(text) ? [text] : text.split(/[,，、]/).map((each) => each.trim()).filter(Boolean));

// The input of a time: an hour, or a date and an hour where a shift, or the plan, goes on after midnight.
export function timeInput({ agents = [], planning_date: date }, plan) {
  const ends = [...agents.map((agent) => secondsOf(agent.shift_end ?? 0, date)), ...(plan?.routes ?? []).map((route) => route.end_s)];
  return ends.some((end) => end > DAY_S) ? { type: "datetime-local", min: `${date}T00:00` } : { type: "time" };
}

// By the change: the fields that are asked for, and the arguments of `resolve_vrp` that they become. Without `now`, which
// only some changes may lack (`now?`), nothing of the day has begun and all of it may change.
const CHANGES = {
  window: { fields: ["ticket", "from", "to"], args: ({ ticket, from, to }) => ({ patch: { tickets: { [ticket]: { time_windows: [[from, to]] } } } }) },
  breakdown: { fields: ["agent", "now"], args: ({ agent, now }) => ({ breakdown: { agent, at: now } }) },
  absent: { fields: ["agent"], args: ({ agent }, known) => ({ absent: names(agent, known.agent) }) },
  lateBy: { fields: ["agent", "minutes", "now?"], args: ({ agent, minutes, now }) => ({ late_by: { [agent]: 60 * Number(minutes) }, keep_until: now }) },
  cancelledTicket: { fields: ["ticket", "now?"], args: ({ ticket, now }, known) => ({ cancelled_ticket: names(ticket, known.ticket), keep_until: now }) },
  noShow: { fields: ["ticket", "now"], args: ({ ticket, now }, known) => ({ no_show: names(ticket, known.ticket), keep_until: now }) },
};

// `readPlan` returns the plan of the job, once it is there.
export function dayChanges(jobId, scenario, readPlan = () => null) {
  const messages = h("div");
  const known = { ticket: ids(scenario.tickets), agent: ids(scenario.agents) };
  const lists = Object.entries(known).map(([name, entries]) => h("datalist", { id: `known-${name}` }, entries.slice(0, 1000).map((each) => h("option", { value: each }))));
  const kind = h("select", {}, Object.keys(CHANGES).map((name) => h("option", { value: name }, t(`change_${name}`))));
  const place = h("span", { class: "actions" });
  const field = (asked) => {
    const name = asked.replace("?", "");
    return h("label", {}, t(known[name] ? name : `change_${asked}`),
      h("input", { name, required: name === asked, ...inputOf(name) }));
  };
  const inputOf = (name) => {
    if (TIMES.includes(name)) return timeInput(scenario, readPlan());
    return name === "minutes" ? { type: "number", min: 1, step: "any", size: 6 } : { size: 16, list: `known-${name}` };
  };
  const show = () => place.replaceChildren(...CHANGES[kind.value].fields.map(field));
  kind.addEventListener("change", show);
  const run = action(t("solveAnew"), async () => {
    if (!form.reportValidity()) return;
    const given = Object.fromEntries([...place.querySelectorAll("input")].map((input) => [input.name, input.value.trim()]).filter(([, value]) => value));
    const { job_id: next } = await callTool("resolve_vrp", { warm_from: jobId, solve_time: "PT10S", fresh: true, ...CHANGES[kind.value].args(given, known) });
    go(`jobs/${next}`);
  }, { main: true, into: messages });
  const submit = (event) => (event.preventDefault(), run.click());
  const form = h("form", { onsubmit: submit, "aria-label": t("changeDay") }, h("label", {}, t("change"), kind), place, run);
  const opened = () => place.childElementCount > 0 || show(); // only now: whether times have dates is seen by the plan
  return h("details", { ontoggle: opened }, h("summary", {}, t("changeDay")), lists, form, messages);
}
