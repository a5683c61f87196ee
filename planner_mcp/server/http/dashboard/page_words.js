// The words of the dashboard around the view, in English and Chinese.

import { addWords } from "./view/words.js";

addWords({
  en: {
    language: "中文", skip: "Skip to content", jobs: "Jobs", scenarios: "Scenarios", import: "Import", system: "System", queue: "Queue", queued: "Queued",
    solving: "Solving", workers: "Workers", slots: "Slots", store: "Store", shardsAway: "{n} shards away", ready: "Ready", ownQueued: "Your queued jobs",
    ownSolving: "Your solving jobs", limits: "Limits", value: "Value", endpoints: "Webhook endpoints", endpoint: "Endpoint", pending: "Pending",
    failures: "Failures", lastAnswer: "Last answer", deliveries: "Webhook deliveries", delivery: "Delivery", attempts: "Attempts", show: "Show",
    replay: "Send again", audit: "Audit log", signOut: "Sign out", signIn: "Sign in", scenario: "Scenario", submitted: "Submitted",
    filter: "Filter by id or status", noJobs: "No jobs yet. Import a file or create a scenario, then solve it.", noScenarios: "No scenarios yet.",
    tickets: "Tickets", created: "Created", revision: "Revision", solve: "Solve", open: "Open", solveTime: "Solve time", events: "Events",
    fix: "Proved fix", findFixes: "Find fixes", apply: "Apply and solve", noFix: "No fix found", live: "Live", download: "Download", raw: "Raw JSON",
    report: "Report", sheets: "Driver sheets", costByAgent: "Cost by agent",
    cookieLost: "The browser did not keep the session: open this page by https, or on the machine itself.",
    keyHint: "It is exchanged for a session and is not kept.", file: "File", format: "Format",
    chooseFile: "Choose a table (CSV, Excel), a VROOM problem or a VRPLIB instance.", date: "Planning date", doImport: "Import and check",
    imported: "Imported: {agents} agents, {tickets} tickets.", warnings: "Warnings", assumptions: "Assumptions", columns: "Columns", notUsed: "Not used",
    used: "Used", loading: "Loading…", compare: "Compare", compareWith: "Compare with another plan", moved: "Changed stops",
    noMoved: "No stop changes its agent.", page: "Page {n}", older: "Older", newer: "Newer", all: "All",
    compareWithApproved: "Compare with the approved plan", share: "Share a link", shareLink: "Link to the plan", revokeLinks: "End all links",
    linksRevoked: "No link to this plan works any more.", sharedUntil: "Link until {time}",
    version: "Version", heartbeat: "Last heartbeat", secondsAgo: "{n} s ago", silent: "silent", signInAt: "Sign in at {issuer}",
    signIn_denied: "The sign-in was not allowed.", signIn_expired: "The sign-in took too long or was begun in another window. Sign in again.",
    signIn_refused: "The sign-in did not succeed; the server's log says why.",
    signIn_unavailable: "The authorization server does not answer. Try again.", reviews: "To review",
  },
  zh: {
    language: "English", skip: "跳到内容", jobs: "任务", scenarios: "方案", import: "导入", system: "系统", queue: "队列", queued: "排队中", solving: "求解中",
    workers: "工作进程", slots: "并发数", store: "存储", shardsAway: "{n} 个分片不可用", ready: "就绪", ownQueued: "您排队的任务", ownSolving: "您求解中的任务", limits: "限额",
    value: "值", endpoints: "Webhook 端点", endpoint: "端点", pending: "待发送", failures: "失败", lastAnswer: "最近应答", deliveries: "Webhook 投递", delivery: "投递",
    attempts: "尝试", show: "查看", replay: "重新发送", audit: "审计日志", signOut: "退出", signIn: "登录", scenario: "方案", submitted: "提交时间", filter: "按编号或状态筛选",
    noJobs: "还没有任务。请先导入文件或创建方案，然后求解。", noScenarios: "还没有方案。", tickets: "工单", created: "创建时间", revision: "修订", solve: "求解", open: "打开", solveTime: "求解时间",
    events: "事件", fix: "已证明的修改", findFixes: "查找修改", apply: "应用并求解", noFix: "未找到修改", live: "实时", download: "下载", raw: "原始 JSON", report: "报告",
    sheets: "司机单", costByAgent: "各车成本", cookieLost: "浏览器未保存会话：请通过 https 打开此页面，或在本机打开。", keyHint: "密钥用于换取会话，不会被保存。", file: "文件", format: "格式",
    chooseFile: "选择表格（CSV、Excel）、VROOM 问题或 VRPLIB 实例。", date: "计划日期", doImport: "导入并检查", imported: "已导入：{agents} 辆车，{tickets} 个工单。", warnings: "警告",
    assumptions: "假设", columns: "列", notUsed: "未使用", used: "已使用", loading: "加载中……", compare: "比较", compareWith: "与另一个计划比较", moved: "变化的停靠点",
    noMoved: "没有停靠点更换车辆。", page: "第 {n} 页", older: "更早", newer: "更新", all: "全部", compareWithApproved: "与已批准的计划比较", share: "分享链接", shareLink: "计划链接",
    revokeLinks: "撤销所有链接", linksRevoked: "此计划的所有链接均已失效。", sharedUntil: "链接有效期至 {time}",
    version: "版本", heartbeat: "最近心跳", secondsAgo: "{n} 秒前", silent: "无心跳", signInAt: "通过 {issuer} 登录", signIn_denied: "登录未获允许。",
    signIn_expired: "登录超时，或在另一窗口中开始。请重新登录。", signIn_refused: "登录未成功，原因见服务器日志。", signIn_unavailable: "授权服务器无应答，请重试。", reviews: "待审批",
  },
});
