// The stops of a plan as a table.

import { h, table } from "./dom.js";
import { HUES, agentName, clock, duration, figure } from "./format.js";
import { t, wordOf } from "./words.js";

const amounts = (load) => Object.entries(load ?? {}).map(([name, value]) => (name === "load" ? figure(value) : `${figure(value)} ${wordOf("unit", name)}`)).join(", ");

// With `onSelect`, the id of a ticket is a button that selects it. Stops are numbered as on the map and in print.
export function stopsTable(plan, scenario, tickets, onSelect) {
  const names = plan.routes.map((route) => agentName(scenario, route.agent_id));
  const rows = plan.routes.flatMap((route, index) => route.visits.map((visit, at) => {
    const given = tickets.get(visit.ticket_id) ?? {};
    const id = visit.ticket_id && onSelect ? h("button", { type: "button", "data-ticket": visit.ticket_id, onclick: () => onSelect(visit, route.agent_id, at + 1) }, visit.ticket_id) : visit.ticket_id;
    const late = visit.late_s > 0 ? h("strong", { class: "late" }, t("late", { n: duration(visit.late_s) })) : "";
    return [
      h("span", { class: `agent r${index % HUES}` }, h("span", { class: "swatch", "aria-hidden": "true" }), names[index]), at + 1, id ?? t(visit.kind), given.name ?? visit.location,
      clock(visit.arrival_s), [clock(visit.start_s), " ", late], clock(visit.departure_s), amounts(visit.load),
    ];
  }));
  return table([t("agent"), t("stop"), t("ticket"), t("name"), t("arrival"), t("start"), t("departure"), t("load")], rows, t("stops"));
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
