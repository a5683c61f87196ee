// The words of the view, in English and Chinese. `t(name, {value: text})` fills in `{value}`.

const WORDS = {
  en: {
    job: "Job", status: "Status", progress: "Progress", cost: "Cost", served: "Served", agents: "Agents", name: "Name", cancel: "Cancel",
    finish: "Finish now", again: "Solve again", seconds: "{n} s", distance: "Distance", working: "Working time", gap: "Gap to lower bound", optimal: "0, proved optimal",
    verified: "Verified", notYet: "No plan yet", perMetre: "(1 per metre)", verifiedHint: "An independent verifier has checked every rule of this plan.",
    curve: "Best cost over time", map: "Map", timeline: "Timeline", stops: "Stops", unassigned: "Not served", stop: "Stop", agent: "Agent", leaves: "leaves",
    unit_load: "", unit_weight_kg: "kg", unit_volume_m3: "m³", unit_pallets: "pallets", unit_boxes: "boxes", unit_parcels: "parcels", unit_pieces: "pieces", one_pallets: "pallet", one_boxes: "box", one_parcels: "parcel", one_pieces: "piece",
    ticket: "Ticket", arrival: "Arrival", start: "Start", departure: "Departure", load: "Load", reason: "Reason", none: "None",
    lost: "Connection lost. Trying again…", depot: "Depot or reload", late: "late by {n}", waits: "waiting", service: "service", drives: "driving",
    break: "break", reload: "reload", window: "time window", lateKey: "late (!)", before: "not on the way yet", after: "back", timeOfDay: "Time of day",
    play: "Play the day", pause: "Pause", north: "North", bound: "Lower bound", hours: "{h} h {m} min", error: "Error",
    zoomIn: "Zoom in", zoomOut: "Zoom out", fit: "Show all",
    mapHelp: "Drag to move; Ctrl and wheel, or two fingers, to zoom. Keys: arrows, plus, minus, 0; n and p lead through the stops, Enter selects.",
    of: "{a} of {b}", windows: "Window", fromTime: "from {at}", untilTime: "until {at}", masked: "Hidden fields: {names}", inline: "Back to the chat", fullscreen: "Full screen",
    why: "Why not served?", hostRefused: "The host has refused.", ask: "Ask again", noJob: "No job is known here. Ask for the status of a job again.",
    selected: "Selected: {ticket}, stop {number} of {agent} at {time}", askFinish: "Finish {id} now with its best plan (finish_vrp_job).",
    askCancel: "Cancel {id} (cancel_vrp_job).", askAgain: "Solve {id} again for longer, from its plan (resolve_vrp).",
    askWhy: "Why are tickets of {id} not served, and what would fix it?", askStep: "{step} the plan of {id}. {reason}",
    askForJob: "Show the status of the last job again (query_vrp_status).", noPositions: "This scenario has no positions to draw.",
    unservedAxis: "The axis starts at the first plan that serves the most tickets.", review: "Review", propose: "Propose", approve: "Approve",
    reject: "Reject", publish: "Publish", reasonToReject: "Reason for a rejection", state_draft: "Draft", state_proposed: "Proposed",
    state_approved: "Approved", state_rejected: "Rejected", state_published: "Published", events: "Events", back: "Back", cancelJob: "Cancel the job",
    onlyAgents: "only {agents}", askToCancel: "Cancel this job? Its best plan so far stays readable; “Finish now” makes it the result.", QUEUED: "Queued", SOLVING: "Solving",
    COMPLETED: "Completed", FAILED: "Failed", CANCELLED: "Cancelled",
  },
  zh: {
    job: "任务", status: "状态", progress: "进度", cost: "成本", served: "已服务", agents: "车辆", name: "名称", cancel: "取消", finish: "立即结束", again: "重新求解",
    seconds: "{n} 秒", distance: "里程", working: "工作时间", gap: "与下界差距", optimal: "0，已证明最优", verified: "已验证", notYet: "尚无计划", perMetre: "（每米 1）", verifiedHint: "独立的验证程序已检查本计划的每条规则。",
    curve: "最优成本随时间变化", map: "地图", timeline: "时间轴", stops: "停靠点", unassigned: "未服务", stop: "序号", agent: "车辆", leaves: "出发", ticket: "工单", arrival: "到达", start: "开始",
    unit_load: "", unit_weight_kg: "kg", unit_volume_m3: "m³", unit_pallets: "托", unit_boxes: "箱", unit_parcels: "包裹", unit_pieces: "件", one_pallets: "托", one_boxes: "箱", one_parcels: "包裹", one_pieces: "件",
    departure: "离开", load: "载量", reason: "原因", none: "无", lost: "连接中断，正在重试……", depot: "车场或补货点", late: "晚到 {n}", waits: "等待", service: "服务", drives: "行驶",
    break: "休息", reload: "补货", window: "时间窗", lateKey: "晚到（!）", before: "尚未出发", after: "已返回", timeOfDay: "时刻", play: "播放全天", pause: "暂停", north: "北",
    bound: "下界", hours: "{h} 小时 {m} 分", QUEUED: "排队中", SOLVING: "求解中", COMPLETED: "已完成", FAILED: "失败", CANCELLED: "已取消", error: "错误",
    zoomIn: "放大", zoomOut: "缩小", fit: "显示全部", mapHelp: "拖动平移；Ctrl 加滚轮或双指缩放。键盘：方向键、加号、减号、0；n 和 p 逐个查看停靠点，回车选择。", of: "{a} / {b}",
    windows: "时间窗", fromTime: "{at} 起", untilTime: "{at} 前", masked: "隐藏字段：{names}", inline: "返回对话", fullscreen: "全屏", why: "为何未服务？", hostRefused: "宿主已拒绝。", ask: "再次询问",
    noJob: "此处没有任务。请再次询问任务状态。", selected: "已选择：{ticket}，{agent} 的第 {number} 站，{time}", askFinish: "请以当前最优计划立即结束 {id}（finish_vrp_job）。",
    askCancel: "请取消 {id}（cancel_vrp_job）。", askAgain: "请从 {id} 的计划出发再求解更长时间（resolve_vrp）。", askWhy: "{id} 的哪些工单未服务？怎样解决？",
    askStep: "请{step} {id} 的计划。{reason}", askForJob: "请再次显示最近任务的状态（query_vrp_status）。", noPositions: "此方案没有可绘制的位置。", unservedAxis: "坐标轴从服务工单最多的第一个计划开始。",
    review: "审批", propose: "提交审批", approve: "批准", reject: "驳回", publish: "发布", reasonToReject: "驳回原因", state_draft: "草稿", state_proposed: "待审批",
    state_approved: "已批准", state_rejected: "已驳回", state_published: "已发布", events: "事件",
    back: "返回", cancelJob: "取消任务", onlyAgents: "仅限 {agents}", askToCancel: "取消此任务？已有的最优计划仍可读取；“立即结束”则以它为结果。",
  },
};

let language = "en";

export const currentLanguage = () => language;
export const setLanguage = (wanted) => (language = wanted?.startsWith("zh") ? "zh" : "en");
// Adds the words of a page around the view, by language.
export const addWords = (more) => Object.keys(more).forEach((each) => Object.assign(WORDS[each], more[each]));
export const t = (key, values = {}) =>
  (WORDS[language][key] ?? WORDS.en[key] ?? key).replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
// The word for a name of a kind (`unit_weight_kg`); one that has none stays as it is.
export const wordOf = (kind, name) => (t(`${kind}_${name}`) === `${kind}_${name}` ? name : t(`${kind}_${name}`));
