// A job: its figures, cost curve, plan and events, and what can be done with it.

import { callTool, readHistory, readJson } from "../api.js";
import { isLater } from "../events.js";
import { ENDED, action, content, downloads, events, go, inWords, link, planOf, problem, rawJson, readGround, takeMessages, throttled, widthOf } from "../page.js";
import { costCurve } from "../view/curve.js";
import { h, table } from "../view/dom.js";
import { figures } from "../view/figures.js";
import { figure, localTime, servedText } from "../view/format.js";
import { historyLine } from "../view/history.js";
import { routeMap } from "../view/map.js";
import { canvasLayer } from "../view/map_canvas.js";
import { newMoment } from "../view/moment.js";
import { stopsTable, unassignedTable } from "../view/tables.js";
import { timeline } from "../view/timeline.js";
import { t } from "../view/words.js";
import { dayChanges } from "./day_changes.js";
import { fixesPanel } from "./fixes.js";
import { reviewPanel } from "./review.js";
import { shareActions } from "./share.js";
import { whatIf } from "./what_if.js";

const LEAST_TIMELINE_PX = 640;
const REDRAW_EVERY_MS = 250;
const MOST_COMPARED = 50;
const MOST_EVENTS = 200;
const MOST_POINTS = 1200; // of the curve; half of them are left out then

export async function jobView(signal, jobId, mayWrite) {
  let job = await readJson(`job://${jobId}`);
  const stored = await readJson(`scenario://${job.scenario_id}`).catch(() => null);
  if (signal.aborted) return;
  const scenario = stored?.scenario ?? {};
  const mayChange = mayWrite && job.is_own !== false; // a reviewer of somebody else's plan cannot change it, and neither can a reader without the write scope
  const tickets = new Map((scenario.tickets ?? []).map((ticket) => [ticket.id, ticket]));
  const parts = { figures: h("div"), actions: h("div", { class: "actions" }), messages: h("div"), curve: h("div"), plan: h("div", { class: "plan" }), heard: h("p", { class: "hidden", role: "status" }), events: h("ol", { class: "scroll" }) };
  let points = [];
  let lastId = "0-0";
  let plan = null;
  let bound = null;
  let drawnPlan = null;
  let drawnWidth = 0;
  let ground = null; // roads under the map, and routes along them
  const frame = {}; // the part of the map that is looked at stays when a better plan is drawn
  const moment = newMoment();
  const sharing = shareActions(jobId); // once: what it has said stays when the plan is drawn anew

  let fixes = null; // stays when the plan is drawn anew, until other tickets are left out
  const draw = () => {
    parts.figures.replaceChildren(figures(job, plan, bound, scenario));
    const state = `${t("status")}: ${t(job.status)}`; // is heard when it changes, of all the figures alone
    if (parts.heard.textContent !== state) parts.heard.textContent = state;
    parts.curve.replaceChildren(costCurve(points, bound, Math.max(320, content.clientWidth), job.elapsed_s));
    if (plan && plan !== drawnPlan) {
      drawnPlan = plan;
      const leftOut = plan.unassigned.map((each) => each.ticket_id);
      if (fixes?.of !== String(leftOut)) fixes = { of: String(leftOut), box: fixesPanel(jobId, leftOut, plan, scenario, mayChange) };
      const width = (drawnWidth = widthOf(parts.plan));
      parts.plan.replaceChildren(
        h("section", {}, h("h2", {}, t("map")), routeMap(plan, scenario, { canvas: canvasLayer, frame, ground, moment, width })),
        h("section", {}, h("h2", {}, t("timeline")), timeline(plan, scenario, { moment, width: Math.max(width, LEAST_TIMELINE_PX) }),
          h("h2", {}, `${t("unassigned")} (${plan.unassigned.length})`), unassignedTable(plan, tickets), fixes.box),
        h("section", { class: "wide" }, h("h2", {}, t("stops")), stopsTable(plan, scenario, tickets), assumed(plan), downloads(planOf(jobId), plan.routes, scenario), mayChange ? sharing : ""),
      );
    }
  };
  const redraw = throttled(draw, REDRAW_EVERY_MS, signal);
  const loadPlan = throttled(async () => {
    const found = await readJson(`plan://${planOf(jobId)}`).catch(() => null);
    if (!found || signal.aborted) return;
    plan = found;
    redraw();
    if (ground && !ENDED.includes(job.status)) return; // roads stay; routes along them are those of the last plan
    ground = await readGround(planOf(jobId));
    if (signal.aborted) return;
    drawnPlan = null;
    redraw();
  }, 1000, signal);

  const review = reviewPanel(jobId, signal);
  let offered = null; // the status whose actions are shown; a form that somebody fills in stays
  const showActions = () => {
    const isEnded = ENDED.includes(job.status);
    if (offered === job.status) return;
    offered = job.status;
    if (isEnded) review.load().catch(() => null);
    const run = (text, act, options = {}) => action(text, act, { into: parts.messages, ...options });
    const hasPlan = Boolean(job.plan_id) || points.length > 0; // else there is nothing to start from, or to change
    const ofEnded = () => [mayChange && run(t("again"), () => solveAgain(hasPlan ? jobId : null, job), { main: true }), ...(hasPlan ? ofPlan() : [])].filter(Boolean);
    const ofPlan = () => [comparison(job, scenario, signal), mayChange && dayChanges(jobId, scenario, () => plan), mayChange && whatIf(jobId, scenario)];
    const ofRunning = () => (mayChange ? [job.status === "SOLVING" && run(t("finish"), () => callTool("finish_vrp_job", { job_id: jobId })), run(t("cancel"), () => callTool("cancel_vrp_job", { job_id: jobId }), { ask: ["askToCancel", "cancelJob"] })].filter(Boolean) : []);
    parts.actions.replaceChildren(...(isEnded ? ofEnded() : ofRunning()));
  };
  const title = h("h1", {}, scenario.name ? [h("bdi", {}, scenario.name), `, ${scenario.planning_date}`] : `${t("job")} ${jobId}`);
  const about = h("p", { class: "quiet" }, `${t("job")} ${jobId} · `, link(`scenarios/${job.scenario_id}`, t("scenario")), ` · ${job.engine} · ${localTime(job.submitted_at)}`);
  content.replaceChildren(
    title, about, parts.figures, parts.heard, parts.actions, parts.messages, review.box, h("h2", {}, t("curve")), parts.curve, parts.plan,
    h("details", {}, h("summary", {}, t("events")), parts.events), rawJson(`job://${jobId}`),
  );
  parts.messages.append(h("ul", {}, takeMessages()));
  if (job.error) parts.messages.append(problem(job.error));
  showActions();
  draw();

  const take = (event) => {
    if (event.job_id !== jobId || !isLater(event.event_id, lastId)) return;
    lastId = event.event_id;
    const { result, ...rest } = event;
    const { cost, tickets_served: served } = { ...event, ...result };
    job = { ...job, ...rest, ...(result ? { cost } : {}) };
    if (cost !== undefined && cost !== points.at(-1)?.cost) points.push({ at: event.elapsed_s ?? job.elapsed_s ?? 0, cost, served });
    if (points.length > MOST_POINTS) points = points.filter((_point, at) => at % 2 === 0 || at === points.length - 1);
    if (parts.events.children.length >= MOST_EVENTS) parts.events.firstChild.remove();
    parts.events.append(historyLine({ ...event, cost }, scenario));
    if (cost !== undefined || result) loadPlan();
    if (event.error) parts.messages.replaceChildren(problem(event.error));
    if (ENDED.includes(event.status)) ended();
  };
  const onEvent = (event) => (take(event), showActions(), redraw());
  const ended = async () => {
    bound = await callTool("read_progress", { job_id: jobId }).catch(() => null);
    if (!signal.aborted) redraw();
  };
  const readAnew = throttled(async () => {
    const missed = [];
    const reading = new AbortController();
    events.listen({ onEvent: (event) => missed.push(event) }, reading.signal);
    const history = await readHistory(jobId).catch(() => null);
    reading.abort();
    if (signal.aborted || !history) return;
    [points, lastId] = [[], "0-0"];
    parts.events.replaceChildren();
    for (const event of [...history.map((message) => message.params), ...missed]) take(event);
    showActions();
    redraw(); // once all are there: half of them would be an empty curve, and the page would jump
  }, 1000, signal);
  const fit = throttled(() => {
    if (!plan || widthOf(parts.plan) === drawnWidth) return;
    drawnPlan = null;
    draw();
  }, REDRAW_EVERY_MS, signal);
  addEventListener("resize", fit, { signal }); // signs of a drawing that is stretched are too large or too small to read
  events.listen({ onEvent, onStart: readAnew }, signal);
  readAnew();
}

