// A plan that was shared by a link: the same view as on the page of its job, read only and masked. It reads one address.

import { h, table } from "./view/dom.js";
import { figures } from "./view/figures.js";
import { routeMap } from "./view/map.js";
import { stopsTable } from "./view/tables.js";
import { timeline } from "./view/timeline.js";
import { currentLanguage, setLanguage, t } from "./view/words.js";

const content = document.getElementById("content");

function draw({ job, review, plan, scenario, expires_at: ends }) {
  const tickets = new Map(scenario.tickets.map((ticket) => [ticket.id, ticket]));
  const until = new Date(ends).toLocaleString(currentLanguage(), { dateStyle: "short", timeStyle: "short" });
  const left = plan.unassigned.map((entry) => [entry.ticket_id, entry.code, entry.detail]);
  content.replaceChildren(
    h("h1", {}, `${scenario.name}, ${scenario.planning_date}`),
    h("p", { class: "quiet" }, [review && t(`state_${review}`), t("sharedUntil", { time: until })].filter(Boolean).join(" · ")),
    figures(job, plan, null), h("h2", {}, t("map")), routeMap(plan, scenario), h("h2", {}, t("timeline")), timeline(plan),
    h("h2", {}, `${t("unassigned")} (${left.length})`), left.length === 0 ? h("p", { class: "quiet" }, t("none")) : table([t("ticket"), t("reason"), ""], left, t("unassigned")),
    h("h2", {}, t("stops")), stopsTable(plan, tickets),
  );
}

async function load() {
  setLanguage(navigator.language);
  document.documentElement.lang = currentLanguage();
  const answer = await fetch(`${location.pathname}/plan`, { redirect: "error" });
  const body = await answer.json();
  if (answer.ok) draw(body);
  else content.replaceChildren(h("div", { class: "problem", role: "alert" }, body.message));
}

load();
