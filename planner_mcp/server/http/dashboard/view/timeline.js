// The day of each agent: driving, waiting, service, breaks and reloads, the windows of its stops, and the time that is
// looked at.

import { h, placeIn, s } from "./dom.js";
import { HUES, agentName, clock, dateOf, duration, isolated, secondsOf, windowText } from "./format.js";
import { setMoment, spanOf, timeSlider } from "./moment.js";
import { t } from "./words.js";

const LABEL = 110;
const ROW = 30;
const HEAD = 40;
const BAR = 14;
const DAY_S = 86_400;
const STEPS_S = [900, 1800, 3600, 7200, 14_400, 21_600, 43_200, DAY_S];
const LEAST_TICK = 70;
const MOST_AGENTS = 100; // shown at once
const SHORTEST_S = 60; // of waiting that is shown, as in print
const LONGEST_AGENT = 14;

// With `moment`, a slider chooses a time, which is shown here and by the other drawings of the moment.
export function timeline(plan, scenario = {}, { width = 960, moment } = {}) {
  if (plan.routes.length === 0) return h("p", { class: "quiet" }, t("none"));
  const place = h("div", {});
  const show = (first) => place.replaceChildren(chart(plan, plan.routes.slice(first, first + MOST_AGENTS), first, scenario, width, moment));
  show(0);
  const parts = plan.routes.length <= MOST_AGENTS ? [] : [h("select", { "aria-label": t("agents"), onchange: (event) => show(Number(event.target.value)) }, plan.routes
    .map((_route, at) => at).filter((at) => at % MOST_AGENTS === 0).map((at) => h("option", { value: at }, `${at + 1}–${Math.min(at + MOST_AGENTS, plan.routes.length)}`)))];
  return h("div", { class: "timeline" }, moment && timeSlider(plan, moment), parts, place, key());
}

function chart(plan, routes, first, scenario, width, moment) {
  const [starts, ends] = spanOf(plan);
  const span = Math.max(60, ends - starts);
  const x = (at) => LABEL + ((at - starts) / span) * (width - LABEL - 20);
  const height = HEAD + ROW * routes.length;
  const windows = windowsOf(scenario);
  const cursor = s("line", { class: "now", y1: HEAD - 12, y2: height });
  const drawing = s(
    "svg", { viewBox: `0 0 ${width} ${height}`, class: "times", role: "img", "aria-label": t("timeline") },
    ticks(starts, starts + span, x, height, scenario.planning_date, width), routes.map((route, at) => row(route, first + at, HEAD + at * ROW, x, [starts, starts + span], windows, agentName(scenario, route.agent_id))), cursor,
  );
  if (moment) {
    moment.shows.timeline = (at) => {
      cursor.classList.toggle("hidden", at === null);
      for (const end of ["x1", "x2"]) cursor.setAttribute(end, x(at ?? starts));
    };
    moment.shows.timeline(moment.at);
    drawing.addEventListener("click", (event) => {
      const at = starts + ((placeIn(drawing, event)[0] * width - LABEL) / (width - LABEL - 20)) * span;
      setMoment(moment, Math.min(Math.max(at, starts), starts + span));
    });
  }
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("timeline") }, drawing);
}

// Times, and over them the dates where there are several.
function ticks(starts, ends, x, height, date, width) {
  const step = STEPS_S.find((each) => ((ends - starts) / each) * LEAST_TICK <= width - LABEL) ?? DAY_S * Math.ceil((LEAST_TICK * (ends - starts)) / (DAY_S * (width - LABEL)));
  const marks = [];
  for (let at = Math.ceil(starts / step) * step; at <= ends; at += step) marks.push(at);
  const tick = (kind, at, y, text) => s("g", { class: kind }, s("line", { x1: x(at), x2: x(at), y1: y, y2: height }), s("text", { x: x(at), y: y - 5, "text-anchor": "middle" }, text));
  const days = [];
  for (let day = Math.floor(starts / DAY_S); day * DAY_S < ends; day += 1) days.push(day);
  const isNarrow = days.length * LEAST_TICK > width - LABEL;
  const dates = days.length < 2 || isNarrow ? [] : days.map((day) => tick("tick day", Math.max(starts, day * DAY_S), 18, dateOf(date, day)));
  return [marks.map((at) => tick("tick", at, HEAD - 8, step >= DAY_S ? dateOf(date, at / DAY_S) : clock(at % DAY_S))), dates];
}

