// The best cost over time, with the lower bound and the gap to it. A plan that leaves tickets out has no gap: the bound is one
// of plans that serve them all, which may cost more.

import { h, s } from "./dom.js";
import { figure } from "./format.js";
import { t } from "./words.js";

const HEIGHT = 190;
const LEFT = 74;
const LINE = 15; // between two figures beside the curve
const FAR = 3; // heights of the curve below it where a bound is too far away to be drawn to scale

// The points from the first plan that serves the most tickets on: earlier ones pay penalties that would flatten the rest.
export function shownPoints(points) {
  const most = points.reduce((found, point) => Math.max(found, point.served ?? 0), 0);
  return points.filter((point) => (point.served ?? 0) === most);
}

// `found` is what `read_progress` says of the bound, `elapsed` for how many seconds there has been a search.
export function costCurve(points, found, width = 960, elapsed = 0) {
  const shown = shownPoints(points);
  if (shown.length === 0) return h("p", { class: "quiet" }, t("notYet"));
  const bound = found?.gap != null && found.gap < 1 ? found.lower_bound : null;
  const end = Math.max(points.at(-1).at, elapsed, 1);
  const costs = shown.map((point) => point.cost);
  const [low, high] = [costs.at(-1), costs.reduce((a, b) => Math.max(a, b))];
  const isFar = bound && low - bound > FAR * (high - low);
  const least = bound && !isFar ? Math.min(low, bound) : low;
  const foot = HEIGHT - 44 - (isFar ? 46 : 0);
  const x = (at) => LEFT + (at / end) * (width - LEFT - 20);
  const y = (cost) => 14 + (1 - (cost - least) / (high - least || 1)) * (foot - 14);
  const path = shown.slice(1).reduce((drawn, point) => `${drawn}H${x(point.at).toFixed(1)}V${y(point.cost).toFixed(1)}`, `M${x(shown[0].at).toFixed(1)},${y(shown[0].cost).toFixed(1)}`);
  const gap = bound ? ` · ${t("bound")} −${(100 * found.gap).toFixed(1)} %` : ""; // of what is shown rounded it could be another
  const yBound = isFar ? HEIGHT - 44 : bound ? y(bound) : 0;
  const note = (at, text, anchor = "end") => s("text", { x: anchor === "end" ? LEFT - 8 : LEFT + 8, y: at, "text-anchor": anchor }, text);
  return s(
    "svg", { viewBox: `0 0 ${width} ${HEIGHT}`, class: "curve", role: "img", "aria-label": `${t("curve")}: ${figure(shown[0].cost)} → ${figure(low)}${gap}` },
    s("line", { class: "axis", x1: LEFT, x2: width - 20, y1: HEIGHT - 28, y2: HEIGHT - 28 }),
    (high === low ? [low] : [high, low]).map((cost) => note(y(cost) + 4, figure(cost))),
    [[0, "start"], [end, "end"]].map(([at, anchor]) => s("text", { x: x(at), y: HEIGHT - 10, "text-anchor": anchor }, t("seconds", { n: figure(at) }))),
    bound && [
      s("line", { class: "bound", x1: LEFT, x2: width - 20, y1: yBound, y2: yBound }), note(Math.max(yBound + 4, y(low) + LINE), figure(bound)), note(yBound - 6, gap.slice(3), "start"),
      isFar && s("path", { class: "axis torn", d: `M${LEFT},${foot + 12}l8,5l-16,8l8,5` }),
    ],
    s("path", { class: "cost", d: `${path}H${x(end)}` }),
    shown.length < points.length && s("title", {}, t("unservedAxis")),
  );
}
