// The review of a plan on the page of its job: the state, a button for each step that it allows, and the difference from
// the plan approved earlier for that day. Where plans are not reviewed it stays empty.

import { callTool, readJson } from "../api.js";
import { action, events, planOf } from "../page.js";
import { h } from "../view/dom.js";
import { CALLS, STEPS } from "../view/review.js";
import { t } from "../view/words.js";

// Returns the element and `load`, which reads the state anew.
export function reviewPanel(jobId, signal) {
  const box = h("section", { class: "review", "aria-label": t("review") });
  const messages = h("div");
  const reason = h("input", { size: 40, maxlength: 500, required: true, "aria-label": t("reasonToReject"), placeholder: t("reasonToReject") });
  let differences = null;
  let shown = "";

  const step = (name) => action(t(name), async () => {
    if (name === "reject" && !reason.reportValidity()) return;
    try {
      differences = (await callTool(...CALLS[name](jobId, reason.value))).differences ?? null;
    } finally {
      await load(); // also after a refusal: the state is another than the one shown
    }
  }, { main: name !== "reject", into: messages });

  const draw = (review, approved) => {
    const steps = STEPS[review.state].filter((name) => review.steps.includes(name)); // those that this reader may take
    const isLeftToOthers = review.state === "proposed" && steps.length === 0;
    const before = review.differs_from ?? approved;
    const link = before && h("a", { href: `#/compare/${before}/${planOf(jobId)}` }, t("compareWithApproved"));
    box.replaceChildren(
      h("h2", {}, t("review")), h("p", { role: "status" }, t(`state_${review.state}`), review.reason ? `: ${review.reason}` : "", isLeftToOthers ? `: ${t("decidedByOthers")}` : "", link ? [" · ", link] : ""),
      approved ? h("p", {}, t("startsFromApproved")) : "",
      steps.length > 0 ? h("div", { class: "actions" }, steps.map((name) => (name === "reject" ? [reason, step(name)] : step(name)))) : "",
      messages, differences ? h("ul", {}, differences.map((line) => h("li", {}, line))) : "",
    );
  };

  const load = async () => {
    const { review, approved_plan: approved } = await readJson(`job://${jobId}`);
    const now = JSON.stringify([review, approved, differences]);
    if (signal.aborted || !review || now === shown) return;
    shown = now;
    messages.replaceChildren(); // what was refused was a step from the state before
    draw(review, approved);
  };

  const reload = () => load().catch(() => null); // somebody else may decide meanwhile
  events.listen({ onStart: reload, onEvent: (event) => event.job_id === jobId && event.review && reload() }, signal);
  return { box, load };
}
