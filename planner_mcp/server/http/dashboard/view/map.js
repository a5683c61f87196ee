// The routes of a plan on a map: roads or a grid, stops, depots, tickets not served, scale bar and legend; moved and
// enlarged by hand. What is on it is worked out here; `map_svg.js` draws it, or `map_canvas.js` for pages that bring it.

import { h, placeIn } from "./dom.js";
import { HUES, agentName, clock, figure, isolated, placeName } from "./format.js";
import { svgLayer } from "./map_svg.js";
import { standAt, standsOf } from "./moment.js";
import { decoded, nearest, placesOf, projection, roundStep } from "./positions.js";
import { t } from "./words.js";

const NARROW = 560;
const MOST_HIGH = 680;
const MOST_SHAPES = 3000; // stops that are drawn as SVG where there is a canvas for more
const REACH = 14; // points around a stop in which it is meant
const DRAG = 4;
const GRID = 90;
const LONGEST_LABEL = 24;
const SCALE = 110; // points that its bar is long, at most: as wide as the buttons beside it

const shortened = (text) => isolated(text.length > LONGEST_LABEL ? `${text.slice(0, LONGEST_LABEL - 1)}…` : text);

// `ground` is what `roads.json` of a plan says: roads by rank, and lines of routes along them, coded.
function modelOf(plan, scenario, places, ground, size) {
  const roads = new Map(Object.entries(ground?.lines ?? {}).map(([agent, numbers]) => [agent, decoded(numbers, ground.origin)]));
  const { point, ...project } = projection([...places.values(), ...[...roads.values()].flat()], size);
  const pointOf = (id) => (places.has(id) ? point(places.get(id)) : undefined);
  const tickets = new Map((scenario.tickets ?? []).map((ticket) => [ticket.id, ticket]));
  const called = (id) => [id, tickets.get(id)?.name].filter(Boolean).map(isolated).join(", ");
  const signs = (ids, labelOf) => ids.map((id) => ({ id, label: labelOf(id), point: pointOf(tickets.get(id)?.location) })).filter((each) => each.point);
  const depots = new Set();
  if (plan.routes.length === 0) for (const agent of scenario.agents ?? []) depots.add(agent.start_location).add(agent.end_location);
  const routes = plan.routes.map((route, index) => {
    const stops = [];
    const name = agentName(scenario, route.agent_id);
    route.visits.forEach((visit, at) => {
      const where = pointOf(visit.location);
      if (visit.kind === "reload") depots.add(visit.location);
      if (visit.kind !== "ticket" || !where) return;
      stops.push({ visit, agent: route.agent_id, number: at + 1, point: where, label: `${isolated(name)} · ${at + 1} · ${called(visit.ticket_id)} · ${clock(visit.start_s)}` });
    });
    depots.add(route.start_location).add(route.end_location);
    const road = roads.get(route.agent_id)?.map(point);
    const straight = [route.start_location, ...route.visits.map((visit) => visit.location), route.end_location].map(pointOf).filter(Boolean);
    return { index, agent: route.agent_id, name, stops, road, line: road ?? straight, spurs: road ? stops.map((stop) => [stop.point, nearest(road, stop.point)]) : [], stands: standsOf(route, pointOf) };
  });
  return {
    size, project, routes,
    stops: routes.flatMap((route) => route.stops),
    roads: (ground?.roads ?? []).map((lines) => lines.map((numbers) => decoded(numbers, ground.origin).map(point))),
    depots: [...depots].filter(pointOf).map((id) => ({ point: pointOf(id), name: shortened(placeName(scenario, id)), label: `${t("depot")}: ${isolated(placeName(scenario, id))}` })),
    left: signs(plan.unassigned.map((entry) => entry.ticket_id), (id) => `${t("unassigned")}: ${called(id)}`),
    tickets: plan.routes.length === 0 ? signs([...tickets.keys()], called) : [],
  };
}

