// A plan that was shared by a link: the same view as on the page of its job, read only and masked. It reads one address.

import "./page_words.js";
import { h } from "./view/dom.js";
import { figures } from "./view/figures.js";
import { localTime } from "./view/format.js";
import { routeMap } from "./view/map.js";
import { canvasLayer } from "./view/map_canvas.js";
import { newMoment } from "./view/moment.js";
import { stopsTable, unassignedTable } from "./view/tables.js";
import { timeline } from "./view/timeline.js";
import { currentLanguage, setLanguage, t } from "./view/words.js";

const content = document.getElementById("content");

function draw({ job, review, plan, scenario, ground, expires_at: ends }) {
  const tickets = new Map(scenario.tickets.map((ticket) => [ticket.id, ticket]));
  const moment = newMoment();
  const width = Math.max(320, content.clientWidth);
  document.title = `${scenario.name}, ${scenario.planning_date} · ${document.title}`;
  content.replaceChildren(
    h("h1", {}, h("bdi", {}, scenario.name), `, ${scenario.planning_date}`),
    h("p", { class: "quiet" }, [review && t(`state_${review}`), t("sharedUntil", { time: localTime(ends) })].filter(Boolean).join(" · ")),
    h("p", { class: "quiet" }, t("sharedMasked")),
    figures(job, plan, null, scenario), h("h2", {}, t("map")), routeMap(plan, scenario, { canvas: canvasLayer, ground, moment, width }), h("h2", {}, t("timeline")), timeline(plan, scenario, { moment, width: Math.max(640, width) }),
    h("h2", {}, `${t("unassigned")} (${plan.unassigned.length})`), unassignedTable(plan, tickets),
    h("h2", {}, t("stops")), stopsTable(plan, scenario, tickets),
  );
}

async function load() {
  setLanguage(navigator.language);
  document.documentElement.lang = currentLanguage();
  const answer = await fetch(`${location.pathname}/plan`, { redirect: "error", headers: { "Accept-Language": currentLanguage() } }).catch(() => {
    addEventListener("online", start, { once: true }); // on the road a connection is lost and comes back
    throw new Error(t("unreachable"));
  });
  const body = await answer.json().catch(() => null);
  if (!answer.ok || !body) throw new Error(body?.message ?? `HTTP ${answer.status}`);
  draw(body);
}

const start = () => load().catch((error) => content.replaceChildren(h("div", { class: "problem", role: "alert" }, error.message)));

start();
