// What happens on a day: a changed window, a lock, a breakdown, an absence and so on. On the page of a job each is a re-solve from
// its plan; on that of a scenario those that need no plan are a revision of it.

import { callTool } from "../api.js";
import { action, choiceWord, go } from "../page.js";
import { h } from "../view/dom.js";
import { OPEN_END_S, isolated, named, pointerParts, secondsOf } from "../view/format.js";
import { t, wordOf } from "../view/words.js";

const ids = (entries) => (entries ?? []).map((each) => each.id);
const DAY_S = 86_400;
const TIMES = ["opens", "closes", "release_time", "now"];
const MOST_OFFERED = 1000; // ids below a field; what is typed there chooses among all of them
const POSITION = /^(-?[\d.]+)\s*[,，]\s*(-?[\d.]+)$/;
// The ids that were typed, where there may be `several` with commas between them; an id may have a comma itself. One that nobody knows
// is refused: as a change it would be something new.
function names(text, known, several, refusal) {
  const all = known.includes(text) || !several ? [text] : text.split(/[,，、]/).map((each) => each.trim()).filter(Boolean);
  const unknown = all.find((id) => known.length > 0 && !known.includes(id));
  if (unknown !== undefined) throw new Error(t(refusal, { id: isolated(unknown) }));
  return all;
}
// Tickets with the other halves of their shipments.
const withHalves = (chosen, tickets) => [...new Set([...chosen, ...tickets.flatMap(({ id, pickup }) => (chosen.includes(id) ? pickup ?? [] : chosen.includes(pickup) ? id : []))])];

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

// By the change: the fields that are asked for (`+`: several, `?`: may be empty), and the arguments of `resolve_vrp` that they
// become beside `now`. Without that, which only some changes may lack, nothing of the day has begun and all of it may change.
// A ticket and an agent come as lists of ids.
const CHANGES = {
  window: { fields: ["ticket", "opens", "closes", "now?"], args: ({ ticket, opens, closes }) => changed(ticket, () => ({ time_windows: [[opens, closes]] })) },
  newTicket: { fields: ["id", "pickup?", "address?", "release_time?", "demand?", "service_min?", "opens?", "closes?", "now?"], args: newTicket },
  cancelledTicket: { fields: ["ticket+", "now?"], args: ({ ticket }) => ({ cancelled_ticket: ticket }) },
  lock: { fields: ["ticket+", "agent?", "now?"], args: ({ ticket, agent }, { tickets }, plan) => changed(withHalves(ticket, tickets), (id) => ({ agents: agent ?? [agentOf(id, plan)] })) },
  unlock: { fields: ["ticket+", "now?"], args: unlocked },
  breakdown: { fields: ["agent", "now"], args: ({ agent: [agent] }) => ({ breakdown: { agent } }) },
  absent: { fields: ["agent+", "now?"], args: ({ agent }) => ({ absent: agent }) },
  lateBy: { fields: ["agent", "minutes", "now?"], args: ({ agent: [agent], minutes }) => ({ late_by: { [agent]: 60 * Number(minutes) } }) },
  noShow: { fields: ["ticket+", "now"], args: ({ ticket }) => ({ no_show: ticket }) },
};
const OF_SCENARIO = ["window", "newTicket", "cancelledTicket", "lock", "unlock"];
const HINTS = { "ticket+": "several", "agent+": "several", "address?": "depotHint", "pickup?": "pickupHint" };

const changed = (tickets, change) => ({ patch: { tickets: Object.fromEntries(tickets.map((id) => [id, change(id)])) } });

function agentOf(ticket, plan) {
  const route = plan?.routes.find(({ visits }) => visits.some((visit) => visit.ticket_id === ticket));
  if (!route) throw new Error(t("noAgent", { id: isolated(ticket) }));
  return route.agent_id;
}

// A lock is a limit to some agents, or stands at an agent among what it serves first.
function unlocked({ ticket: chosen }, { tickets, agents }) {
  const limited = tickets.filter((each) => each.agents).map(({ id }) => id);
  const bound = agents.flatMap(({ locked_tickets: locked }) => locked ?? []);
  const free = chosen.find((id) => !withHalves([id], tickets).some((each) => limited.includes(each) || bound.includes(each)));
  if (free !== undefined) throw new Error(t("notLocked", { id: isolated(free) }));
  const all = withHalves(chosen, tickets);
  const { patch } = changed(all.filter((id) => limited.includes(id)), () => ({ agents: null }));
  const holders = agents.filter(({ locked_tickets: locked }) => locked?.some((id) => all.includes(id)));
  const left = holders.map(({ id, locked_tickets: locked }) => [id, { locked_tickets: locked.filter((each) => !all.includes(each)) }]);
  return { patch: { ...patch, ...(left.length > 0 && { agents: Object.fromEntries(left) }) } };
}

