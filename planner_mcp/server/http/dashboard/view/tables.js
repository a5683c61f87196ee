// The stops of a plan as a table.

import { h, table } from "./dom.js";
import { HUES, agentName, clock, duration, figure, placeName } from "./format.js";
import { t, wordOf } from "./words.js";

const unitWord = (name, value) => wordOf(value === 1 && wordOf("one", name) !== name ? "one" : "unit", name);
const amounts = (load) => Object.entries(load ?? {}).map(([name, value]) => `${figure(value)} ${unitWord(name, value)}`.trim()).join(", ");

// What is on board when a route begins; unknown where the demand of its first ticket is.
function loadAtStart([first], tickets) {
  const { demand, kind } = tickets.get(first?.ticket_id) ?? {};
  if (!first || (first.ticket_id && demand === undefined)) return {};
  const isPickup = kind === "pickup" || [...tickets.values()].some((each) => each.pickup && each.pickup === first.ticket_id);
  const moved = typeof demand === "number" ? { load: demand } : demand ?? {};
  return Object.fromEntries(Object.entries(first.load ?? {}).map(([name, value]) => [name, value + (isPickup ? -1 : 1) * (moved[name] ?? 0)]));
}

// With `onSelect`, the id of a ticket is a button that selects it. Stops are numbered as on the map and in print; where a route
// begins and where it ends have lines without a number.
export function stopsTable(plan, scenario, tickets, onSelect) {
  const rows = plan.routes.flatMap((route, index) => {
    const agent = () => h("span", { class: `agent r${index % HUES}` }, h("span", { class: "swatch", "aria-hidden": "true" }), agentName(scenario, route.agent_id));
    const { start_location: from, end_location: to } = route;
    return [
      ...(from ? [[agent(), "", t("leaves"), placeName(scenario, from), "", "", clock(route.start_s), amounts(loadAtStart(route.visits, tickets))]] : []),
      ...route.visits.map((visit, at) => [agent(), at + 1, ...stopCells(visit, scenario, tickets, onSelect && (() => onSelect(visit, route.agent_id, at + 1)))]),
      ...(to ? [[agent(), "", t("after"), placeName(scenario, to), clock(route.end_s), "", "", ""]] : []),
    ];
  });
  return table([t("agent"), t("stop"), t("ticket"), t("name"), t("arrival"), t("start"), t("departure"), t("load")], rows, t("stops"));
}

// Who alone may serve a ticket, where not everybody may: those it names, or the one that serves it first.
export function onlyAgents({ id: ticket, agents } = {}, scenario) {
  const holders = (scenario.agents ?? []).filter(({ locked_tickets: locked }) => locked?.includes(ticket)).map(({ id }) => id);
  const only = holders.length > 0 ? holders : agents ?? [];
  return only.length > 0 && h("div", { class: "quiet" }, t("onlyAgents", { agents: only.map((id) => agentName(scenario, id)).join(", ") }));
}

function stopCells(visit, scenario, tickets, select) {
  const { ticket_id: ticket } = visit;
  const id = ticket && select ? h("button", { type: "button", "data-ticket": ticket, onclick: select }, ticket) : ticket;
  const late = visit.late_s > 0 ? h("strong", { class: "late" }, t("late", { n: duration(visit.late_s) })) : "";
  return [[id ?? t(visit.kind), onlyAgents(tickets.get(ticket), scenario)], tickets.get(ticket)?.name ?? visit.location, clock(visit.arrival_s), [clock(visit.start_s), " ", late], clock(visit.departure_s), amounts(visit.load)];
}

// Why tickets are left out, with their names where any has one; the code of a reason is its hint.
export function unassignedTable(plan, tickets) {
  if (plan.unassigned.length === 0) return h("p", { class: "quiet" }, t("none"));
  const nameOf = (entry) => tickets.get(entry.ticket_id)?.name;
  const hasNames = plan.unassigned.some(nameOf);
  const named = (name) => (hasNames ? [name] : []);
  const rows = plan.unassigned.map((entry) => [entry.ticket_id, ...named(nameOf(entry)), h("span", { title: entry.code }, entry.detail)]);
  return table([t("ticket"), ...named(t("name")), t("reason")], rows, t("unassigned"));
}
