// Every word the page shows, in English and Chinese. `t("key", {name: value})` fills in `{name}`.

const WORDS = {
  en: {
    language: "中文", skip: "Skip to content", jobs: "Jobs", scenarios: "Scenarios", import: "Import", signOut: "Forget key",
    job: "Job", scenario: "Scenario", status: "Status", progress: "Progress", cost: "Cost", served: "Served",
    submitted: "Submitted", filter: "Filter by id or status", noJobs: "No jobs yet. Import a file or create a scenario, then solve it.",
    noScenarios: "No scenarios yet.", agents: "Agents", tickets: "Tickets", name: "Name", created: "Created", revision: "Revision", solve: "Solve",
    open: "Open", cancel: "Cancel", finish: "Finish now", again: "Solve again", solveTime: "Solve time", seconds: "{n} s",
    distance: "Distance", working: "Working time", gap: "Gap to lower bound", verified: "Verified", notYet: "No plan yet",
    verifiedHint: "An independent verifier has checked every rule of this plan.", curve: "Best cost over time", map: "Map",
    timeline: "Timeline", stops: "Stops", unassigned: "Not served", events: "Events", stop: "Stop", agent: "Agent",
    ticket: "Ticket", arrival: "Arrival", start: "Start", departure: "Departure", load: "Load", reason: "Reason",
    fix: "Proved fix", findFixes: "Find fixes", apply: "Apply and solve", noFix: "No fix found", none: "None",
    lost: "Connection lost. Trying again…", live: "Live", download: "Download", raw: "Raw JSON",
    depot: "Depot or reload", late: "late by {n}", waits: "waiting", service: "service", drives: "driving", break: "break",
    reload: "reload", error: "Error", keyNeeded: "This server needs an API key.", key: "API key", enter: "Enter",
    keyHint: "The key stays in this browser tab.", file: "File", format: "Format", chooseFile: "Choose a table (CSV, Excel), a VROOM problem or a VRPLIB instance.",
    date: "Planning date", doImport: "Import and check", imported: "Imported: {agents} agents, {tickets} tickets.",
    warnings: "Warnings", assumptions: "Assumptions", columns: "Columns", notUsed: "Not used", used: "Used", loading: "Loading…",
    zoomIn: "Zoom in", zoomOut: "Zoom out", fit: "Show all", mapHelp: "Drag to move, scroll to zoom. With the keyboard: arrows, plus, minus, 0.",
    compare: "Compare", compareWith: "Compare with another plan", moved: "Changed stops", noMoved: "No stop changes its agent.", of: "{a} of {b}",
    page: "Page {n}", older: "Older", newer: "Newer", time: "Time", windows: "Window", masked: "Hidden fields: {names}", all: "All",
    noPositions: "This scenario has no positions to draw.", unservedAxis: "The axis starts at the first plan that serves the most tickets.",
    review: "Review", propose: "Propose", approve: "Approve", reject: "Reject", publish: "Publish", reasonToReject: "Reason for a rejection",
    state_draft: "Draft", state_proposed: "Proposed", state_approved: "Approved", state_rejected: "Rejected", state_published: "Published",
    compareWithApproved: "Compare with the approved plan",
  },
  zh: {
    language: "English", skip: "跳到内容", jobs: "任务", scenarios: "方案", import: "导入", signOut: "清除密钥",
    job: "任务", scenario: "方案", status: "状态", progress: "进度", cost: "成本", served: "已服务",
    submitted: "提交时间", filter: "按编号或状态筛选", noJobs: "还没有任务。请先导入文件或创建方案，然后求解。",
    noScenarios: "还没有方案。", agents: "车辆", tickets: "工单", name: "名称", created: "创建时间", revision: "修订", solve: "求解",
    open: "打开", cancel: "取消", finish: "立即结束", again: "重新求解", solveTime: "求解时间", seconds: "{n} 秒",
    distance: "里程", working: "工作时间", gap: "与下界差距", verified: "已验证", notYet: "尚无计划",
    verifiedHint: "独立的验证程序已检查本计划的每条规则。", curve: "最优成本随时间变化", map: "地图",
    timeline: "时间轴", stops: "停靠点", unassigned: "未服务", events: "事件", stop: "序号", agent: "车辆",
    ticket: "工单", arrival: "到达", start: "开始", departure: "离开", load: "载量", reason: "原因",
    fix: "已证明的修改", findFixes: "查找修改", apply: "应用并求解", noFix: "未找到修改", none: "无",
    lost: "连接中断，正在重试……", live: "实时", download: "下载", raw: "原始 JSON",
    depot: "车场或补货点", late: "晚到 {n}", waits: "等待", service: "服务", drives: "行驶", break: "休息",
    reload: "补货", error: "错误", keyNeeded: "此服务器需要 API 密钥。", key: "API 密钥", enter: "进入",
    keyHint: "密钥只保存在此浏览器标签页中。", file: "文件", format: "格式", chooseFile: "选择表格（CSV、Excel）、VROOM 问题或 VRPLIB 实例。",
    date: "计划日期", doImport: "导入并检查", imported: "已导入：{agents} 辆车，{tickets} 个工单。",
    warnings: "警告", assumptions: "假设", columns: "列", notUsed: "未使用", used: "已使用", loading: "加载中……",
    zoomIn: "放大", zoomOut: "缩小", fit: "显示全部", mapHelp: "拖动平移，滚轮缩放。键盘：方向键、加号、减号、0。",
    compare: "比较", compareWith: "与另一个计划比较", moved: "变化的停靠点", noMoved: "没有停靠点更换车辆。", of: "{a} / {b}",
    page: "第 {n} 页", older: "更早", newer: "更新", time: "时间", windows: "时间窗", masked: "隐藏字段：{names}", all: "全部",
    noPositions: "此方案没有可绘制的位置。", unservedAxis: "坐标轴从服务工单最多的第一个计划开始。",
    review: "审批", propose: "提交审批", approve: "批准", reject: "驳回", publish: "发布", reasonToReject: "驳回原因",
    state_draft: "草稿", state_proposed: "待审批", state_approved: "已批准", state_rejected: "已驳回", state_published: "已发布",
    compareWithApproved: "与已批准的计划比较",
  },
};

let language = "en";

export const currentLanguage = () => language;
export const setLanguage = (wanted) => (language = wanted?.startsWith("zh") ? "zh" : "en");
export const t = (key, values = {}) =>
  (WORDS[language][key] ?? WORDS.en[key] ?? key).replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
