// Signs in with an API key or an access token, which the page forgets at once.

import { readSession, signIn } from "../api.js";
import { action, content, problem } from "../page.js";
import { h } from "../view/dom.js";
import { t } from "../view/words.js";

export function signInView(onEntered, error) {
  const messages = h("div", {}, error ? problem(error) : "");
  const input = h("input", { type: "password", autocomplete: "off", size: 44, required: true });
  const enter = action(t("signIn"), async () => {
    await signIn(input.value.trim());
    input.value = "";
    if ((await readSession()).needs_sign_in) throw new Error(t("cookieLost"));
    await onEntered();
  }, { main: true, into: messages });
  const submit = (event) => (event.preventDefault(), enter.click());
  content.replaceChildren(h("h1", {}, t("signIn")), h("form", { onsubmit: submit }, h("label", {}, t("key"), input), enter), messages, h("p", { class: "quiet" }, t("keyHint")));
  input.focus();
}
