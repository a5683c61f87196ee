// What the pages share: the place they draw in, links, buttons, errors, and how often things are redrawn.

import { readBlob, readJson } from "./api.js";
import { PageEvents } from "./events.js";
import { confirmed } from "./view/confirmation.js";
import { h } from "./view/dom.js";
import { agentName, pointerParts, windowText } from "./view/format.js";
import { placesOf } from "./view/positions.js";
import { t, wordOf } from "./view/words.js";

export const PAGE_SIZE = 20;
export const ENDED = ["COMPLETED", "FAILED", "CANCELLED"];
export const content = document.getElementById("content");
const banner = document.getElementById("banner");
export const events = new PageEvents((state) => onState(state));
let onState = () => {};
export const watchEvents = (act) => (onState = act); // act receives "live", "lost" or an ApiError

export const planOf = (jobId) => jobId.replace(/^job-/, "plan-");
export const jobOf = (planId) => planId.replace(/^plan-/, "job-");
export const link = (path, text) => h("a", { href: `#/${path}` }, text);
// Leads to a page; what the answer of a re-solve says is shown there and on no other.
let pending = { hash: "", lines: [] };
export function go(path, { changes = [], unservable = [], notes = [], warnings = [] } = {}) {
  pending = { hash: `#/${path}`, lines: [...changes, ...unservable.map(nobodyServes), ...notes, ...warnings] };
  location.hash = pending.hash;
}
export const takeMessages = () => (pending.hash === location.hash ? pending.lines.splice(0).map((line) => h("li", {}, linked(placed(line)))) : []);

// A text of ours in which ids of plans, jobs and scenarios lead to their pages.
const linked = (text) => text.split(/\b((?:plan|job|scn)-\d+-[a-z\d]{26})\b/).map((part, at) => (at % 2 === 0 ? part : link(part.startsWith("scn") ? `scenarios/${part}` : `jobs/${jobOf(part)}`, part)));

// A sentence of the server in words of the page: without its names of fields, changes and units, or as a whole (`said_`).
const NAMES = /(?<=\d) (?:of|的) (\w+)|(?<=[(（])(\w+)(?=[)）])|\b(?:[a-z]+(?:_[a-z\d]+)+|lat|lon)\b/g;
const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
export const inWords = (text) => text && wordOf("said", text).replace(NAMES, (all, amount, inner) => {
  const name = amount ?? inner ?? all;
  if (t(`unit_${name}`) !== `unit_${name}`) return `${amount ? " " : ""}${wordOf("unit", name)}`.trimEnd();
  const words = [choiceWord(name), wordOf("change", camel(name))].find((each) => ![name, camel(name)].includes(each));
  return !words || inner ? all : name.includes("_") ? `“${words}”` : words;
}).replace(/ ?(?:\(\)|（）)/g, ""); // around the only amount, which has no name

// A warning with the ticket or agent it is about, and its field, in words in place of a JSON pointer, which ends at the first colon
// before a blank: an id may have blanks, such as that of a place called by its address.
export function placed(line) {
  const [, path, sentence] = /^(?:(\/.+?|agents|tickets|locations|groups): )?(.*)$/s.exec(line);
  if (!path) return inWords(sentence);
  const parts = path.startsWith("/") ? pointerParts(path) : [path];
  const [list, id, field] = parts;
  const isEntry = id && ["agents", "tickets", "locations"].includes(list);
  const words = isEntry ? [id, field && choiceWord(field)] : [choiceWord(parts.findLast((part) => !/^\d+$/.test(part)))];
  return `${words.filter(Boolean).join(", ")}: ${inWords(sentence)}`;
}

export function showBanner(text) {
  banner.hidden = !text;
  banner.textContent = text ?? "";
}

// A fault in one sentence. One of many rows names the first of them, each with the value that was read there.
function faultWords({ which = [], count = 1, problem, accepted, hint }) {
  const seen = which.length > 0 && `${which.join(", ")}${count > which.length ? ", …" : ""}:`;
  return [seen, inWords(problem), inWords(accepted) && `(${t("accepted")}: ${inWords(accepted)})`, inWords(hint)].filter(Boolean).join(" ");
}

