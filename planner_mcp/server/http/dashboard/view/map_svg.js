// The map as SVG. Signs keep their size when the map is enlarged, so that what lies close comes apart.

import { s } from "./dom.js";
import { HUES } from "./format.js";

const MOST_NUMBERS = 1500; // with more stops the numbers are left out, for speed and because they would cover the map
const ARROW_EVERY = 34;
const ARROW_EVERY_ROAD = 90;
const LEAST_ARROW = 4;
const BELOW = 20; // points down to a name that stands below that of a depot
const LETTER = 9; // points of a name, about: Chinese is wider, Latin narrower

const pathOf = (line) => `M${line.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join("L")}`;
const at = ([x, y]) => `translate(${x.toFixed(1)} ${y.toFixed(1)})`;

// The name of a sign: on its left where there is no room on its right, and more of it.
function nameOf({ size }, [x], gap, name, low = 4) {
  const isTight = x > size[0] / 2 && x + gap + LETTER * name.length > size[0];
  return s("text", { class: "sign", x: isTight ? -gap : gap, y: low, "text-anchor": isTight ? "end" : "start" }, name);
}

export function svgLayer(model, label) {
  const hasNumbers = model.stops.length <= MOST_NUMBERS;
  const grid = s("path", { class: "grid" });
  const agents = s("g", {});
  const node = s(
    "svg", { class: "map", role: "img", tabindex: "0", "aria-label": label },
    grid, model.roads.map((lines, rank) => s("path", { class: `road k${rank}`, d: lines.map(pathOf).join("") })),
    model.routes.map((route) => routeShapes(route, hasNumbers)),
    model.tickets.map((ticket) => s("g", { transform: at(ticket.point) }, s("circle", { class: "spot sign", r: 4 }))),
    model.depots.map((depot) => s("g", { class: "depot", transform: at(depot.point) }, s("rect", { class: "sign", x: -8, y: -8, width: 16, height: 16 }), nameOf(model, depot.point, 13, depot.name))),
    model.left.map((ticket) => s("g", { class: "left", transform: at(ticket.point) }, s("path", { class: "cross sign", d: "M-6,-6l12,12m0,-12l-12,12" }))),
    agents,
  );
  return {
    node,
    show: (box, lines) => {
      node.setAttribute("viewBox", box.join(" "));
      node.style.setProperty("--k", box[2] / model.size[0]);
      const [x, y, width, height] = box;
      grid.setAttribute("d", [...lines.across.map((each) => `M${each},${y}v${height}`), ...lines.down.map((each) => `M${x},${each}h${width}`)].join(""));
    },
    light: (agent) => {
      for (const route of node.querySelectorAll(".route")) route.classList.toggle("dim", agent !== null && route.dataset.agent !== agent);
    },
    showAgents: (found) => agents.replaceChildren(...found.map((each) => s(
      "g", { class: `agent r${each.index % HUES}`, transform: at(each.point) },
      s("circle", { class: "sign", r: 11 }), s("circle", { class: "sign core", r: 5 }), each.name && nameOf(model, each.point, 15, each.name, each.isLow ? BELOW : undefined),
    ))),
  };
}

function routeShapes(route, hasNumbers) {
  const stops = route.stops.map((stop) => s(
    "g", { class: "stop", transform: at(stop.point), "data-ticket": stop.visit.ticket_id },
    s("circle", { class: "sign", r: hasNumbers ? 9 : 4 }), hasNumbers && s("text", { class: "sign", "text-anchor": "middle", y: 3.5 }, stop.number),
  ));
  return s(
    "g", { class: `route r${route.index % HUES}`, "data-agent": route.agent },
    route.line.length > 1 && s("path", { class: "track", d: pathOf(route.line) }), route.spurs.length > 0 && s("path", { class: "spur", d: route.spurs.map(pathOf).join("") }),
    arrows(route.line, route.road ? ARROW_EVERY_ROAD : ARROW_EVERY), stops,
  );
}

// Arrow heads along a line, each in the middle of a piece that is long enough to show one.
function arrows(line, every) {
  const found = [];
  let since = 0;
  for (let each = 1; each < line.length; each += 1) {
    const [[px, py], [qx, qy]] = [line[each - 1], line[each]];
    const length = Math.hypot(qx - px, qy - py);
    since += length;
    if (since < every || length < LEAST_ARROW) continue;
    since = 0;
    const angle = (Math.atan2(qy - py, qx - px) * 180) / Math.PI;
    found.push(s("g", { transform: `translate(${((px + qx) / 2).toFixed(1)} ${((py + qy) / 2).toFixed(1)}) rotate(${angle.toFixed(0)})` }, s("path", { class: "arrow sign", d: "M-5,-4L5,0L-5,4z" })));
  }
  return found;
}
