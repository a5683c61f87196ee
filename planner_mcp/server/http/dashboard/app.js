// The dashboard: signs in, and leads from the fragment of the URL (`#/jobs/ID`) to a page.

import { ApiError, readSession, signIn, signOut } from "./api.js";
import "./page_words.js";
import { content, events, problem, showBanner, watchEvents } from "./page.js";
import { compareView } from "./pages/compare.js";
import { importView } from "./pages/import.js";
import { jobView } from "./pages/job.js";
import { jobsView } from "./pages/jobs.js";
import { scenarioView, scenariosView } from "./pages/scenarios.js";
import { signInView } from "./pages/sign_in.js";
import { systemView } from "./pages/system.js";
import { h } from "./view/dom.js";
import { currentLanguage, setLanguage, t } from "./view/words.js";

const LANGUAGE = "planner-language";
const NAME = document.title;
const TICKET = /^#ticket=(.+)$/;
const FAILED = /^#failed=(\w+)$/; // a sign-in at an authorization server
const REASONS = ["denied", "expired", "refused", "unavailable"];
let leave = new AbortController(); // aborted when the user goes to another view
let session = { needs_sign_in: true, issuers: [] };
let drawAnew = null; // what could not be drawn while the server was away

const mayWrite = () => session.scopes.includes("planner:write"); // else nothing is offered that would be refused

const VIEWS = {
  jobs: (signal, [id], query) => (id ? jobView(signal, id, mayWrite()) : jobsView(signal, query)),
  scenarios: (signal, [id], query) => (id ? scenarioView(signal, id, mayWrite()) : scenariosView(signal, query)),
  compare: (signal, [a, b]) => compareView(signal, a, b),
  import: () => importView(session),
  system: (signal, _rest, query) => systemView(signal, query, session.scopes),
};

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a broken escape names nothing
  }
}

async function start() {
  const ticket = TICKET.exec(location.hash)?.[1];
  const failed = FAILED.exec(location.hash)?.[1];
  if (ticket || failed) history.replaceState(null, "", location.pathname); // out of the address bar and of the history at once
  if (!location.hash) history.replaceState(null, "", "#/jobs"); // without an event, for which nobody is known yet
  let refused = failed ? new Error(t(`signIn_${REASONS.includes(failed) ? failed : "refused"}`)) : null;
  if (ticket) await signIn(ticket).catch((error) => (refused = error));
  await enter(refused);
}

async function enter(refused) {
  try {
    session = await readSession();
  } catch (error) {
    if (error.status !== 401) return notDrawn(error, enter);
    [session, refused] = [await readSession({ credentials: "omit" }), error]; // as a stranger: the cookie is over
  }
  await render(refused);
  if (session.needs_sign_in) return;
  if (refused) content.prepend(problem(refused));
  events.run();
}

async function leaveSession() {
  events.stop();
  await enter(await signOut().catch((error) => error)); // also where the session is over already
}

// Shows what went wrong; where the server is away, what it was is done once the event stream is back.
function notDrawn(error, act) {
  content.replaceChildren(problem(error));
  if (error.status && error.status < 500) return;
  drawAnew = act;
  events.run();
}

function drawFrame(view) {
  document.documentElement.lang = currentLanguage();
  document.getElementById("skip").textContent = t("skip");
  document.getElementById("language").textContent = t("language");
  const places = session.needs_sign_in ? [] : Object.keys(VIEWS).filter((name) => name !== "compare" && (name !== "import" || mayWrite()));
  const reviews = session.has_reviews && !session.needs_sign_in ? [h("a", { href: "#/jobs?status=proposed" }, t("reviews"))] : [];
  document.getElementById("nav").replaceChildren(
    ...places.map((each) => h("a", { href: `#/${each}`, "aria-current": each === view ? "page" : undefined }, t(each))), ...reviews,
    ...(session.has_sign_in && !session.needs_sign_in ? [h("button", { type: "button", title: session.subject, onclick: leaveSession }, t("signOut"))] : []),
  );
}

async function render(refused) {
  leave.abort();
  drawAnew = null;
  leave = new AbortController();
  const { signal } = leave;
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/").map(decoded);
  const view = VIEWS[name] ? name : "jobs";
  drawFrame(view);
  document.title = NAME;
  if (session.needs_sign_in) return signInView(session.issuers, enter, refused);
  content.replaceChildren(h("p", { class: "quiet" }, t("loading")));
  try {
    await VIEWS[view](signal, rest, new URLSearchParams(query));
    if (!signal.aborted) document.title = [content.querySelector("h1")?.textContent, NAME].filter(Boolean).join(" · ");
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof ApiError && error.status === 401) await enter(error);
    else notDrawn(error, render);
  }
}

const formName = (element) => element.closest("form")?.getAttribute("name") ?? "";

// The fields of the view by the names of their forms and their own, or what they are, and how many alike stand before.
function fieldsByName() {
  const counts = {};
  const numbered = (name) => `${name} ${(counts[name] = (counts[name] ?? 0) + 1)}`;
  return new Map([...content.querySelectorAll("input, select, textarea")].map((field) => [numbered(`${formName(field)} ${field.name || field.type}`), field]));
}

// Draws the view in the other language, with the forms that are open and what its fields hold.
async function switchLanguage() {
  localStorage.setItem(LANGUAGE, setLanguage(currentLanguage() === "en" ? "zh" : "en"));
  const forms = (state) => [...content.querySelectorAll(`details${state} > form`)];
  const [before, wereOpen] = [fieldsByName(), forms("[open]").map(formName)];
  await render();
  const closed = forms(":not([open])").filter((each) => wereOpen.includes(formName(each))).map((each) => each.parentElement);
  await Promise.all(closed.map((each) => new Promise((drawn) => (each.addEventListener("toggle", drawn, { once: true }), (each.open = true)))));
  for (const [name, { type, value, checked, files }] of before) {
    const field = fieldsByName().get(name); // a choice may have brought it
    if (field?.type !== type || (field.options && ![...field.options].some((each) => each.value === value))) continue;
    const isOther = field.value !== value;
    if (type === "file") field.files = files;
    else [field.value, field.checked] = [value, checked];
    field.dispatchEvent(new Event("input", { bubbles: true }));
    if (field.options && isOther) field.dispatchEvent(new Event("change", { bubbles: true }));
  }
}

document.getElementById("language").addEventListener("click", switchLanguage);
document.getElementById("skip").addEventListener("click", (event) => (event.preventDefault(), content.focus())); // its fragment is no page
window.addEventListener("hashchange", () => (render(), content.focus()));
setLanguage(localStorage.getItem(LANGUAGE) ?? navigator.language);
watchEvents((state) => {
  showBanner(state === "lost" ? t("lost") : null);
  if (state instanceof ApiError && state.status === 401) enter(state);
  if (state === "live") drawAnew?.();
});
start();
