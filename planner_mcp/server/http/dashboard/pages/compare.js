// Two plans side by side.

import { callTool, readJson } from "../api.js";
import { content, jobOf, link, readGround, widthOf } from "../page.js";
import { h, table } from "../view/dom.js";
import { agentName, distance, figure, isolated, localTime, money, servedText, unitOf } from "../view/format.js";
import { routeMap } from "../view/map.js";
import { canvasLayer } from "../view/map_canvas.js";
import { t } from "../view/words.js";

export async function compareView(signal, a, b) {
  const found = await callTool("compare_plans", { plan_a: a, plan_b: b });
  const plans = await Promise.all([a, b].map((id) => readJson(`plan://${id}`)));
  const jobs = await Promise.all([a, b].map((id) => readJson(`job://${jobOf(id)}`)));
  const days = (await Promise.all(jobs.map((job) => readJson(`scenario://${job.scenario_id}`)))).map((each) => each.scenario);
  const grounds = await Promise.all([a, b].map(readGround));
  if (signal.aborted) return;
  const maps = h("div", { class: "sides" });
  const moves = movedStops(plans, days);
  const deltas = [`${t("cost")} ${signed(found.cost_delta)} ${unitOf(days[0])}`, `${t("distance")} ${found.distance_delta_m > 0 ? "+" : ""}${distance(plans[0], found.distance_delta_m)}`, `${t("agents")} ${signed(found.agents_used_delta)}`];
  content.replaceChildren(
    h("h1", {}, t("compare")), h("p", {}, `B − A: ${deltas.map((each) => each.trim()).join(" · ")}`),
    ...(jobs[0].scenario_id === jobs[1].scenario_id ? [] : [h("p", { class: "quiet" }, found.priced_on ? t("comparedOn", { day: found.priced_on_is.replace(/plan_([ab])/, (_, name) => name.toUpperCase()) }) : found.priced_on_is)]),
    maps, h("h2", {}, t("costByAgent")), agentsTable(plans, days), h("h2", {}, `${t("moved")} (${moves.length})`),
    moves.length === 0 ? h("p", {}, t("noMoved")) : table([t("ticket"), t("name"), `${t("agent")} A`, `${t("agent")} B`], moves, t("moved")),
  );
  const width = widthOf(maps);
  maps.replaceChildren(...[a, b].map((id, at) => h(
    "section", {}, h("h2", {}, `${"AB"[at]}: `, link(`jobs/${jobOf(id)}`, `${isolated(days[at].name ?? id)}, ${localTime(jobs[at].submitted_at)}`)),
    h("p", {}, `${t("cost")} ${money(plans[at].cost, days[at])} · ${distance(plans[at], plans[at].distance_m)} · ${t("served")} ${servedText(plans[at])}`),
    routeMap(plans[at], days[at], { canvas: canvasLayer, ground: grounds[at], width }),
  )));
}

// The tickets that another agent serves, or one plan alone; with their names. A dash is that of a day without the ticket.
function movedStops(plans, days) {
  const [before, after] = plans.map((plan) => new Map(plan.routes.flatMap((route) => route.visits.filter((visit) => visit.ticket_id).map((visit) => [visit.ticket_id, route.agent_id]))));
  const names = new Map(days.flatMap((day) => day.tickets.map((ticket) => [ticket.id, ticket.name ?? ticket.location])));
  return [...new Set([...before.keys(), ...after.keys()])].filter((id) => before.get(id) !== after.get(id))
    .map((id) => [id, names.get(id), ...[before, after].map((routes, at) => (routes.has(id) && agentName(days[at], routes.get(id))) || (days[at].tickets.some((ticket) => ticket.id === id) ? t("unassigned") : "–"))]);
}

const signed = (value) => `${value > 0 ? "+" : ""}${figure(value)}`;

// Cost and stops of each agent in both plans; a dash where it does not drive, or where costs are hidden.
function agentsTable([before, after], days) {
  const routes = [before, after].map((plan) => new Map(plan.routes.map((route) => [route.agent_id, route])));
  const stops = (route) => route && route.visits.filter((visit) => visit.kind === "ticket").length;
  const rows = [...new Set([...routes[0].keys(), ...routes[1].keys()])].map((agent) => {
    const [a, b] = routes.map((each) => each.get(agent));
    const delta = a?.cost === null || b?.cost === null ? "–" : signed((b?.cost ?? 0) - (a?.cost ?? 0));
    return [agentName(days[b ? 1 : 0], agent), figure(a?.cost), figure(b?.cost), delta, figure(stops(a)), figure(stops(b))];
  });
  return table([t("agent"), `${t("cost")} A`, `${t("cost")} B`, `Δ ${t("cost")}`, `${t("stops")} A`, `${t("stops")} B`], rows, t("costByAgent"));
}
