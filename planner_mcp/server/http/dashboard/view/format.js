// Numbers, times and distances as text. Times are seconds after midnight of the planning date.

import { currentLanguage, t } from "./words.js";

export const HUES = 12; // colours of routes; the number of a route is shown too, so colour is never the only sign
export const MASK = "***"; // stands for a text that the reader may not see

const DAY_MS = 86_400_000;

export const clock = (seconds) => {
  const minutes = Math.round(seconds / 60);
  const day = Math.floor(minutes / 1440);
  const text = `${String(Math.floor(minutes / 60) % 24).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
  return day > 0 ? `${text} +${day}` : text;
};
// The date so many days after the planning date; without one the number of the day.
export const dateOf = (date, day) => (date
  ? new Date(Date.parse(`${date}T00:00Z`) + Math.floor(day) * DAY_MS).toLocaleDateString(currentLanguage(), { month: "short", day: "numeric", weekday: "short", timeZone: "UTC" })
  : `+${Math.floor(day)}`);
// A time of a scenario ("HH:MM", "HH:MM:SS", a date with time behind a T or a blank, or seconds) in seconds after midnight of its date.
export function secondsOf(at, date) {
  if (typeof at === "number") return at;
  if (/[T ]/.test(at)) return (Date.parse(`${at.replace(" ", "T").replace(/(Z|[+-]\d\d:?\d\d)$/, "")}Z`) - Date.parse(`${date}T00:00Z`)) / 1000;
  return at.split(":").reduce((sum, part, index) => sum + Number(part) * [3600, 60, 1][index], 0);
}
// A time window as text, its times as they are `written`; one with a single side says which.
export function windowText(window, date, written = String) {
  const [opens, closes] = window.map((at) => secondsOf(at, date));
  const [first, last] = window.map((at) => written(at));
  if (closes === OPEN_END_S) return t("fromTime", { at: first });
  return opens === 0 ? t("untilTime", { at: last }) : `${first}–${last}`;
}
export const OPEN_END_S = 172_740; // 47:59, the end of a window that has none (`window_text.py`)
// A caller's text between signs that keep its direction to itself: a name from right to left leaves its neighbours in order.
// The parts of a JSON pointer, with the list or object first.
export const pointerParts = (pointer) => pointer.split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));

export const isolated = (text) => `\u2068${text}\u2069`;
export const figure = (value) => value?.toLocaleString(undefined, { maximumFractionDigits: Math.abs(value) < 100 ? 2 : 0 }) ?? "–";
// What is shown with its name: without an id it is called after its row.
export const named = ({ id, name }) => (!name || [id, MASK].includes(name) ? id : `${id} · ${name}`);
export const agentName = ({ agents = [] }, id) => named(agents.find((each) => each.id === id) ?? { id });
export function placeName({ locations = [] }, id) {
  const name = locations.find((each) => each.id === id)?.name;
  return name === MASK ? id : name ?? id;
}
// What a cost is in: the currency that its scenario names, or nothing but the way where no agent has a price.
const PRICES = ["cost_per_km", "cost_per_hour"];
export const unitOf = ({ options, agents } = {}) => options?.currency
  ?? (agents?.length && !agents.some((agent) => PRICES.some((name) => name in agent)) ? t("perMetre") : "");
export const money = (value, scenario) => [figure(value), (value ?? null) !== null && unitOf(scenario)].filter(Boolean).join(" ");
// How many tickets of all a plan serves.
export const servedText = ({ tickets_served: served, tickets_total: total }) => (served === undefined ? "–" : t("of", { a: served, b: total }));
// A moment as the reader's own clock and habits write it.
export const localTime = (moment) => new Date(moment).toLocaleString(undefined, { dateStyle: "short", timeStyle: "medium" });
const isPlane = (plan) => ["plane", "unit legs"].includes(plan.travel?.source);
export const distance = (plan, metres) => (isPlane(plan) ? figure(metres) : `${figure(metres / 1000)} km`);
export const duration = (seconds) => {
  const minutes = Math.round(seconds / 60);
  return t("hours", { h: Math.floor(minutes / 60), m: String(minutes % 60).padStart(2, "0") });
};
