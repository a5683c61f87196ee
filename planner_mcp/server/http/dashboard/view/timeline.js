// The day of each agent: driving, waiting, service, breaks and reloads.

import { h, s } from "./dom.js";
import { HUES, clock, duration } from "./format.js";
import { t } from "./words.js";

const LABEL = 110;
const ROW = 28;

export function timeline(plan, width = 960) {
  if (plan.routes.length === 0) return h("p", { class: "quiet" }, t("none"));
  const starts = Math.min(...plan.routes.map((route) => route.start_s));
  const ends = Math.max(...plan.routes.map((route) => route.end_s), starts + 60);
  const x = (at) => LABEL + ((at - starts) / (ends - starts)) * (width - LABEL - 20);
  const height = 26 + ROW * plan.routes.length;
  const step = [900, 1800, 3600, 7200, 14400, 21600, 43200, 86400].find((each) => (ends - starts) / each <= 10) ?? 86400 * 7;
  const ticks = [];
  for (let at = Math.ceil(starts / step) * step; at <= ends; at += step) ticks.push(at);
  const bar = (kind, from, to, y, title) =>
    to > from && s("rect", { class: kind, x: x(from).toFixed(1), y, width: Math.max(1, x(to) - x(from)).toFixed(1), height: ROW - 12 }, s("title", {}, title));
  const rows = plan.routes.map((route, index) => {
    const y = 26 + index * ROW;
    const shapes = route.visits.map((visit) => {
      const name = visit.ticket_id ?? t(visit.kind);
      const kind = visit.kind === "ticket" ? "service" : visit.kind;
      const late = visit.late_s > 0 ? ` · ${t("late", { n: duration(visit.late_s) })}` : "";
      return [
        bar("waits", visit.arrival_s, visit.start_s, y, `${name}: ${t("waits")} ${clock(visit.arrival_s)}–${clock(visit.start_s)}`),
        bar(visit.late_s > 0 ? `${kind} late` : kind, visit.start_s, visit.departure_s, y, `${name}: ${clock(visit.start_s)}–${clock(visit.departure_s)}${late}`),
      ];
    });
    const label = route.agent_id.length > 14 ? `${route.agent_id.slice(0, 13)}…` : route.agent_id;
    return s(
      "g", { class: `r${index % HUES}` },
      s("text", { x: LABEL - 8, y: y + 12, "text-anchor": "end" }, label, s("title", {}, route.agent_id)),
      s("line", { class: "drives", x1: x(route.start_s), x2: x(route.end_s), y1: y + 8, y2: y + 8 }, s("title", {}, `${route.agent_id}: ${t("drives")}`)),
      shapes,
    );
  });
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("timeline") }, s(
    "svg", { viewBox: `0 0 ${width} ${height}`, class: "times", role: "img", "aria-label": t("timeline") },
    ticks.map((at) => s("g", { class: "tick" }, s("line", { x1: x(at), x2: x(at), y1: 18, y2: height }), s("text", { x: x(at), y: 12, "text-anchor": "middle" }, clock(at)))),
    rows,
  ));
}
