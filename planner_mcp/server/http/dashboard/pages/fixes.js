// Proved fixes of tickets that are left out, on the page of their job: found for a few at a time, applied from an hour on.

import { callTool } from "../api.js";
import { action, go, inWords, planOf } from "../page.js";
import { h, table } from "../view/dom.js";
import { money } from "../view/format.js";
import { t } from "../view/words.js";
import { nowInput } from "./day_changes.js";

const FEW = 3; // as many as are examined in full in the time of one call

// Without `mayChange` fixes are shown and cannot be applied.
export function fixesPanel(jobId, leftOut, plan, scenario, mayChange) {
  if (leftOut.length === 0) return h("div");
  const waiting = [...leftOut];
  const fixes = [];
  const [found, others, messages] = [h("div"), h("ul"), h("div")];
  let now = null; // filled in when fixes are shown: the plan may have stood on the page for hours
  const apply = (fix) => action(t("apply"), async () => {
    if (!now.reportValidity()) return;
    const next = await callTool("resolve_vrp", { warm_from: jobId, patch: fix.patch, fresh: true, ...(now.value && { keep_until: now.value }) });
    go(`jobs/${next.job_id}`, next);
  }, { into: messages });
  const row = (fix) => [
    fix.ticket_id, [h("p", { class: "fix" }, inWords(fix.change)), mayChange && fix.patch && apply(fix)],
    fix.cost_delta === undefined ? "" : `${fix.cost_delta > 0 ? "+" : ""}${money(fix.cost_delta, scenario)}`,
  ];
  const find = action(t("findFixes"), async () => {
    const answer = await callTool("suggest_fixes", { plan: planOf(jobId), ticket_ids: waiting.slice(0, FEW) });
    waiting.splice(0, FEW);
    fixes.push(...answer.fixes);
    const lines = [
      ...answer.without_fix.map((id) => `${id}: ${t("noFix")}`), ...answer.not_examined.map((id) => `${id}: ${t("notExamined")}`),
      ...Object.entries(answer.nothing_to_mend).map(([id, other]) => `${id}: ${t("servedInstead", { other })}`), ...answer.notes.map(inWords),
    ];
    others.append(...lines.map((line) => h("li", {}, line)));
    if (fixes.length > 0) found.replaceChildren(mayChange ? h("label", {}, t("change_now?"), (now ??= nowInput(scenario, plan))) : "", table([t("ticket"), t("fix"), t("moreCost")], fixes.map(row), t("fix")));
    find.textContent = t("findMore", { n: waiting.length });
    find.hidden = waiting.length === 0;
  }, { into: messages });
  return h("div", {}, h("div", { role: "status" }, found, others), h("div", { class: "actions" }, find), messages);
}
