// Asks for the API key that a server with authorization needs.

import { setKey } from "../api.js";
import { content, problem } from "../page.js";
import { h } from "../view/dom.js";
import { t } from "../view/words.js";

export function keyView(error, onEntered) {
  const input = h("input", { type: "password", autocomplete: "off", size: 44 });
  const enter = (event) => {
    event.preventDefault();
    setKey(input.value.trim());
    onEntered();
  };
  content.replaceChildren(h("h1", {}, t("keyNeeded")), error ? problem(error) : "",
    h("form", { onsubmit: enter }, h("label", {}, t("key"), input), h("button", { class: "main" }, t("enter"))), h("p", { class: "quiet" }, t("keyHint")));
  input.focus();
}
