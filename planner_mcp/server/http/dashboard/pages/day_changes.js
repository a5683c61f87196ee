// What happens on a day, on the page of its job: a changed window, a breakdown, an absence and so on, each a re-solve from the plan.

import { callTool } from "../api.js";
import { action, go } from "../page.js";
import { h } from "../view/dom.js";
import { secondsOf } from "../view/format.js";
import { t } from "../view/words.js";

const ids = (entries) => (entries ?? []).map((each) => each.id);
const DAY_S = 86_400;
// Several ids with commas between them; an id may have a comma itself.
const names = (text, known) => (known.includes(text) ? [text] : text.split(/[,，、]/).map((each) => each.trim()).filter(Boolean));

// Fields that are no id, with the input that each takes.
const INPUTS = { from: { type: "time" }, to: { type: "time" }, now: { type: "time" }, minutes: { type: "number", min: 1, step: "any", size: 6 } };

// Where every shift begins later and some go on after midnight, an hour before the first of them is one of the next day: 01:30
// in a night that began at 22:00 is 25:30.
export function hoursOf({ agents = [], planning_date: date }) {
  const at = (name, none) => agents.map((agent) => secondsOf(agent[name] ?? none, date));
  const [first, last] = [Math.min(...at("shift_start", 0)), Math.max(...at("shift_end", 0))];
  return (time) => (last > DAY_S && secondsOf(time) < first ? time.replace(/^\d+/, (hour) => Number(hour) + 24) : time);
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

export function dayChanges(jobId, scenario) {
  const messages = h("div");
  const inHours = hoursOf(scenario);
  const known = { ticket: ids(scenario.tickets), agent: ids(scenario.agents) };
  const lists = Object.entries(known).map(([name, entries]) => h("datalist", { id: `known-${name}` }, entries.slice(0, 1000).map((each) => h("option", { value: each }))));
  const kind = h("select", {}, Object.keys(CHANGES).map((name) => h("option", { value: name }, t(`change_${name}`))));
  const place = h("span", { class: "actions" });
  const field = (asked) => {
    const name = asked.replace("?", "");
    return h("label", {}, t(known[name] ? name : `change_${asked}`),
      h("input", { name, required: name === asked, ...(INPUTS[name] ?? { size: 16, list: `known-${name}` }) }));
  };
  const show = () => place.replaceChildren(...CHANGES[kind.value].fields.map(field));
  kind.addEventListener("change", show);
  show();
  const run = action(t("solveAnew"), async () => {
    if (!form.reportValidity()) return;
    const written = ({ type, value }) => (type === "time" && value ? inHours(value) : value.trim());
    const given = Object.fromEntries([...place.querySelectorAll("input")].map((input) => [input.name, written(input)]).filter(([, value]) => value));
    const { job_id: next } = await callTool("resolve_vrp", { warm_from: jobId, solve_time: "PT10S", fresh: true, ...CHANGES[kind.value].args(given, known) });
    go(`jobs/${next}`);
  }, { main: true, into: messages });
  const submit = (event) => (event.preventDefault(), run.click());
  const form = h("form", { onsubmit: submit, "aria-label": t("changeDay") }, h("label", {}, t("change"), kind), place, run);
  return h("details", {}, h("summary", {}, t("changeDay")), lists, form, messages);
}