// `width` is that of the place, so that signs have a size that can be read. `frame.box` keeps what part is shown, for the
// caller that draws the next plan with the same frame. With `moment`, the agents stand where they are at its time.
export function routeMap(plan, scenario, { onSelect = () => {}, width = 960, frame = {}, ground, moment, canvas } = {}) {
  const places = placesOf(scenario);
  if (places.size === 0) return h("p", { class: "quiet" }, t("noPositions"));
  const model = modelOf(plan, scenario, places, ground, [width, width < NARROW ? Math.round(0.9 * width) : Math.min(Math.round((7 / 12) * width), MOST_HIGH)]);
  const layer = (canvas && model.stops.length > MOST_SHAPES ? canvas : svgLayer)(model, `${t("map")}. ${t("mapHelp")}`);
  const bar = h("div", { class: "scale", "aria-hidden": "true" });
  const hint = h("div", { class: "hint", role: "status" });
  const box = h(
    "div", { class: "mapbox" }, layer.node, hint, h("div", { class: "north", title: t("north"), "aria-hidden": "true" }, "▲"),
    ground?.attribution && h("div", { class: "credit" }, ground.attribution), legend(plan, model, layer),
  );
  box.append(moving(box, layer, model, { frame, bar, hint, onSelect }));
  if (moment) {
    moment.shows.map = (at) => layer.showAgents(at === null ? [] : labelled(model, model.routes.flatMap((route) => {
      const found = standAt(route.stands, route.road, at);
      return found ? [{ ...found, index: route.index, name: shortened(route.name) }] : [];
    })));
    moment.shows.map(moment.at);
  }
  return box;
}

// Agents with what they do; those at one place share a label, which keeps clear of that of a depot.
function labelled(model, found) {
  const [depots, places] = [new Set(model.depots.map((each) => String(each.point))), new Map()];
  for (const each of found) places.set(String(each.point), [...(places.get(String(each.point)) ?? []), each]);
  const label = (all) => [all.length > 1 ? `${all.length} × ${t("agent")}` : all[0].name, all.every((each) => each.does === all[0].does) && t(all[0].does)].filter(Boolean).join(" · ");
  return [...places].flatMap(([place, all]) => all.map((each, at) => ({ ...each, isLow: depots.has(place), name: at === all.length - 1 ? label(all) : "" })));
}

function gridOf(model, [x, y, width, height]) {
  if (model.roads.some((lines) => lines.length > 0)) return { across: [], down: [] };
  const step = roundStep((GRID * width) / model.size[0] / model.project.perMetre) * model.project.perMetre;
  const from = (low, extent) => Array.from({ length: Math.floor(extent / step) + 1 }, (_, at) => (Math.ceil(low / step) + at) * step);
  return { across: from(x, width), down: from(y, height) };
}

function showScale(bar, { perMetre, plane }, enlarged) {
  const extent = roundStep(SCALE / (perMetre * enlarged));
  bar.style.width = `${extent * perMetre * enlarged}px`;
  bar.textContent = plane ? Number(extent.toPrecision(1)) : extent >= 1000 ? `${extent / 1000} km` : `${figure(extent)} m`;
}

