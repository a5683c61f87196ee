// The figures of a job and its plan, with the stamp of the verifier.

import { h } from "./dom.js";
import { distance, duration, figure, money, servedText } from "./format.js";
import { t } from "./words.js";

export function figures(job, plan, bound, scenario) {
  const entry = (label, value, hint) => h("div", { class: "figure", title: hint }, h("dt", {}, label), h("dd", {}, value));
  return h(
    "dl", { class: "figures" },
    entry(t("status"), h("span", { class: `state ${job.status}` }, t(job.status))),
    entry(t("progress"), `${Math.round(job.progress ?? 0)} %`),
    entry(t("cost"), money(plan?.cost ?? job.cost, scenario)),
    entry(t("served"), servedText(plan ?? job)),
    plan && entry(t("agents"), figure(plan.agents_used)),
    plan && entry(t("distance"), distance(plan, plan.distance_m)),
    plan && entry(t("working"), duration(plan.duration_s)),
    bound?.gap != null && bound.gap < 1 && entry(t("gap"), bound.optimal ? t("optimal") : `≤ ${(100 * bound.gap).toFixed(1)} %`),
    entry(t("verified"), plan ? h("span", { class: "stamp" }, `✓ ${t("verified")}`) : t("notYet"), t("verifiedHint")),
  );
}