// What agents carry, by kinds; none where an amount is a number alone.
const kindsOf = ({ agents = [] }) => [...new Set(agents.flatMap((each) => Object.keys(Object(each.capacity))))];

// Tickets whose goods are fetched and that no other ticket delivers: as the pickup of another, a delivery would be one no more.
const fetchable = ({ tickets = [] }) => {
  const delivered = new Set(tickets.map(({ pickup }) => pickup));
  return tickets.filter(({ id, kind }) => kind === "pickup" && !delivered.has(id));
};

// An amount is of each kind that agents carry; a position is a place of its own, under a name that none has. Goods are fetched
// at the depot, at a pickup of the day or at a place, which is a ticket of its own unless they go to the depot from there.
function newTicket({ id, pickup, address, release_time: ready, service_min: stay = 0, opens, closes, ...given }, scenario) {
  if (!pickup && !address) throw new Error(t("noPlace"));
  if (ids(scenario.tickets).includes(pickup) && !ids(fetchable(scenario)).includes(pickup)) throw new Error(t("notFetchable", { id: isolated(pickup) }));
  const amount = (kind) => Number(given[`demand ${kind}`] ?? 0);
  const kinds = kindsOf(scenario);
  const demand = kinds.length > 0 ? Object.fromEntries(kinds.map((kind) => [kind, amount(kind)])) : amount("");
  const locations = {};
  const at = (name, text) => {
    const position = POSITION.exec(text);
    if (!position) return { address: text };
    let place = name;
    while (ids(scenario.locations).includes(place)) place += "*";
    locations[place] = { lat: Number(position[1]), lon: Number(position[2]) };
    return { location: place };
  };
  const stop = (name, text, from, until) => ({ id: name, demand, service_time_s: 60 * Number(stay), ...((from || until) && { time_windows: [[from ?? "00:00", until ?? OPEN_END_S]] }), ...at(name, text) });
  const added = () => {
    if (!address) return [{ ...stop(id, pickup, [opens, ready].filter(Boolean).sort().pop(), closes), kind: "pickup" }];
    const delivery = stop(id, address, opens, closes);
    const there = scenario.tickets.find((each) => each.id === pickup); // whose amount it is where none is given
    const isWeighed = Object.keys(given).some((name) => name.startsWith("demand "));
    if (!pickup || there) return [{ ...delivery, ...(there && { pickup, demand: isWeighed ? demand : there.demand }), ...(ready && { release_time: ready }) }];
    const first = stop(`${id} ${t("pickup")}`, pickup, ready);
    return [first, { ...delivery, pickup: first.id }];
  };
  return { new_ticket: added(), ...(Object.keys(locations).length > 0 && { patch: { locations } }) };
}

// The id at a place in a call: of an entry that is patched by it, or what stands there.
function idAt(path, args) {
  const [list, key] = pointerParts(path.replace(/^\/patch(?=\/)/, ""));
  const given = args[list]?.[key];
  return typeof given === "string" ? given : given?.id ?? (["agents", "tickets", "locations", "late_by"].includes(list) ? key : undefined);
}

// A refusal in words of the page, which names no places in a call but what they are about, and has other names for two changes that
// `inWords` takes for words.
const ARGUMENT = /\b(breakdown|patch)\b/g;
const inWordsOfPage = (args) => (error) => {
  const word = (name) => `“${t(name === "patch" ? "change_window" : "change_breakdown")}”`;
  for (const fault of error.errors ?? []) {
    if (!fault.which?.length) fault.which = [idAt(fault.path ?? "", args) ?? []].flat().map(isolated);
    fault.path = "";
    for (const part of ["problem", "hint"]) fault[part] = fault[part]?.replace(/^(Write|请写)(?= \w+[.。]$)/, t("choose")).replace(ARGUMENT, word);
  }
  throw error;
};

const capital = (words) => words.charAt(0).toUpperCase() + words.slice(1);
const amountsOf = (scenario) => {
  const input = (kind) => h("input", { name: `demand ${kind}`, type: "number", min: 0, step: "any", size: 6 });
  const kinds = kindsOf(scenario);
  return (kinds.length > 0 ? kinds : [""]).map((kind) => h("label", {}, [capital(choiceWord("demand")), kind && `(${wordOf("unit", kind)})`].filter(Boolean).join(" "), input(kind)));
};

// `readPlan` returns the plan of the job, once it is there.
export const dayChanges = (jobId, scenario, readPlan = () => null) => panel(Object.keys(CHANGES), scenario, readPlan, "solveAnew", async (args, now) => {
  const next = await callTool("resolve_vrp", { warm_from: jobId, fresh: true, keep_until: now, ...args }).catch(inWordsOfPage(args));
  go(`jobs/${next.job_id}`, next);
});