// Moves and enlarges the map by its view box: buttons, mouse, fingers, wheel and keyboard. Returns the buttons.
function moving(box, layer, model, { frame, bar, hint, onSelect }) {
  const [full, high] = model.size;
  const whole = [0, 0, full, high];
  let [x, y, width, height] = frame.box?.width === full ? frame.box : whole;
  const show = () => {
    frame.box = Object.assign([x, y, width, height], { width: full });
    layer.show(frame.box, gridOf(model, frame.box));
    showScale(bar, model.project, (full / width) * ((layer.node.clientWidth || full) / full));
  };
  const zoom = (factor, cx = 0.5, cy = 0.5) => {
    const next = Math.min(full * 2, Math.max(full / 200, width * factor));
    const ratio = next / width;
    x += width * cx * (1 - ratio);
    y += height * cy * (1 - ratio);
    [width, height] = [next, height * ratio];
    show();
  };
  const move = (dx, dy) => ((x += dx * width), (y += dy * height), show());
  const fit = () => (([x, y, width, height] = whole), show());
  const stopAt = (event) => {
    const [across, down] = placeIn(layer.node, event);
    const [px, py] = [x + across * width, y + down * height];
    let [found, nearest] = [null, (REACH * width) / layer.node.clientWidth];
    for (const sign of [...model.depots, ...model.left, ...model.tickets, ...model.stops]) {
      const distance = Math.hypot(sign.point[0] - px, sign.point[1] - py);
      if (distance <= nearest) [found, nearest] = [sign, distance];
    }
    return found;
  };
  let [reached, dragged] = [-1, 0];
  const reach = (step) => {
    if (model.stops.length === 0) return;
    reached = (reached + step + model.stops.length) % model.stops.length;
    const stop = model.stops[reached];
    hint.textContent = stop.label;
    [x, y] = [stop.point[0] - width / 2, stop.point[1] - height / 2];
    show();
  };
  const keys = { ArrowLeft: () => move(-0.1, 0), ArrowRight: () => move(0.1, 0), ArrowUp: () => move(0, -0.1), ArrowDown: () => move(0, 0.1),
    "+": () => zoom(1 / 1.3), "=": () => zoom(1 / 1.3), "-": () => zoom(1.3), 0: fit, n: () => reach(1), p: () => reach(-1),
    Enter: () => model.stops[reached] && onSelect(model.stops[reached].visit, model.stops[reached].agent, model.stops[reached].number) };
  const on = (name, act) => layer.node.addEventListener(name, act, { passive: false });
  on("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  on("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey && !box.contains(document.activeElement)) return; // the page scrolls
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, ...placeIn(layer.node, event));
  });
  const fingers = new Map();
  on("pointerdown", (event) => (fingers.set(event.pointerId, event), (dragged = 0)));
  for (const name of ["pointerup", "pointercancel", "pointerleave"]) on(name, (event) => fingers.delete(event.pointerId));
  on("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return (hint.textContent = stopAt(event)?.label ?? "");
    const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY];
    const other = [...fingers.values()].find((finger) => finger.pointerId !== event.pointerId);
    const apart = (finger) => Math.hypot(finger.clientX - other.clientX, finger.clientY - other.clientY);
    if (other) zoom(apart(before) / Math.max(1, apart(event)), ...placeIn(layer.node, event));
    else move(-dx / layer.node.clientWidth, -dy / layer.node.clientHeight);
    dragged += Math.hypot(dx, dy);
    fingers.set(event.pointerId, event);
  });
  on("click", (event) => {
    const found = dragged > DRAG ? null : stopAt(event);
    if (found?.visit) onSelect(found.visit, found.agent, found.number);
  });
  new ResizeObserver(show).observe(box);
  show();
  const button = (text, label, act) => h("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
  return h("div", { class: "zoom" }, button("+", t("zoomIn"), () => zoom(1 / 1.3)), button("−", t("zoomOut"), () => zoom(1.3)), button("⤢", t("fit"), fit), bar);
}

// Names of the routes, and what the signs mean; pointing at a route, or focusing it, dims the others.
function legend(plan, model, layer) {
  const routes = plan.routes.map((route, index) => {
    const served = route.visits.filter((visit) => visit.kind === "ticket").length;
    const [lit, dark] = [() => layer.light(route.agent_id), () => layer.light(null)];
    return h("li", { class: `r${index % HUES}` }, h("button", { type: "button", onmouseenter: lit, onmouseleave: dark, onfocus: lit, onblur: dark },
      h("span", { class: "swatch", "aria-hidden": "true" }), `${isolated(model.routes[index].name)} (${served})`));
  });
  const sign = (mark, name) => h("li", { class: "key" }, h("span", { "aria-hidden": "true", class: name }, mark), t(name));
  return h("ul", { class: "legend" }, routes, model.depots.length > 0 && sign("■", "depot"), model.left.length > 0 && sign("✕", "unassigned"));
}
