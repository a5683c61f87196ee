// The map on a canvas, for plans whose stops would be too many elements of a page. It is drawn once a frame at most.

import { h } from "./dom.js";
import { HUES } from "./format.js";

const MOST_IN_SIGHT = 300; // stops in sight that show their numbers

export function canvasLayer(model, label) {
  const [width, height] = model.size;
  const sharp = Math.min(2, devicePixelRatio || 1);
  const node = h("canvas", { class: "map", role: "img", tabindex: "0", "aria-label": label, width: width * sharp, height: height * sharp });
  const probe = h("span", { class: "probe" });
  const shown = { box: [0, 0, width, height], lines: { across: [], down: [] }, lit: null, agents: [] };
  let asked = null;
  const redraw = () => (asked ??= requestAnimationFrame(() => ((asked = null), drawOn(node, probe, model, shown, sharp))));
  new ResizeObserver(redraw).observe(node); // also the first drawing, once the page has it
  return {
    node: h("div", {}, node, probe),
    show: (box, lines) => (Object.assign(shown, { box, lines }), redraw()),
    light: (agent) => ((shown.lit = agent), redraw()),
    showAgents: (agents) => ((shown.agents = agents), redraw()),
  };
}

// The colours of the page, which may be light or dark.
function colourOf(probe, name) {
  probe.className = `probe ${name}`;
  return getComputedStyle(probe).color;
}

function drawOn(node, probe, model, { box: [x, y, width, height], lines, lit, agents }, sharp) {
  const pen = node.getContext("2d");
  const scale = model.size[0] / width;
  const to = ([px, py]) => [(px - x) * scale, (py - y) * scale];
  const trace = (line) => line.forEach((point, at) => (at ? pen.lineTo(...to(point)) : pen.moveTo(...to(point))));
  const stroke = (all, colour, thick) => (pen.beginPath(), all.forEach(trace), Object.assign(pen, { strokeStyle: colour, lineWidth: thick }), pen.stroke());
  const dot = (point, radius) => (pen.moveTo(...to(point)), pen.arc(...to(point), radius, 0, 7));
  pen.setTransform(sharp, 0, 0, sharp, 0, 0);
  pen.clearRect(0, 0, ...model.size);
  const [ink, paper, grid, bad] = ["ink", "paper", "way", "bad"].map((name) => colourOf(probe, name));
  pen.globalAlpha = 0.5;
  stroke([...lines.across.map((each) => [[each, y], [each, y + height]]), ...lines.down.map((each) => [[x, each], [x + width, each]])], grid, 1);
  pen.globalAlpha = 1;
  model.roads.forEach((roads, rank) => stroke(roads, grid, [3, 2.5, 2, 1.5, 1][rank]));
  const isInSight = ([px, py]) => px >= x && px <= x + width && py >= y && py <= y + height;
  const hasNumbers = model.stops.filter((stop) => isInSight(stop.point)).length <= MOST_IN_SIGHT;
  Object.assign(pen, { font: "700 9px system-ui, sans-serif", textAlign: "center", textBaseline: "middle" });
  for (const route of model.routes) {
    pen.globalAlpha = lit === null || lit === route.agent ? 1 : 0.12;
    const colour = colourOf(probe, `r${route.index % HUES}`);
    stroke([route.line, ...route.spurs], colour, 1.5);
    const stops = route.stops.filter((stop) => isInSight(stop.point));
    pen.beginPath();
    for (const stop of stops) dot(stop.point, hasNumbers ? 9 : 3);
    pen.fillStyle = colour;
    pen.fill();
    pen.fillStyle = paper;
    if (hasNumbers) for (const stop of stops) pen.fillText(stop.number, ...to(stop.point));
  }
  pen.globalAlpha = 1;
  pen.fillStyle = ink;
  for (const depot of model.depots) pen.fillRect(...to(depot.point).map((each) => each - 8), 16, 16);
  stroke(model.left.flatMap(({ point: [px, py] }) => [1, -1].map((turn) => [[px - 5 / scale, py - (5 * turn) / scale], [px + 5 / scale, py + (5 * turn) / scale]])), bad, 2.5);
  for (const { point } of agents) (pen.beginPath(), dot(point, 6), (pen.fillStyle = paper), pen.fill(), Object.assign(pen, { strokeStyle: ink, lineWidth: 3 }), pen.stroke());
}