// Tickets that nobody can serve, with why and what to change. Of the values that were seen, windows are written as elsewhere on the
// page, and a location is left out: of a file it is the ticket's own.
const WINDOW = /\[?\[(\d[^,\]]*),([^\]]+)\]\]?/g;
const seenWords = (entry) => entry.replace(/ \((?:location .*?(?:, time_windows )?)?(\[\[.*)?\)$/, (_, windows) => (windows ? ` (${[...windows.matchAll(WINDOW)].map(([, ...window]) => windowText(window)).join(", ")})` : ""));
export const nobodyServes = ({ which, tickets, why, accepted, fix }) => faultWords({ which: which.map(seenWords), count: tickets, problem: why, accepted, hint: fix });

export function problem(error) {
  const places = (error.errors ?? []).map((each) => h("li", {}, each.path && [h("code", {}, each.path), " "], faultWords(each)));
  return h("div", { class: "problem", role: "alert" }, h("strong", {}, `${[t("error"), error.code ?? error.status].filter(Boolean).join(" ")} `), places.length > 0 ? "" : error.message, places.length > 0 && h("ul", {}, places));
}

// A button that runs an action once at a time and shows what went wrong beside it. With `ask`, the words of a question and
// of its yes, it asks first. The main one of a form is pressed by Enter too.
export function action(text, act, { main = false, into, ask } = {}) {
  const button = h("button", { type: main ? "submit" : "button", class: main ? "main" : undefined }, text);
  button.addEventListener("click", async (event) => {
    event.preventDefault();
    if (ask && !(await confirmed(...ask.map((name) => t(name))))) return;
    button.disabled = true;
    into?.replaceChildren();
    try {
      await act();
    } catch (error) {
      (into ?? content).append(problem(error));
    } finally {
      button.disabled = false;
    }
  });
  return button;
}

// The words of a choice that is a field of a table, or one of where a shipment is fetched; others stand as they are.
export const choiceWord = (choice) => {
  const [isKnown, field] = [(name) => t(`field_${name}`) !== `field_${name}`, /^pickup_(\w+)$/.exec(choice)?.[1]];
  return !isKnown(choice) && isKnown(field) ? t("whereFetched", { field: wordOf("field", field) }) : wordOf("field", choice);
};

// Thrown where a person does not go on with a question.
export const WITHDRAWN = new Error("withdrawn");

// Shows a question as a form in a place; resolves to the answer, without the fields that were left empty.
export const askingIn = (place) => (message, schema) => new Promise((resolve, reject) => {
  const field = ([name, { title, description, enum: choices, type, default: usual, minimum, maximum }]) => {
    const input = choices
      ? h("select", { name }, h("option", { value: "" }, "–"), choices.map((each) => h("option", { value: each, selected: each === usual }, choiceWord(each))))
      : h("input", { name, type: type === "number" ? "number" : "text", min: minimum, max: maximum, step: type === "number" ? "any" : undefined, value: usual });
    return h("label", {}, [title, description].filter(Boolean).join(": "), input);
  };
  const submit = (event) => {
    event.preventDefault();
    const given = [...new FormData(event.target)].filter(([, value]) => value !== "");
    form.remove();
    resolve(Object.fromEntries(given.map(([name, value]) => [name, schema.properties[name].type === "number" ? Number(value) : value])));
  };
  const form = h("form", { onsubmit: submit, class: "question", "aria-label": t("questions") }, h("p", {}, message), Object.entries(schema.properties).map(field), h("div", { class: "actions" }, h("button", { class: "main" }, t("goOn")), h("button", { type: "button", onclick: () => (form.remove(), reject(WITHDRAWN)) }, t("cancel"))));
  place.replaceChildren(form);
  form.querySelector("select, input")?.focus();
});

export function rawJson(uri) {
  const box = h("pre", { tabindex: "0" });
  const load = async (event) => event.target.open && !box.textContent && (box.textContent = JSON.stringify(await readJson(uri), null, 2));
  return h("details", { ontoggle: load }, h("summary", {}, t("raw")), box);
}

// Roads under the map of a plan; null where no road extract is loaded.
export const readGround = (planId) => readJson(`plan://${planId}/roads.json`).catch(() => null);

// The width of a drawing in a place that is as wide as another, in steps, so that its signs have a size that can be read.
export const widthOf = (place) => {
  const columns = getComputedStyle(place).gridTemplateColumns.split(" ").length;
  return Math.max(320, 20 * Math.floor((place.clientWidth || content.clientWidth) / columns / 20));
};

export function downloads(planId, routes, scenario) {
  const isOnGlobe = [...placesOf(scenario).values()].some((place) => !place.plane); // forms of maps have positions of the globe alone
  const names = { "report.html": t("report"), "sheets.html": t("sheets"), "map.svg": `${t("map")} (SVG)`, "map.png": `${t("map")} (PNG)`, "stops.xlsx": `${t("stops")} (Excel)`, ...(isOnGlobe && { "routes.geojson": "routes.geojson", "routes.gpx": "routes.gpx" }) };
  const messages = h("div");
  const save = async (name) => {
    const url = URL.createObjectURL(await readBlob(`plan://${planId}/${name}`));
    h("a", { href: url, download: `${planId}-${name.replace("/", "-")}` }).click();
    URL.revokeObjectURL(url);
  };
  const calendar = h("select", { "aria-label": t("calendar") }, routes.map((route, at) => h("option", { value: at + 1 }, agentName(scenario, route.agent_id))));
  const saveCalendar = action(`${t("calendar")} (.ics)`, () => save(`routes/${calendar.value}.ics`), { into: messages });
  return h("div", { class: "downloads" }, h("h2", {}, t("download")), h("div", { class: "actions" }, Object.entries(names).map(([name, text]) => action(text, () => save(name), { into: messages })), routes.length > 0 && [calendar, saveCalendar]), messages);
}

// Runs a function at most once in a time; what is asked for meanwhile runs at its end.
export function throttled(act, everyMs, signal) {
  let timer = null;
  let asked = false;
  const run = () => {
    act();
    timer = setTimeout(() => {
      timer = null;
      if (asked && !signal.aborted) (asked = false), run();
    }, everyMs);
  };
  return () => (timer === null ? run() : (asked = true));
}
