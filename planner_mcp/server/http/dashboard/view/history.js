// What has happened to a job, a line an event: when, what, how far it was, and its best cost then.

import { h } from "./dom.js";
import { localTime, money } from "./format.js";
import { t } from "./words.js";

// Of a step of a review `event` says which one, of any other event `status` what the job was then.
export const historyLine = ({ at, event, status, progress, cost }, scenario) => h("li", {}, [
  localTime(at), t(event ? event.replace("plan.", "state_") : status), !event && `${Math.round(progress ?? 0)} %`, (cost ?? null) !== null && money(cost, scenario),
].filter(Boolean).join(" · "));
