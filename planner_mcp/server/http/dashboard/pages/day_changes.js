// What happens on a day, on the page of its job: a changed window, a breakdown, an absence and so on, each a re-solve from the plan.

import { callTool } from "../api.js";
import { action, go } from "../page.js";
import { h } from "../view/dom.js";
import { t } from "../view/words.js";

const ids = (entries) => (entries ?? []).map((each) => each.id);
const names = (text) => text.split(/[,，、]/).map((each) => each.trim()).filter(Boolean);

// Fields of times and numbers, with examples; they may have the colon and digits of a Chinese keyboard (１０：３０). Ids stay as they are.
const FORMS = { from: "09:00", to: "11:00", now: "10:30", minutes: "20" };
const written = ({ name, value }) => (name in FORMS ? value.normalize("NFKC") : value).trim();

// By the change: the fields that are asked for, and the arguments of `resolve_vrp` that they become. Without `now`, which
// only some changes may lack (`now?`), nothing of the day has begun and all of it may change.
const CHANGES = {
  window: { fields: ["ticket", "from", "to"], args: ({ ticket, from, to }) => ({ patch: { tickets: { [ticket]: { time_windows: [[from, to]] } } } }) },
  breakdown: { fields: ["agent", "now"], args: ({ agent, now }) => ({ breakdown: { agent, at: now } }) },
  absent: { fields: ["agent"], args: ({ agent }) => ({ absent: names(agent) }) },
  lateBy: { fields: ["agent", "minutes", "now?"], args: ({ agent, minutes, now }) => ({ late_by: { [agent]: 60 * Number(minutes) }, keep_until: now }) },
  cancelledTicket: { fields: ["ticket", "now?"], args: ({ ticket, now }) => ({ cancelled_ticket: names(ticket), keep_until: now }) },
  noShow: { fields: ["ticket", "now"], args: ({ ticket, now }) => ({ no_show: names(ticket), keep_until: now }) },
};

export function dayChanges(jobId, scenario) {
  const messages = h("div");
  const known = { ticket: ids(scenario.tickets), agent: ids(scenario.agents) };
  const lists = Object.entries(known).map(([name, entries]) => h("datalist", { id: `known-${name}` }, entries.slice(0, 1000).map((each) => h("option", { value: each }))));
  const kind = h("select", {}, Object.keys(CHANGES).map((name) => h("option", { value: name }, t(`change_${name}`))));
  const place = h("span", { class: "actions" });
  const field = (asked) => {
    const name = asked.replace("?", "");
    return h("label", {}, t(known[name] ? name : `change_${asked}`),
      h("input", { name, required: name === asked, ...(name === "minutes" && { type: "number", min: 1, step: "any" }), size: known[name] ? 16 : 6, list: known[name] && `known-${name}`, placeholder: FORMS[name] }));
  };
  const show = () => place.replaceChildren(...CHANGES[kind.value].fields.map(field));
  kind.addEventListener("change", show);
  show();
  const run = action(t("solveAnew"), async () => {
    const given = Object.fromEntries([...place.querySelectorAll("input")].map((input) => [input.name, written(input)]).filter(([, value]) => value));
    if (!form.reportValidity()) return;
    const { job_id: next } = await callTool("resolve_vrp", { warm_from: jobId, solve_time: "PT10S", fresh: true, ...CHANGES[kind.value].args(given) });
    go(`jobs/${next}`);
  }, { main: true, into: messages });
  const submit = (event) => (event.preventDefault(), run.click());
  const form = h("form", { onsubmit: submit, "aria-label": t("changeDay") }, h("label", {}, t("change"), kind), place, run);
  return h("details", {}, h("summary", {}, t("changeDay")), lists, form, messages);
}
