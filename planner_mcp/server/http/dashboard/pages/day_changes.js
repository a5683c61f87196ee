// What happens on a day, on the page of its job: a changed window, a breakdown, an absence and so on, each a re-solve from the plan.

import { callTool } from "../api.js";
import { action, choiceWord, go } from "../page.js";
import { h } from "../view/dom.js";
import { OPEN_END_S, isolated, named, secondsOf } from "../view/format.js";
import { t, wordOf } from "../view/words.js";

const ids = (entries) => (entries ?? []).map((each) => each.id);
const DAY_S = 86_400;
const TIMES = ["opens", "closes", "now"];
const POSITION = /^(-?[\d.]+)\s*[,，]\s*(-?[\d.]+)$/;
// Several ids with commas between them; an id may have a comma itself.
const names = (text, known) => (known.includes(text) ? [text] : text.split(/[,，、]/).map((each) => each.trim()).filter(Boolean));

// The input of a time: an hour, or a date and an hour where a shift, or the plan, goes on after midnight.
export function timeInput({ agents = [], planning_date: date }, plan) {
  const ends = [...agents.map((agent) => secondsOf(agent.shift_end ?? 0, date)), ...(plan?.routes ?? []).map((route) => route.end_s)];
  return ends.some((end) => end > DAY_S) ? { type: "datetime-local", min: `${date}T00:00` } : { type: "time" };
}

// The input of the hour it is: filled in on the day itself, where a plan without it would move what has been driven.
export function nowInput(scenario, plan, required = false) {
  const input = timeInput(scenario, plan);
  const [date, hour] = new Date().toLocaleString("sv").split(" ");
  const value = date !== scenario.planning_date ? undefined : input.type === "time" ? hour.slice(0, 5) : `${date}T${hour.slice(0, 5)}`;
  return h("input", { name: "now", required, ...input, value });
}

// By the change: the fields that are asked for, and the arguments of `resolve_vrp` that they become beside `now`. Without that,
// which only some changes may lack (`now?`), nothing of the day has begun and all of it may change.
const CHANGES = {
  window: { fields: ["ticket", "opens", "closes", "now?"], args: changedWindow },
  newTicket: { fields: ["id", "address", "demand?", "service_min?", "opens?", "closes?", "now?"], args: newTicket },
  breakdown: { fields: ["agent", "now"], args: ({ agent }) => ({ breakdown: { agent } }) },
  absent: { fields: ["agent", "now?"], args: ({ agent }, known) => ({ absent: names(agent, known.agent) }) },
  lateBy: { fields: ["agent", "minutes", "now?"], args: ({ agent, minutes }) => ({ late_by: { [agent]: 60 * Number(minutes) } }) },
  cancelledTicket: { fields: ["ticket", "now?"], args: ({ ticket }, known) => ({ cancelled_ticket: names(ticket, known.ticket) }) },
  noShow: { fields: ["ticket", "now"], args: ({ ticket }, known) => ({ no_show: names(ticket, known.ticket) }) },
};

// What agents carry, by kinds; none where an amount is a number alone.
const kindsOf = ({ agents = [] }) => [...new Set(agents.flatMap((each) => Object.keys(Object(each.capacity))))];

// An amount is of each kind that agents carry; a position is a place of its own, under a name that none has.
function newTicket({ id, address, service_min: stay = 0, opens, closes, ...given }, _known, scenario) {
  const { locations } = scenario;
  const amount = (kind) => Number(given[`demand ${kind}`] ?? 0);
  const kinds = kindsOf(scenario);
  const at = POSITION.exec(address)?.slice(1).map(Number);
  let place = id;
  while (ids(locations).includes(place)) place += "*";
  const hours = (opens || closes) && { time_windows: [[opens ?? "00:00", closes ?? OPEN_END_S]] };
  const ticket = { id, demand: kinds.length > 0 ? Object.fromEntries(kinds.map((kind) => [kind, amount(kind)])) : amount(""), service_time_s: 60 * Number(stay), ...hours, ...(at ? { location: place } : { address }) };
  return { new_ticket: [ticket], ...(at && { patch: { locations: { [place]: { lat: at[0], lon: at[1] } } } }) };
}

