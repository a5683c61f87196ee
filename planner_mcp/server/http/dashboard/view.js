// Draws a job and its plan: figures, cost curve, map, timeline and tables. Each function returns an element and keeps no
// state of the page. Times are seconds after midnight of the planning date, distances are metres or units of a plane.

import { h, s, table } from "./dom.js";
import { t } from "./words.js";

const HUES = 12; // colours of routes; the number of a route is shown too, so colour is never the only sign
const WIDTH = 960;
const MAP_HEIGHT = 560;
const MARGIN = 30;
const METRES_PER_DEGREE = 111_195;
const LABEL = 110;
const LEAST_ARROW_LEG = 34;
const ROW = 28;
const MOST_NUMBERS = 1500; // with more stops the numbers are left out, for speed and because they would cover the map

export const clock = (seconds) => {
  const minutes = Math.round(seconds / 60);
  const day = Math.floor(minutes / 1440);
  const text = `${String(Math.floor(minutes / 60) % 24).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
  return day > 0 ? `${text} +${day}` : text;
};
export const figure = (value) =>
  value === undefined || value === null ? "–" : value.toLocaleString(undefined, { maximumFractionDigits: value < 100 ? 2 : 0 });
const isPlane = (plan) => ["plane", "unit legs"].includes(plan.travel?.source);
export const distance = (plan, metres) => (isPlane(plan) ? figure(metres) : `${figure(metres / 1000)} km`);
export const duration = (seconds) => `${Math.floor(seconds / 3600)} h ${String(Math.round((seconds % 3600) / 60)).padStart(2, "0")} min`;

// ---- figures

export function figures(job, plan, bound) {
  const entry = (label, value, hint) => h("div", { class: "figure", title: hint }, h("dt", {}, label), h("dd", {}, value));
  const served = plan ? plan.tickets_served : job.tickets_served;
  const total = plan ? plan.tickets_total : job.tickets_total;
  return h(
    "dl", { class: "figures" },
    entry(t("status"), job.status),
    entry(t("progress"), `${Math.round(job.progress ?? 0)} %`),
    entry(t("cost"), figure(plan?.cost ?? job.cost)),
    entry(t("served"), served === undefined ? "–" : t("of", { a: served, b: total })),
    plan && entry(t("agents"), figure(plan.agents_used)),
    plan && entry(t("distance"), distance(plan, plan.distance_m)),
    plan && entry(t("working"), duration(plan.duration_s)),
    bound?.gap !== undefined && bound?.gap !== null && entry(t("gap"), `≤ ${(100 * bound.gap).toFixed(1)} %`),
    entry(t("verified"), plan ? h("span", { class: "stamp" }, `✓ ${t("verified")}`) : t("notYet"), t("verifiedHint")),
  );
}

// ---- cost curve

// The points from the first plan that serves the most tickets on: earlier ones pay penalties that would flatten the rest.
export function shownPoints(points) {
  const most = Math.max(...points.map((point) => point.served ?? 0));
  return points.filter((point) => (point.served ?? 0) === most);
}

export function costCurve(points, bound) {
  const shown = shownPoints(points);
  if (shown.length === 0) return h("p", { class: "quiet" }, t("notYet"));
  const height = 180;
  const end = Math.max(...points.map((point) => point.at), 1);
  const costs = [...shown.map((point) => point.cost), ...(bound ? [bound] : [])];
  const low = Math.min(...costs);
  const high = Math.max(...costs);
  const x = (at) => 60 + (at / end) * (WIDTH - 80);
  const y = (cost) => 14 + (1 - (cost - low) / (high - low || 1)) * (height - 44);
  let path = `M${x(shown[0].at)},${y(shown[0].cost)}`;
  for (const point of shown.slice(1)) path += `H${x(point.at)}V${y(point.cost)}`;
  path += `H${x(end)}`;
  const label = `${t("curve")}: ${figure(shown[0].cost)} → ${figure(shown.at(-1).cost)}`;
  return s(
    "svg", { viewBox: `0 0 ${WIDTH} ${height}`, class: "curve", role: "img", "aria-label": label },
    s("line", { class: "axis", x1: 60, x2: WIDTH - 20, y1: height - 28, y2: height - 28 }),
    [high, low].map((cost) => s("text", { x: 54, y: y(cost) + 4, "text-anchor": "end" }, figure(cost))),
    [0, end].map((at) => s("text", { x: x(at), y: height - 10, "text-anchor": "middle" }, t("seconds", { n: figure(at) }))),
    bound && s("line", { class: "bound", x1: 60, x2: WIDTH - 20, y1: y(bound), y2: y(bound) }),
    s("path", { class: "cost", d: path }),
    shown.length < points.length && s("title", {}, t("unservedAxis")),
  );
}

// ---- map

function placesOf(scenario) {
  const places = new Map();
  for (const place of scenario.locations ?? []) {
    if (place.x !== undefined && place.x !== null) places.set(place.id, { north: place.y, east: place.x, plane: true });
    else if (place.lat !== undefined && place.lat !== null) places.set(place.id, { north: place.lat, east: place.lon });
  }
  return places;
}

function projection(places) {
  const all = [...places.values()];
  const plane = all.some((place) => place.plane);
  const norths = all.map((place) => place.north);
  const easts = all.map((place) => place.east);
  const [south, north, west, east] = [Math.min(...norths), Math.max(...norths), Math.min(...easts), Math.max(...easts)];
  const stretch = plane ? 1 : Math.cos((((south + north) / 2) * Math.PI) / 180);
  const least = 1e-3;
  const scale = Math.min(
    (WIDTH - 2 * MARGIN) / Math.max((east - west) * stretch, least),
    (MAP_HEIGHT - 2 * MARGIN) / Math.max(north - south, least),
  );
  const point = (place) => [
    WIDTH / 2 + (place.east - (west + east) / 2) * stretch * scale,
    MAP_HEIGHT / 2 - (place.north - (south + north) / 2) * scale,
  ];
  return { point, perMetre: plane ? scale : scale / METRES_PER_DEGREE, plane };
}

const roundStep = (target) => {
  const base = 10 ** Math.floor(Math.log10(target));
  return base * [5, 2, 1].find((step) => step * base <= target);
};

function scaleBar({ perMetre, plane }) {
  const extent = roundStep(160 / perMetre);
  const width = extent * perMetre;
  const text = plane ? figure(extent) : extent >= 1000 ? `${extent / 1000} km` : `${extent} m`;
  return s(
    "g", { class: "scale", transform: `translate(16 ${MAP_HEIGHT - 16})` },
    s("path", { d: `M0,-6V0H${width}V-6` }), s("text", { x: width / 2, y: -6, "text-anchor": "middle" }, text),
  );
}

function routeShapes(route, index, places, point, hasNumbers, onSelect) {
  const ids = [route.start_location, ...route.visits.map((visit) => visit.location), route.end_location];
  const points = ids.filter((id) => places.has(id)).map((id) => point(places.get(id)));
  const line = points.map(([px, py]) => `${px.toFixed(1)},${py.toFixed(1)}`).join(" ");
  let number = 0;
  const stops = route.visits.filter((visit) => visit.kind === "ticket" && places.has(visit.location)).map((visit) => {
    number += 1;
    const [px, py] = point(places.get(visit.location));
    const label = `${route.agent_id} · ${number} · ${visit.ticket_id} · ${clock(visit.start_s)}`;
    return s(
      "g", { class: "stop", transform: `translate(${px.toFixed(1)} ${py.toFixed(1)})`, onclick: () => onSelect(visit) },
      s("title", {}, label), s("circle", { r: hasNumbers ? 9 : 4 }),
      hasNumbers && s("text", { "text-anchor": "middle", y: 3.5 }, number),
    );
  });
  return s(
    "g", { class: `route r${index % HUES}`, "data-agent": route.agent_id },
    s("polyline", { class: "track", points: line }, s("title", {}, route.agent_id)), arrows(points), stops,
  );
}

// An arrow head in the middle of each leg that is long enough to show one.
const arrows = (points) => points.slice(1).flatMap(([px, py], at) => {
  const [qx, qy] = points[at];
  if (Math.hypot(px - qx, py - qy) < LEAST_ARROW_LEG) return [];
  const angle = (Math.atan2(py - qy, px - qx) * 180) / Math.PI;
  return [s("path", { class: "arrow", d: "M-5,-4L5,0L-5,4z", transform: `translate(${(px + qx) / 2} ${(py + qy) / 2}) rotate(${angle})` })];
});

export function routeMap(plan, scenario, onSelect = () => {}) {
  const places = placesOf(scenario);
  if (places.size === 0) return h("p", { class: "quiet" }, t("noPositions"));
  const project = projection(places);
  const { point } = project;
  const stops = plan.routes.reduce((sum, route) => sum + route.visits.length, 0);
  const where = new Map((scenario.tickets ?? []).map((ticket) => [ticket.id, ticket.location]));
  const crosses = plan.unassigned.filter((entry) => places.has(where.get(entry.ticket_id))).map((entry) => {
    const [px, py] = point(places.get(where.get(entry.ticket_id)));
    return s("path", { class: "cross", d: `M${px - 6},${py - 6}l12,12m0,-12l-12,12` }, s("title", {}, `${entry.ticket_id}: ${entry.code}`));
  });
  const depots = new Set(plan.routes.flatMap((route) => [
    route.start_location, route.end_location, ...route.visits.filter((visit) => visit.kind === "reload").map((visit) => visit.location),
  ]));
  const squares = [...depots].filter((id) => places.has(id)).map((id) => {
    const [px, py] = point(places.get(id));
    return s("rect", { class: "depot", x: px - 8, y: py - 8, width: 16, height: 16 }, s("title", {}, `${t("depot")}: ${id}`));
  });
  const drawing = s(
    "svg", { viewBox: `0 0 ${WIDTH} ${MAP_HEIGHT}`, class: "map", role: "img", tabindex: "0", "aria-label": `${t("map")}. ${t("mapHelp")}` },
    plan.routes.map((route, index) => routeShapes(route, index, places, point, stops <= MOST_NUMBERS, onSelect)),
    squares, crosses, scaleBar(project),
  );
  return h("div", { class: "mapbox" }, zoomButtons(drawing), drawing, legend(plan, drawing));
}

// Moves and enlarges a drawing by its view box: buttons, mouse, wheel and keyboard.
function zoomButtons(drawing) {
  const whole = [0, 0, WIDTH, MAP_HEIGHT];
  let [x, y, width, height] = whole;
  const show = () => drawing.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
  const zoom = (factor, cx = 0.5, cy = 0.5) => {
    const next = Math.min(WIDTH * 2, Math.max(WIDTH / 200, width * factor));
    const ratio = next / width;
    x += width * cx * (1 - ratio);
    y += height * cy * (1 - ratio);
    width = next;
    height *= ratio;
    show();
  };
  const move = (dx, dy) => ((x += dx * width), (y += dy * height), show());
  const fit = () => (([x, y, width, height] = whole), show());
  drawing.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = drawing.getBoundingClientRect();
    zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, (event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
  }, { passive: false });
  drawing.addEventListener("pointermove", (event) => {
    if (!(event.buttons & 1)) return;
    const box = drawing.getBoundingClientRect();
    move(-event.movementX / box.width, -event.movementY / box.height);
  });
  const keys = { ArrowLeft: () => move(-0.1, 0), ArrowRight: () => move(0.1, 0), ArrowUp: () => move(0, -0.1),
    ArrowDown: () => move(0, 0.1), "+": () => zoom(1 / 1.3), "-": () => zoom(1.3), 0: fit };
  drawing.addEventListener("keydown", (event) => {
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  const button = (text, label, act) => h("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
  return h("div", { class: "zoom" }, button("+", t("zoomIn"), () => zoom(1 / 1.3)), button("−", t("zoomOut"), () => zoom(1.3)), button("⤢", t("fit"), fit));
}

// Names of the routes; pointing at one, or focusing it, dims the others.
function legend(plan, drawing) {
  const light = (agent) => {
    for (const route of drawing.querySelectorAll(".route")) route.classList.toggle("dim", agent !== null && route.dataset.agent !== agent);
  };
  return h("ul", { class: "legend" }, plan.routes.map((route, index) => {
    const served = route.visits.filter((visit) => visit.kind === "ticket").length;
    return h("li", { class: `r${index % HUES}` }, h("button", {
      type: "button", onmouseenter: () => light(route.agent_id), onmouseleave: () => light(null),
      onfocus: () => light(route.agent_id), onblur: () => light(null),
    }, h("span", { class: "swatch", "aria-hidden": "true" }), `${route.agent_id} (${served})`));
  }));
}

// ---- timeline

export function timeline(plan) {
  if (plan.routes.length === 0) return h("p", { class: "quiet" }, t("none"));
  const starts = Math.min(...plan.routes.map((route) => route.start_s));
  const ends = Math.max(...plan.routes.map((route) => route.end_s), starts + 60);
  const x = (at) => LABEL + ((at - starts) / (ends - starts)) * (WIDTH - LABEL - 20);
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
    "svg", { viewBox: `0 0 ${WIDTH} ${height}`, class: "times", role: "img", "aria-label": t("timeline") },
    ticks.map((at) => s("g", { class: "tick" }, s("line", { x1: x(at), x2: x(at), y1: 18, y2: height }), s("text", { x: x(at), y: 12, "text-anchor": "middle" }, clock(at)))),
    rows,
  ));
}

// ---- tables

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
