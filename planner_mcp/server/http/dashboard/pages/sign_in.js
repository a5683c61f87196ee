// Signs in at an authorization server, or with an API key or an access token, which the page forgets at once.

import { readSession, signIn, signInAt } from "../api.js";
import { action, content, problem } from "../page.js";
import { h } from "../view/dom.js";
import { t } from "../view/words.js";

export function signInView(issuers, onEntered, error) {
  const messages = h("div", {}, error ? problem(error) : "");
  const input = h("input", { type: "password", autocomplete: "off", size: 44, required: true });
  const at = (issuer) => action(t("signInAt", { issuer: issuer.replace(/^https?:\/\//, "") }), () => signInAt(issuer), { main: true, into: messages });
  const enter = action(t("signIn"), async () => {
    await signIn(input.value.trim());
    input.value = "";
    if ((await readSession()).needs_sign_in) throw new Error(t("cookieLost"));
    await onEntered();
  }, { main: issuers.length === 0, into: messages });
  const submit = (event) => (event.preventDefault(), enter.click());
  content.replaceChildren(
    h("h1", {}, t("signIn")), issuers.length > 0 ? h("div", { class: "actions" }, issuers.map(at)) : "",
    h("form", { onsubmit: submit }, h("label", {}, t("key"), input), enter), messages, h("p", { class: "quiet" }, t("keyHint")),
  );
  (content.querySelector("button.main") ?? input).focus();
}
