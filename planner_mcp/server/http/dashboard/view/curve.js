// The best cost over time, with the lower bound.

import { h, s } from "./dom.js";
import { figure } from "./format.js";
import { t } from "./words.js";

// The points from the first plan that serves the most tickets on: earlier ones pay penalties that would flatten the rest.
export function shownPoints(points) {
  const most = Math.max(...points.map((point) => point.served ?? 0));
  return points.filter((point) => (point.served ?? 0) === most);
}

export function costCurve(points, bound, width = 960) {
  const shown = shownPoints(points);
  if (shown.length === 0) return h("p", { class: "quiet" }, t("notYet"));
  const height = 180;
  const end = Math.max(...points.map((point) => point.at), 1);
  const costs = [...shown.map((point) => point.cost), ...(bound ? [bound] : [])];
  const low = Math.min(...costs);
  const high = Math.max(...costs);
  const x = (at) => 60 + (at / end) * (width - 80);
  const y = (cost) => 14 + (1 - (cost - low) / (high - low || 1)) * (height - 44);
  let path = `M${x(shown[0].at)},${y(shown[0].cost)}`;
  for (const point of shown.slice(1)) path += `H${x(point.at)}V${y(point.cost)}`;
  path += `H${x(end)}`;
  const label = `${t("curve")}: ${figure(shown[0].cost)} → ${figure(shown.at(-1).cost)}`;
  return s(
    "svg", { viewBox: `0 0 ${width} ${height}`, class: "curve", role: "img", "aria-label": label },
    s("line", { class: "axis", x1: 60, x2: width - 20, y1: height - 28, y2: height - 28 }),
    [high, low].map((cost) => s("text", { x: 54, y: y(cost) + 4, "text-anchor": "end" }, figure(cost))),
    [0, end].map((at) => s("text", { x: x(at), y: height - 10, "text-anchor": "middle" }, t("seconds", { n: figure(at) }))),
    bound && s("line", { class: "bound", x1: 60, x2: width - 20, y1: y(bound), y2: y(bound) }),
    s("path", { class: "cost", d: path }),
    shown.length < points.length && s("title", {}, t("unservedAxis")),
  );
}
