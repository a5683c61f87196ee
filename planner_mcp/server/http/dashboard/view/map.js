// The routes of a plan on a map: stops, depots, tickets not served, scale bar and legend; moved and enlarged by hand.

import { h, s } from "./dom.js";
import { HUES, clock, figure } from "./format.js";
import { t } from "./words.js";

const NARROW = 560;
const MARGIN = 30;
const METRES_PER_DEGREE = 111_195;
const LEAST_ARROW_LEG = 34;
const MOST_NUMBERS = 1500; // with more stops the numbers are left out, for speed and because they would cover the map

function placesOf(scenario) {
  const places = new Map();
  for (const place of scenario.locations ?? []) {
    if (place.x !== undefined && place.x !== null) places.set(place.id, { north: place.y, east: place.x, plane: true });
    else if (place.lat !== undefined && place.lat !== null) places.set(place.id, { north: place.lat, east: place.lon });
  }
  return places;
}

function projection(places, [width, height]) {
  const all = [...places.values()];
  const plane = all.some((place) => place.plane);
  const norths = all.map((place) => place.north);
  const easts = all.map((place) => place.east);
  const [south, north, west, east] = [Math.min(...norths), Math.max(...norths), Math.min(...easts), Math.max(...easts)];
  const stretch = plane ? 1 : Math.cos((((south + north) / 2) * Math.PI) / 180);
  const least = 1e-3;
  const scale = Math.min(
    (width - 2 * MARGIN) / Math.max((east - west) * stretch, least),
    (height - 2 * MARGIN) / Math.max(north - south, least),
  );
  const point = (place) => [
    width / 2 + (place.east - (west + east) / 2) * stretch * scale,
    height / 2 - (place.north - (south + north) / 2) * scale,
  ];
  return { point, perMetre: plane ? scale : scale / METRES_PER_DEGREE, plane };
}

const roundStep = (target) => {
  const base = 10 ** Math.floor(Math.log10(target));
  return base * [5, 2, 1].find((step) => step * base <= target);
};

function scaleBar({ perMetre, plane }, height) {
  const extent = roundStep(160 / perMetre);
  const width = extent * perMetre;
  const text = plane ? figure(extent) : extent >= 1000 ? `${extent / 1000} km` : `${extent} m`;
  return s(
    "g", { class: "scale", transform: `translate(16 ${height - 16})` },
    s("path", { d: `M0,-6V0H${width}V-6` }), s("text", { x: width / 2, y: -6, "text-anchor": "middle" }, text),
  );
}

function routeShapes(route, index, places, point, hasNumbers, onSelect) {
  const ids = [route.start_location, ...route.visits.map((visit) => visit.location), route.end_location];
  const points = ids.filter((id) => places.has(id)).map((id) => point(places.get(id)));
  const line = points.map(([px, py]) => `${px.toFixed(1)},${py.toFixed(1)}`).join(" ");
  let number = 0;
  const stops = route.visits.filter((visit) => visit.kind === "ticket" && places.has(visit.location)).map((visit) => {
    const at = (number += 1);
    const [px, py] = point(places.get(visit.location));
    const label = `${route.agent_id} · ${number} · ${visit.ticket_id} · ${clock(visit.start_s)}`;
    return s(
      "g", { class: "stop", transform: `translate(${px.toFixed(1)} ${py.toFixed(1)})`, "data-ticket": visit.ticket_id, onclick: () => onSelect(visit, route.agent_id, at) },
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

// `width` is that of the place, so that signs have a size that can be read. `frame.box` keeps what part is shown, for the
// caller that draws the next plan with the same frame.
export function routeMap(plan, scenario, { onSelect = () => {}, width = 960, frame = {} } = {}) {
  const places = placesOf(scenario);
  if (places.size === 0) return h("p", { class: "quiet" }, t("noPositions"));
  const size = [width, Math.round(width * (width < NARROW ? 0.9 : 7 / 12))];
  const project = projection(places, size);
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
    "svg", { class: "map", role: "img", tabindex: "0", "aria-label": `${t("map")}. ${t("mapHelp")}` },
    plan.routes.map((route, index) => routeShapes(route, index, places, point, stops <= MOST_NUMBERS, onSelect)),
    squares, crosses, scaleBar(project, size[1]),
  );
  return h("div", { class: "mapbox" }, zoomButtons(drawing, size, frame), drawing, legend(plan, drawing));
}

// Moves and enlarges a drawing by its view box: buttons, mouse, wheel and keyboard.
function zoomButtons(drawing, size, frame) {
  const whole = [0, 0, ...size];
  let [x, y, width, height] = frame.box?.width === size[0] ? frame.box : whole;
  const show = () => {
    drawing.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
    frame.box = Object.assign([x, y, width, height], { width: size[0] });
  };
  show();
  const zoom = (factor, cx = 0.5, cy = 0.5) => {
    const next = Math.min(size[0] * 2, Math.max(size[0] / 200, width * factor));
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
