// Asks before what cannot be taken back.

import { h } from "./dom.js";
import { t } from "./words.js";

// Resolves to whether it is wanted; Escape, as the first button, means no.
export const confirmed = (question, yes) => new Promise((resolve) => {
  const button = (text, main) => h("button", { class: main, onclick: () => dialog.close(main) }, text);
  const dialog = h("dialog", { "aria-label": question, onclose: () => (dialog.remove(), resolve(!!dialog.returnValue)) }, h("p", {}, question), h("div", { class: "actions" }, button(t("back")), button(yes, "main")));
  document.body.append(dialog);
  dialog.showModal();
});