// The other half of a shipment goes with a ticket here too.
export const scenarioChanges = (scenarioId, scenario) => panel(OF_SCENARIO, scenario, null, "keepChange", async ({ new_ticket: added = [], cancelled_ticket: gone = [], patch = {} }) => {
  const taken = added.find(({ id }) => ids(scenario.tickets).includes(id));
  if (taken) throw new Error(t("hasTicket", { id: isolated(taken.id) }));
  const tickets = { ...patch.tickets, ...Object.fromEntries([...added.map(({ id, ...fields }) => [id, fields]), ...withHalves(gone, scenario.tickets).map((id) => [id, null])]) };
  const next = await callTool("revise_scenario", { scenario_id: scenarioId, patch: { ...patch, tickets } }).catch(inWordsOfPage({}));
  go(`scenarios/${next.scenario_id}`, next);
});

// Without `readPlan` there is no plan to lock tickets by, and nothing of it has begun.
function panel(offered, scenario, readPlan, button, apply) {
  const messages = h("div");
  const known = { ticket: ids(scenario.tickets), agent: ids(scenario.agents) };
  const offers = { ticket: scenario.tickets ?? [], agent: scenario.agents ?? [], pickup: fetchable(scenario) };
  const lists = Object.fromEntries(Object.keys(offers).map((name) => [name, h("datalist", { id: `known-${name}` })]));
  const kind = h("select", { name: "change" }, offered.map((name) => h("option", { value: name }, t(`change_${name}`))));
  const place = h("span", { class: "actions" });
  const field = (asked) => {
    const name = asked.replace(/[?+]/, "");
    const required = !asked.endsWith("?");
    if (name === "demand") return amountsOf(scenario);
    const own = wordOf("change", asked);
    return h("label", {}, own !== asked ? own : known[name] ? t(name) : capital(choiceWord(name)),
      name === "now" ? nowInput(scenario, readPlan?.(), required) : h("input", { name, required, ...inputOf(name), placeholder: HINTS[asked] && t(HINTS[asked]) }));
  };
  const inputOf = (name) => {
    if (TIMES.includes(name)) return timeInput(scenario, readPlan?.());
    if (["minutes", "service_min"].includes(name)) return { type: "number", min: 0, step: "any", size: 6 };
    return { size: ["pickup", "address"].includes(name) ? 34 : 16, list: `known-${name}` };
  };
  // Offers the ids, of more than there is room for those with what was typed in them or in their names; of several the last is typed.
  // The words of an offer have those before it too: a browser hides offers without all that was typed.
  const offer = ({ name, value }) => {
    if (offers[name].length <= MOST_OFFERED && lists[name].childElementCount > 0) return;
    const [, before = "", typed] = CHANGES[kind.value].fields.includes(`${name}+`) ? /^(.*[,，、]\s*)?(.*)$/s.exec(value) : [value, "", value];
    const found = offers[name].filter((each) => named(each).toLowerCase().includes(typed.trim().toLowerCase()));
    lists[name].replaceChildren(...found.slice(0, MOST_OFFERED).map((each) => h("option", { value: before + each.id }, before + named(each))));
  };
  for (const name of Object.keys(offers)) offer({ name, value: "" });
  const given = () => Object.fromEntries([...place.querySelectorAll("input")].map((input) => [input.name, input.value.trim()]).filter(([, value]) => value));
  const show = () => {
    const before = given(); // what was typed stays where another change asks for it too
    const { fields } = CHANGES[kind.value];
    place.replaceChildren(...(readPlan ? fields : fields.filter((asked) => asked !== "now?").map((asked) => asked.replace("agent?", "agent"))).flatMap(field));
    for (const input of place.querySelectorAll("input")) {
      input.value = before[input.name] ?? input.value;
      if (offers[input.name]) offer(input);
    }
  };
  place.addEventListener("input", ({ target }) => offers[target.name] && offer(target));
  kind.addEventListener("change", show);
  const run = action(t(button), async () => {
    if (!form.reportValidity()) return;
    const asked = given();
    const { fields, args } = CHANGES[kind.value];
    for (const [name, refusal] of [["ticket", "noTicket"], ["agent", "noSuchAgent"]]) {
      if (asked[name]) asked[name] = names(asked[name], known[name], fields.includes(`${name}+`), refusal);
    }
    await apply(args(asked, scenario, readPlan?.()), asked.now);
  }, { main: true, into: messages });
  const form = h("form", { name: "changeDay", "aria-label": t("changeDay") }, h("label", {}, t("change"), kind), place, run);
  const opened = () => place.childElementCount > 0 || show(); // only now: whether times have dates is seen by the plan
  return h("details", { ontoggle: opened }, h("summary", {}, t("changeDay")), Object.values(lists), form, messages);
}
