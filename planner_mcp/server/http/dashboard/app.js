// The dashboard: leads from the fragment of the URL (`#/jobs/ID`) to a page.

import { ApiError, hasKey, setKey } from "./api.js";
import { content, events, problem, showBanner, watchEvents } from "./page.js";
import { compareView } from "./pages/compare.js";
import { importView } from "./pages/import.js";
import { jobView } from "./pages/job.js";
import { jobsView } from "./pages/jobs.js";
import { keyView } from "./pages/key.js";
import { scenarioView, scenariosView } from "./pages/scenarios.js";
import { h } from "./view/dom.js";
import { currentLanguage, setLanguage, t } from "./view/words.js";

const LANGUAGE = "planner-language";
let leave = new AbortController(); // aborted when the user goes to another view

const VIEWS = {
  jobs: (signal, [id], query) => (id ? jobView(signal, id) : jobsView(signal, query)),
  scenarios: (signal, [id], query) => (id ? scenarioView(signal, id) : scenariosView(signal, query)),
  compare: (signal, [a, b]) => compareView(signal, a, b),
  import: () => importView(),
};

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a broken escape names nothing
  }
}

function entered() {
  render();
  events.run();
}

async function render() {
  leave.abort();
  leave = new AbortController();
  const { signal } = leave;
  document.documentElement.lang = currentLanguage();
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/").map(decoded);
  const view = VIEWS[name] ? name : "jobs";
  document.getElementById("skip").textContent = t("skip");
  document.getElementById("language").textContent = t("language");
  document.getElementById("nav").replaceChildren(
    ...["jobs", "scenarios", "import"].map((each) => h("a", { href: `#/${each}`, "aria-current": each === view ? "page" : undefined }, t(each))),
    ...(hasKey() ? [h("button", { type: "button", onclick: () => (setKey(null), render()) }, t("signOut"))] : []),
  );
  content.replaceChildren(h("p", { class: "quiet" }, t("loading")));
  try {
    await VIEWS[view](signal, rest, new URLSearchParams(query));
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof ApiError && error.status === 401) keyView(hasKey() ? error : null, entered);
    else content.replaceChildren(problem(error));
  }
}

document.getElementById("language").addEventListener("click", () => {
  localStorage.setItem(LANGUAGE, setLanguage(currentLanguage() === "en" ? "zh" : "en"));
  render();
});
window.addEventListener("hashchange", () => (render(), content.focus()));
setLanguage(localStorage.getItem(LANGUAGE) ?? navigator.language);
watchEvents((state) => showBanner(state === "lost" ? t("lost") : null));
if (!location.hash) location.replace("#/jobs");
render();
events.run();
