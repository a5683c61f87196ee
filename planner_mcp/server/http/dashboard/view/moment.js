// A time of the day that several drawings show at once, and where the agents are at it.

import { h } from "./dom.js";
import { clock } from "./format.js";
import { t } from "./words.js";

const STEP_S = 60;
const WHOLE_DAY_MS = 20_000; // that playing the day takes
const CALM_EVERY_MS = 1000; // between two steps for people who want little motion

// `at` is null until the user has chosen a time. Each drawing puts what it does then under its own name into `shows`.
export const newMoment = () => ({ at: null, shows: {} });

export function setMoment(moment, at) {
  moment.at = at;
  for (const show of Object.values(moment.shows)) show(at);
}

export const spanOf = ({ routes }) => [routes.reduce((least, route) => Math.min(least, route.start_s), Infinity), routes.reduce((most, route) => Math.max(most, route.end_s), -Infinity)];

// The control of the time: a slider, which arrow keys move, and a button that plays the day.
export function timeSlider(plan, moment) {
  if (!plan.routes[0]) return null; // no time of a day that nobody drives
  const [starts, ends] = spanOf(plan);
  const [first, last] = [STEP_S * Math.floor(starts / STEP_S), STEP_S * Math.ceil(ends / STEP_S)];
  const slider = h("input", { type: "range", min: first, max: last, step: STEP_S, value: moment.at ?? first, "aria-label": t("timeOfDay"), oninput: () => setMoment(moment, Number(slider.value)) });
  const shown = h("output", {});
  let playing = null;
  const stop = () => (clearTimeout(playing), (playing = null), (button.textContent = "▶"), button.setAttribute("aria-label", t("play")));
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const step = (before) => {
    const now = performance.now();
    const at = Number(slider.value) + Math.max(STEP_S, ((last - first) * (now - before)) / WHOLE_DAY_MS);
    setMoment(moment, Math.min(at, last));
    if (at >= last || !slider.isConnected) return stop();
    playing = setTimeout(() => step(now), calm.matches ? CALM_EVERY_MS : 100);
  };
  const play = () => {
    if (playing !== null) return stop();
    if (Number(slider.value) + STEP_S >= last) setMoment(moment, first);
    button.textContent = "❚❚";
    button.setAttribute("aria-label", t("pause"));
    step(performance.now());
  };
  const button = h("button", { type: "button", onclick: play });
  stop();
  moment.shows.slider = (at) => {
    slider.value = at ?? first;
    shown.textContent = clock(Number(slider.value));
    slider.setAttribute("aria-valuetext", shown.textContent);
  };
  moment.shows.slider(moment.at);
  return h("div", { class: "time" }, button, slider, shown);
}

// What a route does when: the places it stands at, with the share of its length up to each.
export function standsOf(route, pointOf) {
  const stands = [];
  let [along, point] = [0, pointOf(route.start_location)];
  const stand = (arrive, begin, leave, does) => point && stands.push({ point, arrive, begin, leave, does, along });
  stand(-Infinity, route.start_s, route.start_s, "before");
  for (const visit of route.visits) {
    along += visit.distance_m ?? 0;
    point = pointOf(visit.location) ?? point;
    stand(visit.arrival_s, visit.start_s, visit.departure_s, visit.kind === "ticket" ? "service" : visit.kind);
  }
  along = Math.max(along, route.distance_m ?? 0);
  point = pointOf(route.end_location) ?? point;
  stand(route.end_s, route.end_s, Infinity, "after");
  return stands.map((each) => ({ ...each, along: along > 0 ? each.along / along : 0 }));
}

// Where a route is at a time, and what it does there: `line` is its way along the roads, where that is known.
export function standAt(stands, line, at) {
  const index = stands.findLastIndex((stand) => stand.arrive <= at);
  const [here, next] = [stands[index], stands[index + 1]];
  if (!here || here.leave >= at || !next) return here && { point: here.point, does: at < here.begin && here.arrive > -Infinity ? "waits" : here.does };
  const share = (at - here.leave) / Math.max(1, next.arrive - here.leave);
  const point = line ? pointAlong(line, here.along + share * (next.along - here.along)) : [0, 1].map((axis) => here.point[axis] + share * (next.point[axis] - here.point[axis]));
  return { point, does: "drives" };
}

function pointAlong(line, share) {
  const lengths = line.slice(1).map(([x, y], at) => Math.hypot(x - line[at][0], y - line[at][1]));
  let left = share * lengths.reduce((sum, each) => sum + each, 0);
  for (const [at, length] of lengths.entries()) {
    if (left <= length && length > 0) return [0, 1].map((axis) => line[at][axis] + (left / length) * (line[at + 1][axis] - line[at][axis]));
    left -= length;
  }
  return line.at(-1);
}