// By ticket the windows in which service may start, in seconds.
function windowsOf({ tickets = [], planning_date: date }) {
  return new Map(tickets.map((ticket) => [ticket.id, (ticket.time_windows ?? []).map((window) => window.map((at) => secondsOf(at, date))).filter(([from, to]) => to >= from)]));
}

function row(route, index, y, x, [first, last], windows, agent) {
  const bar = (kind, from, to, title) => s("rect", { class: kind, x: x(from).toFixed(1), y, width: Math.max(1.5, x(to) - x(from)).toFixed(1), height: BAR }, s("title", {}, title));
  const shapes = route.visits.map((visit, at) => {
    const kind = visit.kind === "ticket" ? "service" : visit.kind;
    const name = `${at + 1} · ${visit.ticket_id ? isolated(visit.ticket_id) : t(kind)}`;
    const given = windows.get(visit.ticket_id) ?? [];
    const open = given.map((window) => windowText(window, "", clock)).join(", ");
    const late = visit.late_s > 0 ? ` · ${t("late", { n: duration(visit.late_s) })}` : "";
    const title = `${name}: ${clock(visit.start_s)}–${clock(visit.departure_s)}${late}${open && ` · ${t("windows")} ${open}`}`;
    const narrow = given.map(([from, to]) => [Math.max(first, from), Math.min(last, to)]).filter(([from, to]) => from <= to && to - from < (last - first) / 2);
    const level = y + BAR + 3 + 4 * (at % 3);
    return [
      narrow.map(([from, to]) => s("path", { class: "window", d: `M${x(from).toFixed(1)},${level - 1.5}v3m0,-1.5H${x(to).toFixed(1)}m0,-1.5v3` }, s("title", {}, title))),
      visit.start_s - visit.arrival_s >= SHORTEST_S && bar("waits", visit.arrival_s, visit.start_s, `${name}: ${t("waits")} ${clock(visit.arrival_s)}–${clock(visit.start_s)}`),
      bar(visit.late_s > 0 ? `${kind} late` : kind, visit.start_s, visit.departure_s, title),
      visit.late_s > 0 && s("text", { class: "mark", x: x(visit.start_s), y: y - 1, "text-anchor": "middle" }, "!"),
    ];
  });
  const label = agent.length > LONGEST_AGENT ? `${agent.slice(0, LONGEST_AGENT - 1)}…` : agent;
  return s(
    "g", { class: `row r${index % HUES}`, "data-agent": route.agent_id },
    s("text", { x: LABEL - 8, y: y + 11, "text-anchor": "end" }, label, s("title", {}, agent)),
    s("line", { class: "drives", x1: x(route.start_s), x2: x(route.end_s), y1: y + BAR / 2, y2: y + BAR / 2 }, s("title", {}, `${isolated(agent)}: ${t("drives")}`)),
    shapes,
  );
}

// What the shapes mean.
const key = () => h("ul", { class: "key r0" }, ["drives", "service", "waits", "break", "window", "late"].map((kind) => h("li", {}, s(
  "svg", { class: "times", viewBox: "0 0 24 14", "aria-hidden": "true" },
  kind === "drives" ? s("line", { class: kind, x1: 1, x2: 23, y1: 7, y2: 7 }) : kind === "window" ? s("path", { class: kind, d: "M2,4v6m0,-3H22m0,-3v6" }) : s("rect", { class: kind === "late" ? "service late" : kind, x: 2, y: 2, width: 20, height: 10 }),
), t(kind === "late" ? "lateKey" : kind))));
