// Two plans side by side.

import { callTool, readJson } from "../api.js";
import { content, jobOf, link } from "../page.js";
import { h, table } from "../view/dom.js";
import { distance, figure } from "../view/format.js";
import { routeMap } from "../view/map.js";
import { t } from "../view/words.js";

export async function compareView(signal, a, b) {
  const found = await callTool("compare_plans", { plan_a: a, plan_b: b });
  const [before, after] = await Promise.all([readJson(`plan://${a}`), readJson(`plan://${b}`)]);
  const days = await Promise.all([a, b].map(async (plan) => readJson(`scenario://${(await readJson(`job://${jobOf(plan)}`)).scenario_id}`)));
  if (signal.aborted) return;
  const side = (plan, day, id) => h("section", {}, h("h2", {}, link(`jobs/${jobOf(id)}`, id)), h("p", {}, `${t("cost")} ${figure(plan.cost)} · ${distance(plan, plan.distance_m)}`), routeMap(plan, day.scenario));
  const moves = found.moves.length === 0 ? h("p", {}, t("noMoved")) : table([t("ticket"), `${t("agent")} A`, `${t("agent")} B`], found.moves, t("moved"));
  content.replaceChildren(
    h("h1", {}, t("compare")), h("p", {}, `Δ ${t("cost")} ${figure(found.cost_delta)} · Δ ${t("agents")} ${found.agents_used_delta}`),
    h("h2", {}, `${t("moved")} (${found.moved})`), moves, side(before, days[0], a), side(after, days[1], b),
  );
}