// What a plan takes for granted, such as straight lines for roads.
const assumed = ({ assumptions = [] }) => (assumptions.length > 0 ? [h("h2", {}, t("assumptions")), h("ul", {}, assumptions.map((each) => h("li", {}, inWords(each))))] : []);

// From the plan of a job, or from nothing where it has none; for as long as before.
async function solveAgain(warmFrom, { scenario_id, solve_time: time }) {
  const [tool, from] = warmFrom ? ["resolve_vrp", { warm_from: warmFrom }] : ["solve_vrp", { scenario_id }];
  const next = await callTool(tool, { ...from, solve_time: time, fresh: true });
  go(`jobs/${next.job_id}`, next);
}

// The other plans of the day and its revisions, which keep its name; nothing where there are none.
function comparison(job, scenario, signal) {
  const place = h("span", { class: "actions" });
  const load = async () => {
    const { jobs } = await readJson(`jobs://vrp/status/completed?size=${MOST_COMPARED}`);
    const others = jobs.filter((each) => each.job_id !== job.job_id && each.plan_id && (each.scenario_id === job.scenario_id || (each.scenario_name && each.scenario_name === job.scenario_name)));
    if (signal.aborted || others.length === 0) return;
    const choice = h("select", { "aria-label": t("compareWith") },
      h("option", { value: "" }, t("compareWith")), others.map((each) => h("option", { value: each.plan_id }, [localTime(each.submitted_at), each.planning_date !== scenario.planning_date && each.planning_date, `${t("served")} ${servedText(each)}`, `${t("cost")} ${figure(each.cost)}`].filter(Boolean).join(" · "))));
    const compare = action(t("compare"), async () => (choice.value ? go(`compare/${planOf(job.job_id)}/${choice.value}`) : choice.focus()));
    place.replaceChildren(choice, compare); // a button: arrow keys run through the choices, and none of these leads away
  };
  load().catch(() => null);
  return place;
}
