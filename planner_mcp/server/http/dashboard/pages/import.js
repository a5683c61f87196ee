// A file becomes a scenario.

import { callTool, readJson, request } from "../api.js";
import { WITHDRAWN, action, askingIn, choiceWord, content, link, nobodyServes, placed, problem } from "../page.js";
import { h } from "../view/dom.js";
import { figure, pointerParts, secondsOf } from "../view/format.js";
import { currentLanguage, t } from "../view/words.js";

const HALF_DAY_S = 43_200;

let fields = null; // what a column may be taken for, by table, as the reader of files knows it
let kept = null; // the page as it was left, for a return to it in the same session

export function importView(session) {
  if (kept?.at === history.state?.importedAt && kept?.session === session && kept.language === currentLanguage()) return content.replaceChildren(...kept.nodes);
  const messages = h("div", { role: "status" });
  const file = h("input", { type: "file", required: true });
  const date = h("input", { type: "date", required: true, value: new Date().toLocaleDateString("sv"), onchange: () => (isDateChosen = true) }); // today where the page is, as YYYY-MM-DD
  let isDateChosen = false; // else the one day of all rows goes before today
  const fleet = h("input", { type: "number", min: 1, max: 1000, placeholder: "–" }); // for files without vehicles
  const capacity = h("input", { type: "number", min: 0, step: "any", placeholder: "–" });
  const begin = h("input", { type: "time", value: "08:00" });
  const end = h("input", { type: "time", value: "18:00" });
  const stay = h("input", { type: "number", min: 0, max: 1440, step: "any", placeholder: "–" }); // for files that say nothing of it
  const depot = h("input", { size: 24, placeholder: t("depotHint") });
  const each = () => ({ ...(capacity.value && { capacity: Number(capacity.value) }), ...(begin.value && { shift_start: begin.value }), ...(end.value && { shift_end: lastHour(begin.value, end.value) }) });
  const agents = () => Array.from({ length: Number(fleet.value) }, (_, at) => ({ id: `veh-${at + 1}`, ...each() }));
  const importAs = async (columns) => {
    const chosen = file.files[0];
    if (!chosen) return file.focus();
    capacity.required = Number(fleet.value) > 0; // vehicles that are named here say what they carry
    if (![date, fleet, capacity, begin, end, stay].every((input) => input.reportValidity())) return;
    fields ??= await (await request("/ui/assets/column_fields.json")).json();
    const upload = await uploaded(chosen);
    const ask = async (message, schema) => {
      if (schema.properties.planning_date) return { planning_date: date.value }; // no one day of all rows goes before today
      const answer = await askingIn(messages)(message, schema);
      await uploaded(chosen); // again: somebody took time, in which the file of another import took its place or it expired
      return answer;
    };
    const importFor = (day) => callTool("import_scenario", { file: upload, planning_date: day, name: chosen.name, agents: agents(), columns, ...(depot.value.trim() ? { depot: depot.value.trim() } : {}) }, ask);
    const ofToday = (error) => (!isDateChosen && error.errors?.some((fault) => fault.path === "/planning_date") ? importFor(date.value) : Promise.reject(error)); // beside other faults no date is asked for
    const found = await importFor(isDateChosen ? date.value : undefined).catch(ofToday).catch((error) => inWordsOfPage(error, chosen.name));
    const assumptions = stay.value > 0 ? await withStay(found, 60 * Number(stay.value)) : found.assumptions;
    messages.replaceChildren(
      h("p", {}, t("imported", { agents: found.agents, tickets: found.tickets }), " ", link(`scenarios/${found.scenario_id}`, t("open"))),
      ...[["unservable", found.unservable?.map(nobodyServes)], ["assumptions", assumptions?.map(placed)], ["warnings", found.warnings?.map(placed)]].filter(([, lines]) => lines?.length)
        .map(([name, lines]) => h("div", {}, h("h2", {}, t(name)), h("ul", {}, lines.map((line) => h("li", {}, line))))),
      ...Object.entries(found.columns ?? {}).map(([name, columns]) => h("div", {}, h("h2", {}, `${t("columns")}: ${t(name)}`),
        h("p", {}, `${t("used")}: ${columns.taken.map(takenWords).join(", ") || "–"}`), h("p", {}, `${t("notUsed")}: ${columns.left_out.join(", ") || "–"}`))),
      ...correction(found.columns ?? {}, columns),
    );
  };
  // Another meaning for a column: the file is imported again with it.
  const correction = (tables, chosen) => {
    const headers = Object.entries(tables).flatMap(([name, table]) => [...table.taken.map(headerOf), ...table.left_out.map((each) => each.split(": ")[0])].map((each) => [each, name]));
    if (headers.length === 0) return [];
    const field = h("select", {});
    const offer = (at) => {
      const words = fields[headers[at][1]].map((each) => [choiceWord(each), each]).sort(([one], [other]) => one.localeCompare(other, currentLanguage()));
      field.replaceChildren(...[...words, [choiceWord("leave it out"), ""]].map(([word, value]) => h("option", { value }, word)));
    };
    const header = h("select", { onchange: () => offer(header.selectedIndex) }, headers.map(([each]) => h("option", {}, each)));
    offer(0);
    const again = action(t("importAgain"), () => attempt({ ...chosen, [header.value]: field.value }), { main: true, into: messages });
    return [h("h2", {}, t("correct")), h("form", {}, h("label", {}, t("column"), header), h("label", {}, t("means"), field), again)];
  };
  // Imports; of columns with cells that cannot be read, offers to go without one.
  const attempt = (columns) => importAs(columns).catch((error) => {
    if (error === WITHDRAWN) return;
    const headers = /\.json$/i.test(file.files[0]?.name) ? [] : unread(error); // a problem of VROOM has no columns that can be left out
    const without = headers.map((header) => action(t("leaveOut", { header }), () => attempt({ ...columns, [header]: "" }), { into: messages }));
    messages.append(problem(error), ...(without.length ? [h("p", { class: "actions" }, without)] : []));
  });
  const run = action(t("doImport"), () => attempt({}), { main: true, into: messages });
  content.replaceChildren(h("h1", {}, t("import")), h("p", { class: "quiet" }, t("chooseFile")),
    h("form", {}, h("label", {}, t("file"), file), h("label", {}, t("date"), date), h("label", {}, t("fleet"), fleet), h("label", {}, t("capacityEach"), capacity), h("label", {}, t("shiftBegin"), begin), h("label", {}, t("shiftEnd"), end), h("label", {}, t("stayEach"), stay), h("label", {}, t("depotAt"), depot), run), messages);
  kept = { at: performance.now(), session, language: currentLanguage(), nodes: [...content.childNodes] };
  history.replaceState({ importedAt: kept.at }, "");
}