// A ticket that nobody knows would be a new one.
function changedWindow({ ticket, opens, closes }, known) {
  if (known.ticket.length > 0 && !known.ticket.includes(ticket)) throw new Error(t("noTicket", { id: isolated(ticket) }));
  return { patch: { tickets: { [ticket]: { time_windows: [[opens, closes]] } } } };
}

// A refusal in words of the page, which has no places in a call, and other names for two changes that `inWords` takes for words.
const ARGUMENT = /\b(breakdown|patch)\b/g;
function inWordsOfPage(error) {
  const word = (name) => `“${t(name === "patch" ? "change_window" : "change_breakdown")}”`;
  for (const fault of error.errors ?? []) {
    fault.path = "";
    for (const part of ["problem", "hint"]) fault[part] = fault[part]?.replace(ARGUMENT, word);
  }
  throw error;
}

const amountsOf = (scenario) => {
  const input = (kind) => h("input", { name: `demand ${kind}`, type: "number", min: 0, step: "any", size: 6 });
  const kinds = kindsOf(scenario);
  return (kinds.length > 0 ? kinds : [""]).map((kind) => h("label", {}, [choiceWord("demand"), kind && `(${wordOf("unit", kind)})`].filter(Boolean).join(" "), input(kind)));
};

// `readPlan` returns the plan of the job, once it is there.
export function dayChanges(jobId, scenario, readPlan = () => null) {
  const messages = h("div");
  const known = { ticket: ids(scenario.tickets), agent: ids(scenario.agents) };
  const lists = ["ticket", "agent"].map((name) => h("datalist", { id: `known-${name}` }, (scenario[`${name}s`] ?? []).slice(0, 1000).map((each) => h("option", { value: each.id }, named(each)))));
  const kind = h("select", {}, Object.keys(CHANGES).map((name) => h("option", { value: name }, t(`change_${name}`))));
  const place = h("span", { class: "actions" });
  const field = (asked) => {
    const name = asked.replace("?", "");
    if (name === "demand") return amountsOf(scenario);
    return h("label", {}, known[name] ? t(name) : choiceWord(wordOf("change", asked).replace("?", "")),
      name === "now" ? nowInput(scenario, readPlan(), name === asked) : h("input", { name, required: name === asked, ...inputOf(name) }));
  };
  const inputOf = (name) => {
    if (TIMES.includes(name)) return timeInput(scenario, readPlan());
    if (name === "address") return { size: 24, placeholder: t("depotHint") };
    return ["minutes", "service_min"].includes(name) ? { type: "number", min: 0, step: "any", size: 6 } : { size: 16, list: `known-${name}` };
  };
  const given = () => Object.fromEntries([...place.querySelectorAll("input")].map((input) => [input.name, input.value.trim()]).filter(([, value]) => value));
  const show = () => {
    const before = given(); // what was typed stays where another change asks for it too
    place.replaceChildren(...CHANGES[kind.value].fields.flatMap(field));
    for (const input of place.querySelectorAll("input")) input.value = before[input.name] ?? input.value;
  };
  kind.addEventListener("change", show);
  const run = action(t("solveAnew"), async () => {
    if (!form.reportValidity()) return;
    const asked = given();
    const next = await callTool("resolve_vrp", { warm_from: jobId, fresh: true, keep_until: asked.now, ...CHANGES[kind.value].args(asked, known, scenario) }).catch(inWordsOfPage);
    go(`jobs/${next.job_id}`, next);
  }, { main: true, into: messages });
  const form = h("form", { "aria-label": t("changeDay") }, h("label", {}, t("change"), kind), place, run);
  const opened = () => place.childElementCount > 0 || show(); // only now: whether times have dates is seen by the plan
  return h("details", { ontoggle: opened }, h("summary", {}, t("changeDay")), lists, form, messages);
}
