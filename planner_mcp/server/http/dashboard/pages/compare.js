// Two plans side by side.

import { callTool, readJson } from "../api.js";
import { content, jobOf, link, readGround, widthOf } from "../page.js";
import { h, table } from "../view/dom.js";
import { distance, figure } from "../view/format.js";
import { routeMap } from "../view/map.js";
import { canvasLayer } from "../view/map_canvas.js";
import { t } from "../view/words.js";

export async function compareView(signal, a, b) {
  const found = await callTool("compare_plans", { plan_a: a, plan_b: b });
  const plans = await Promise.all([a, b].map((id) => readJson(`plan://${id}`)));
  const days = await Promise.all([a, b].map(async (id) => readJson(`scenario://${(await readJson(`job://${jobOf(id)}`)).scenario_id}`)));
  const grounds = await Promise.all([a, b].map(readGround));
  if (signal.aborted) return;
  const maps = h("div", { class: "sides" });
  const moves = found.moves.length === 0 ? h("p", {}, t("noMoved")) : table([t("ticket"), `${t("agent")} A`, `${t("agent")} B`], found.moves, t("moved"));
  content.replaceChildren(
    h("h1", {}, t("compare")), h("p", {}, `Δ ${t("cost")} ${signed(found.cost_delta)} · Δ ${t("agents")} ${signed(found.agents_used_delta)}`),
    maps, h("h2", {}, t("costByAgent")), agentsTable(plans), h("h2", {}, `${t("moved")} (${found.moved})`), moves,
  );
  const width = widthOf(maps);
  maps.replaceChildren(...[a, b].map((id, at) => h(
    "section", {}, h("h2", {}, `${"AB"[at]}: `, link(`jobs/${jobOf(id)}`, id)),
    h("p", {}, `${t("cost")} ${figure(plans[at].cost)} · ${distance(plans[at], plans[at].distance_m)} · ${t("served")} ${t("of", { a: plans[at].tickets_served, b: plans[at].tickets_total })}`),
    routeMap(plans[at], days[at].scenario, { canvas: canvasLayer, ground: grounds[at], width }),
  )));
}

const signed = (value) => `${value > 0 ? "+" : ""}${figure(value)}`;

// Cost and stops of each agent in both plans; a dash where it does not drive, or where costs are hidden.
function agentsTable([before, after]) {
  const routes = [before, after].map((plan) => new Map(plan.routes.map((route) => [route.agent_id, route])));
  const stops = (route) => route && route.visits.filter((visit) => visit.kind === "ticket").length;
  const rows = [...new Set([...routes[0].keys(), ...routes[1].keys()])].map((agent) => {
    const [a, b] = routes.map((each) => each.get(agent));
    const delta = a?.cost === null || b?.cost === null ? "–" : signed((b?.cost ?? 0) - (a?.cost ?? 0));
    return [agent, figure(a?.cost), figure(b?.cost), delta, figure(stops(a)), figure(stops(b))];
  });
  return table([t("agent"), `${t("cost")} A`, `${t("cost")} B`, `Δ ${t("cost")}`, `${t("stops")} A`, `${t("stops")} B`], rows, t("costByAgent"));
}