// The end of a shift in hours of the day it begins on: 22:00 to 06:00 ends at 30:00. One that begins before noon, or would last
// for more than half a day, is rather a mistake, which the server reports.
export function lastHour(begin, end) {
  const [from, to] = [begin, end].map((at) => secondsOf(at));
  return begin && from >= HALF_DAY_S && to + HALF_DAY_S <= from ? end.replace(/^\d+/, (hour) => Number(hour) + 24) : end;
}

// Gives a time to the tickets for which the file has none; returns what is then assumed, and changes where the day is found.
async function withStay(found, seconds) {
  const { scenario } = await readJson(`scenario://${found.scenario_id}`);
  const without = scenario.tickets.filter((ticket) => (ticket.service_time_s ?? null) === null);
  if (without.length === 0) return found.assumptions;
  const patch = { tickets: Object.fromEntries(without.map((ticket) => [ticket.id, { service_time_s: seconds }])) };
  found.scenario_id = (await callTool("revise_scenario", { scenario_id: found.scenario_id, patch })).scenario_id;
  return [t("stayGiven", { n: without.length, minutes: seconds / 60 }), ...found.assumptions.filter((line) => line !== t("noStay"))];
}

const headerOf = (taken) => taken.replace(/ → \w+(?: \(a guess\))?$/, "");

// A column that was used, "header → field", with the field in words; (a guess) follows some.
const takenWords = (taken) => taken.replace(/→ (\w+)(?: \((a guess)\))?$/, (_, field, guess) => `→ ${choiceWord(field)}${guess ? ` (${t("guess")})` : ""}`);

// Headers of the columns with refused cells: their place is a row and a column of the file.
const unread = (error) => [...new Set((error.errors ?? []).map((fault) => /^\/file\/(?:.*\/)?\d+\/[^/]+$/.test(fault.at) && pointerParts(fault.at).pop()).filter(Boolean))];

// Where a fault is, in words of the page: a field of its form, the sheet and column of a cell (its row is in the text), or the
// field of an agent.
const OF_FORM = { agents: "fleet", depot: "depotAt", planning_date: "date" };
function placeWords(path = "") {
  const [first, ...rest] = pointerParts(path);
  if (first === "file") return rest.filter((part) => !/^\d+$/.test(part)).join(", ");
  return rest.length > 0 ? choiceWord(rest.at(-1)) : OF_FORM[first] ? t(OF_FORM[first]) : "";
}

// A refusal in words of the page, which has no argument `columns`: what a column is it asks, once nothing else is wrong. A place in
// a file of JSON stays as it is.
function inWordsOfPage(error, name) {
  for (const fault of error.errors ?? []) {
    const isAsked = ["/columns", "/decimal"].includes(fault.path);
    [fault.at, fault.path] = [fault.path, /json$/i.test(name) ? fault.path : placeWords(fault.path)];
    fault.which = fault.which?.map((each) => each.replace(/^row (\d+)$/, (_, n) => t("rowOf", { n })));
    if (isAsked) fault.accepted = fault.accepted?.split(" or ").map(choiceWord).join(", ");
    fault.hint = isAsked ? t("askedNext") : fault.hint?.replace(t("inColumns"), t("inFile"));
  }
  throw error;
}

// Sends a file as it is, since only its bytes say how a spreadsheet has encoded it; returns the name of the upload. A file takes
// the place of the one before with the same ending.
async function uploaded(file) {
  const name = `dashboard${/\.\w{1,8}$/.exec(file.name)?.[0].toLowerCase() ?? ".csv"}`;
  await request(`/files/${name}`, { method: "PUT", body: file }).catch((error) => {
    if (error.status === 413) error.message = t("tooLarge", { mb: figure(Number(/\d+/.exec(error.message)) / 2 ** 20) });
    throw error;
  });
  return name;
}
