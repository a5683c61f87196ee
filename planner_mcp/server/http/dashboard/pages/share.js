// Links that show a plan to people without an account: make one, or end all there are.

import { callTool } from "../api.js";
import { action, planOf } from "../page.js";
import { h } from "../view/dom.js";
import { localTime } from "../view/format.js";
import { t } from "../view/words.js";

export function shareActions(jobId) {
  const made = h("div", { role: "status" });
  const plan = { job_id: planOf(jobId) };
  const share = action(t("share"), async () => {
    const { url, expires_at: ends } = await callTool("share_plan", plan);
    made.replaceChildren(h("input", { readonly: true, size: 60, value: url, "aria-label": t("shareLink"), onfocus: (event) => event.target.select() }), " ", t("sharedUntil", { time: localTime(ends) }));
  }, { into: made });
  const revoke = action(t("revokeLinks"), async () => {
    await callTool("share_plan", { ...plan, revoke: true });
    made.replaceChildren(h("p", { class: "quiet" }, t("linksRevoked")));
  }, { into: made, ask: ["askToRevoke", "revokeLinks"] });
  return h("div", {}, h("div", { class: "actions" }, share, revoke), made);
}
