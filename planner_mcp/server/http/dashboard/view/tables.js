// The stops of a plan as a table.

import { h, table } from "./dom.js";
import { clock, duration, figure } from "./format.js";
import { t } from "./words.js";

const amounts = (load) => Object.entries(load ?? {}).map(([name, value]) => (name === "load" ? figure(value) : `${name} ${figure(value)}`)).join(", ");

export function stopsTable(plan, tickets) {
  const rows = plan.routes.flatMap((route) => {
    let number = 0;
    return route.visits.map((visit) => {
      const given = tickets.get(visit.ticket_id) ?? {};
      const late = visit.late_s > 0 ? h("strong", { class: "late" }, t("late", { n: duration(visit.late_s) })) : "";
      return [
        route.agent_id, visit.kind === "ticket" ? (number += 1) : "", visit.ticket_id ?? t(visit.kind), given.name ?? visit.location,
        clock(visit.arrival_s), [clock(visit.start_s), " ", late], clock(visit.departure_s), amounts(visit.load),
      ];
    });
  });
  return table([t("agent"), t("stop"), t("ticket"), t("name"), t("arrival"), t("start"), t("departure"), t("load")], rows, t("stops"));
}
